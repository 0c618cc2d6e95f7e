import { describe, expect, it } from 'vitest';
import type { Message } from '../../trajectory/message.js';
import type { LearnedTokens, TrajectoryNode } from '../../trajectory/trajectory.js';
import { lintMask } from './maskLint.js';
import type { PlacedToken } from './trajectoryText.js';

const agent: Message = { role: 'assistant', content: '', raw: '', toolCalls: [] };
const tool: Message = { role: 'tool', toolCallId: 'call', name: 'open', content: '' };

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Three tokens of an observation, then four that the policy sampled, the last one ending its turn. */
function lint(
  change: (parts: {
    observation: Writable<TrajectoryNode>;
    turn: Writable<TrajectoryNode>;
    learned: Writable<LearnedTokens>;
  }) => void,
  isDemonstration = false,
) {
  const node = (message: Message, size: number, sampled: number): Writable<TrajectoryNode> => ({
    parent: null,
    message,
    tokenIds: new Int32Array(size),
    actionMask: new Uint8Array(size).fill(sampled),
    logprobs: new Float32Array(size).fill(sampled ? -1 : NaN),
    entropies: new Float32Array(size).fill(sampled ? 0.5 : NaN),
  });
  const [observation, turn] = [node(tool, 3, 0), node(agent, 4, 1)];
  const onTurn = (value: number) => Float32Array.from({ length: 7 }, (_, at) => (at < 3 ? 0 : value));
  const learned: Writable<LearnedTokens> = {
    trajectoryId: 'one',
    step: 1,
    advantages: onTurn(1),
    learnerLogprobs: onTurn(-1.01),
    referenceLogprobs: onTurn(-1),
    coefficients: onTurn(-0.1),
  };
  change({ observation, turn, learned });
  const tokens = [observation, turn].flatMap((each, index) =>
    Array.from(each.tokenIds, (_, at): PlacedToken => {
      const position = 3 * index + at;
      const text = position === 6 ? '<|im_end|>' : 'x';
      const place = { index: position, start: position, end: position + 1 };
      return { ...place, node: each, at, text, role: 'agent' };
    }),
  );
  const problems = lintMask({ tokens, learned, settings: null }, isDemonstration);
  return problems.map(({ rule, start, end, tokens: count }) => [rule, start, end, count]);
}

describe('the lint of a mask', () => {
  it('finds nothing where the mask is right', () => {
    expect(lint(() => undefined)).toEqual([]);
  });

  it('finds nothing wrong with an opening that exploration forced, unless it is learned from', () => {
    const force = (turn: Writable<TrajectoryNode>, learned: Writable<LearnedTokens>) => {
      turn.forced = 2;
      turn.actionMask.fill(0, 0, 2);
      for (const values of [turn.logprobs, turn.entropies]) values.fill(NaN, 0, 2);
      learned.coefficients.fill(0, 3, 5);
    };
    expect(lint(({ turn, learned }) => force(turn, learned))).toEqual([]);
    const leaking = lint(({ turn, learned }) => {
      force(turn, learned);
      learned.coefficients[4] = 0.1;
    });
    expect(leaking).toEqual([['coefficient-leak', 4, 5, 1]]);
  });

  it('finds observation tokens that are learned from, as one stretch', () => {
    expect(lint(({ observation }) => observation.actionMask.fill(1, 1))).toEqual([['mask-leak', 1, 3, 2]]);
    expect(lint(({ learned }) => (learned.coefficients[0] = 0.1))).toEqual([['coefficient-leak', 0, 1, 1]]);
  });

  it('finds sampled tokens that are not learned from', () => {
    const off = lint(({ turn, learned }) => {
      turn.actionMask[1] = 0;
      learned.coefficients[4] = 0;
    });
    expect(off).toEqual([['mask-off', 4, 5, 1]]);
  });

  it('finds an end of a turn that is not learned, whose log-prob is not known either', () => {
    const off = lint(({ turn, learned }) => {
      turn.actionMask[3] = 0;
      turn.logprobs[3] = NaN;
      learned.coefficients[6] = 0;
    });
    expect(off).toEqual([['end-of-turn-off', 6, 7, 1]]);
  });

  it('tells of a rule that is broken in very many places no more than twenty times, and of every token', () => {
    const many = lint(({ turn, learned }) => {
      turn.tokenIds = new Int32Array(100);
      turn.actionMask = new Uint8Array(100).fill(1);
      turn.logprobs = Float32Array.from({ length: 100 }, (_, at) => (at % 2 === 0 ? NaN : -1));
      learned.learnerLogprobs = new Float32Array(103).fill(-1);
    });
    expect(many).toHaveLength(20);
    expect(many.reduce((sum, [, , , count]) => sum + Number(count), 0)).toBe(50);
  });

  it('finds log-probs that are missing, impossible or far from the learner', () => {
    expect(lint(({ turn }) => turn.logprobs.fill(NaN))).toEqual([['no-log-prob', 3, 7, 4]]);
    expect(lint(({ turn }) => turn.logprobs.fill(NaN), true)).toEqual([]);
    expect(lint(({ turn }) => (turn.logprobs[0] = 0.5))).toEqual([['impossible-log-prob', 3, 4, 1]]);
    expect(lint(({ learned }) => (learned.learnerLogprobs[5] = -4))).toEqual([['sampler-learner', 5, 6, 1]]);
  });
});
