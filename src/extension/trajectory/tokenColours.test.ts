import { describe, expect, it } from 'vitest';
import type { LearnedTokens, TrajectoryNode } from '../../trajectory/trajectory.js';
import { paintTokens, type TokenColouring } from './tokenColours.js';
import type { LossSettings } from './tokenFacts.js';
import { tokenLine, tokenStory } from './tokenStory.js';
import type { PlacedToken, TokenRole } from './trajectoryText.js';

const node: TrajectoryNode = {
  parent: null,
  message: { role: 'assistant', content: '', raw: '', toolCalls: [] },
  tokenIds: Int32Array.of(5, 6, 7, 8),
  actionMask: Uint8Array.of(0, 1, 1, 1),
  logprobs: Float32Array.of(NaN, -0.01, -1, -3),
  entropies: Float32Array.of(NaN, 0.5, 0.5, 0.5),
};
const tokens = Array.from(node.tokenIds, (_, at): PlacedToken => {
  const role: TokenRole = node.actionMask[at] ? 'agent' : 'prompt';
  return { index: at, node, at, text: 'x', role, start: at, end: at + 1 };
});
const learned: LearnedTokens = {
  trajectoryId: 'one',
  step: 1,
  advantages: Float32Array.of(0, 0.2, 1.5, -0.8),
  learnerLogprobs: Float32Array.of(0, -0.02, -1.1, -3.1),
  referenceLogprobs: Float32Array.of(0, -0.03, -1.2, -3.2),
  coefficients: Float32Array.of(0, -0.1, -0.2, 0.3),
};

const settings: LossSettings = {
  clipLow: 0.2,
  clipHigh: 0.2,
  klCoefficient: 0.02,
  algorithm: { loss: 'grpo', dualClip: 0, klEstimator: 'k3', klPlace: 'loss', importanceCorrection: 'none' },
};

const painted = (colouring: TokenColouring, found: LearnedTokens | null = learned) =>
  Object.fromEntries(
    [...paintTokens({ tokens, learned: found, settings }, colouring)].filter(([, stretches]) => stretches.length > 0),
  );

describe('colours of tokens', () => {
  it('joins neighbours of one role', () => {
    expect(painted('mask', null)).toEqual({
      prompt: [{ start: 0, end: 1 }],
      agent: [{ start: 1, end: 4 }],
    });
  });

  it('tells the sign and the size of an advantage', () => {
    expect(painted('advantage')).toEqual({
      prompt: [{ start: 0, end: 1 }],
      positiveWeak: [{ start: 1, end: 2 }],
      positiveStrong: [{ start: 2, end: 3 }],
      negativeMedium: [{ start: 3, end: 4 }],
    });
    expect(painted('advantage', null)).toEqual({ prompt: [{ start: 0, end: 1 }] });
  });

  it('grows with the surprise of a sampled token, and with the entropy it was sampled from', () => {
    expect(painted('log-prob', null)).toEqual({
      prompt: [{ start: 0, end: 1 }],
      negativeMedium: [{ start: 2, end: 3 }],
      negativeStrong: [{ start: 3, end: 4 }],
    });
    expect(painted('entropy', null)).toEqual({
      prompt: [{ start: 0, end: 1 }],
      amountWeak: [{ start: 1, end: 4 }],
    });
  });

  it('tells where learner and sampler differ, and which ratios the bounds cut', () => {
    const apart: LearnedTokens = { ...learned, learnerLogprobs: Float32Array.of(0, -0.01, -0.5, -3.4) };
    expect(painted('ratio', apart)).toEqual(painted('sampler-learner', apart));
    expect(painted('ratio', apart)).toEqual({
      prompt: [{ start: 0, end: 1 }],
      positiveStrong: [{ start: 2, end: 3 }],
      negativeStrong: [{ start: 3, end: 4 }],
    });
    // Up and the advantage positive; down and the advantage negative.
    expect(painted('clipped', apart)).toEqual({
      prompt: [{ start: 0, end: 1 }],
      positiveStrong: [{ start: 2, end: 3 }],
      negativeStrong: [{ start: 3, end: 4 }],
    });
  });

  it('tells the distance from the reference and the share of the loss', () => {
    expect(painted('kl')).toEqual({ prompt: [{ start: 0, end: 1 }], amountWeak: [{ start: 2, end: 4 }] });
    // Shares of 1/6, 1/3 and 1/2 of three tokens; a negative coefficient pushes up.
    expect(painted('loss-share')).toEqual({
      prompt: [{ start: 0, end: 1 }],
      positiveWeak: [{ start: 1, end: 3 }],
      negativeMedium: [{ start: 3, end: 4 }],
    });
  });

  it('paints only what it is asked to look at', () => {
    const within = paintTokens({ tokens, learned, settings }, 'mask', { start: 1, end: 2 });
    expect(within.get('agent')).toEqual([{ start: 1, end: 2 }]);
    expect(within.get('prompt')).toEqual([]);
  });
});

describe("a token's story", () => {
  const story = (at: number, kind: 'rollout' | 'evaluation', found: LearnedTokens | null) =>
    Object.fromEntries(tokenStory(tokens[at], kind, { learned: found, settings }).flat());

  it('gives the values of a sampled token', () => {
    expect(story(2, 'rollout', learned)).toMatchObject({
      id: '7',
      role: 'agent',
      'log-prob': '-1',
      advantage: '1.5',
      coefficient: '-0.2',
      'reference log-prob': '-1.2',
      clipped: 'no: the ratio is within its bounds',
      bytes: '78',
      'share of the loss': "33.333 % of this trajectory's",
    });
  });

  it('shows the formulas with the numbers in, and they come out', () => {
    const rows = story(2, 'rollout', learned);
    expect(rows['ratio formula']).toBe('exp(learner − sampler) = exp(-1.1 − (-1)) = 0.90484');
    expect(rows['k3 formula']).toBe('exp(−d) + d − 1 with d = -1.1 − (-1.2) gives 0.0048374');
    const [, inner, scale] = /= ([-\d.]+); × ([-\d.]+) \(grpo: .*\) = -0\.2$/.exec(rows['coefficient formula'])!;
    expect(Number(inner)).toBeCloseTo(-1.5 + 0.02 * (1 - Math.exp(-0.1)), 4);
    expect(Number(inner) * Number(scale)).toBeCloseTo(-0.2, 4);
  });

  it('is one line in the status bar, in the words of the chosen colours', () => {
    const source = { tokens, learned, settings };
    expect(tokenLine(tokens[0], 'advantage', source)).toBe('prompt, mask 0');
    expect(tokenLine(tokens[3], 'advantage', source)).toBe('agent, advantage -0.8, pushed down');
    expect(tokenLine(tokens[1], 'loss-share', source)).toBe('agent, share of the loss 16.667 %, pushed up');
  });

  it('says why a value is absent', () => {
    expect(story(0, 'rollout', learned)).toMatchObject({
      'log-prob': 'none: not sampled by the policy',
      advantage: 'none: not sampled by the policy',
    });
    expect(story(1, 'rollout', null).advantage).toBe('none: not learned from yet');
    expect(story(1, 'evaluation', null).advantage).toBe('none: nothing is learned from an evaluation');
  });
});
