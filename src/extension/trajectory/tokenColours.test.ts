import { describe, expect, it } from 'vitest';
import type { LearnedTokens, TrajectoryNode } from '../../trajectory/trajectory.js';
import { tokenStory } from './tokenStory.js';
import { paintTokens } from './tokenColours.js';
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

const painted = (...args: Parameters<typeof paintTokens>) =>
  Object.fromEntries([...paintTokens(...args)].filter(([, stretches]) => stretches.length > 0));

describe('colours of tokens', () => {
  it('joins neighbours of one role', () => {
    expect(painted(tokens, 'mask', null)).toEqual({
      prompt: [{ start: 0, end: 1 }],
      agent: [{ start: 1, end: 4 }],
    });
  });

  it('tells the sign and the size of an advantage', () => {
    expect(painted(tokens, 'advantage', learned)).toEqual({
      prompt: [{ start: 0, end: 1 }],
      positiveWeak: [{ start: 1, end: 2 }],
      positiveStrong: [{ start: 2, end: 3 }],
      negativeMedium: [{ start: 3, end: 4 }],
    });
    expect(painted(tokens, 'advantage', null)).toEqual({ prompt: [{ start: 0, end: 1 }] });
  });

  it('grows with the surprise of a sampled token', () => {
    expect(painted(tokens, 'log-prob', null)).toEqual({
      prompt: [{ start: 0, end: 1 }],
      negativeMedium: [{ start: 2, end: 3 }],
      negativeStrong: [{ start: 3, end: 4 }],
    });
  });
});

describe("a token's story", () => {
  const story = (at: number, ...rest: [kind: 'rollout' | 'evaluation', learned: LearnedTokens | null]) =>
    Object.fromEntries(tokenStory(tokens[at], ...rest));

  it('gives the values of a sampled token', () => {
    expect(story(2, 'rollout', learned)).toMatchObject({
      id: '7',
      role: 'agent',
      'log-prob': '-1',
      advantage: '1.5',
      coefficient: '-0.2',
      'reference log-prob': '-1.2',
    });
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
