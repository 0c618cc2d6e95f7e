import { describe, expect, it } from 'vitest';
import type { Trajectory } from '../trajectory/trajectory.js';
import { estimateAdvantages, silentGroups, type ComparingEstimator } from './algorithm/advantageEstimators.js';
import { groupAdvantages } from './algorithm/advantages.js';
import { igpoAdvantages } from './algorithm/igpo.js';
import { turnDiscounted } from './algorithm/turnDiscounted.js';
import { learnStep } from './learnStep.js';
import { oneTurnRollout } from './oneTurnRollout.testing.js';
import { NodePath, trainingSequence } from './rollout/nodes.js';
import { parseSettings } from './run/settings.js';
import { ScriptedLearner } from './scriptedLearner.testing.js';
import { scoreInformationGains, turnViewOf } from './turnCredit.js';

/** An episode whose turns are of one token and are answered as told; its first token is its name. */
function episode(name: number, answers: readonly string[], reward: number | null): Trajectory {
  const path = new NodePath();
  path.addGiven({ role: 'user', content: 'add is wrong' }, Int32Array.of(name, 7));
  answers.forEach((content, turn) => {
    path.addSampled(
      { role: 'assistant', content: '', toolCalls: [], raw: '' },
      {
        tokenIds: Int32Array.of(100 + turn),
        logprobs: Float32Array.of(-1),
        entropies: Float32Array.of(1),
        finishReason: 'stop',
      },
    );
    path.addGiven({ role: 'tool', toolCallId: '1', name: 'open', content }, Int32Array.of(200 + turn, 201));
  });
  return oneTurnRollout(name, path, reward);
}

const options = { turnDiscount: 0.5, stepWeight: 1 };
const outcomesOf = (trajectories: readonly Trajectory[], gains: readonly (readonly number[])[] | null = null) =>
  trajectories.map((trajectory, index) => {
    const { actionMask } = trainingSequence(trajectory);
    const reward = trajectory.grade?.reward ?? null;
    return { reward, actionMask, penalties: null, turns: turnViewOf(trajectory, gains && gains[index]) };
  });
/** Advantages of the sampled tokens, one a turn here. */
const perTurn = (estimator: ComparingEstimator, outcomes: ReturnType<typeof outcomesOf>) =>
  estimateAdvantages(estimator, [outcomes], options)[0].map((values, index) =>
    [...(values as Float64Array)].filter((_, t) => outcomes[index].actionMask[t] === 1),
  );

describe('the turns of a trajectory', () => {
  it('own their sampled tokens, and begin in the same state where the same was said', () => {
    const [one, two] = [episode(0, ['x', 'y'], 1), episode(1, ['x', 'z'], 0)].map((each) => turnViewOf(each));
    expect([...one.turnOfToken]).toEqual([-1, -1, 0, -1, -1, 1, -1, -1]);
    expect(one.states).toEqual(two.states);
    expect(turnViewOf(episode(2, ['other', 'y'], 1)).states[1]).not.toBe(one.states[1]);
  });
});

describe('turn-level credit', () => {
  it('discounts the outcome from turn to turn and not between the tokens of one', () => {
    const values = turnDiscounted(2, Int32Array.of(-1, 0, 0, -1, 1, 1), 2, Uint8Array.of(0, 1, 1, 0, 1, 1), 0.5);
    expect([...values]).toEqual([0, 1, 1, 0, 2, 2]);
    const group = [episode(0, ['x', 'y'], 1), episode(1, ['x'], 0)];
    const [better, worse] = groupAdvantages([1, 0]).advantages;
    expect(perTurn('turn-discounted', outcomesOf(group))).toEqual([[better / 2, better], [worse]]);
  });

  it('compares turns that began in the same state: GiGPO', () => {
    const group = [episode(0, ['x', 'y'], 1), episode(1, ['x', 'y'], 0), episode(2, ['z', 'y'], 0)];
    const [first, second, third] = perTurn('gigpo', outcomesOf(group));
    const whole = groupAdvantages([1, 0, 0]).advantages;
    // All began alike; after `x` there were two, and the third was alone in its state.
    const atStart = groupAdvantages([0.5, 0, 0]).advantages;
    const afterX = groupAdvantages([1, 0]).advantages;
    expect(first).toEqual([whole[0] + atStart[0], whole[0] + afterX[0]]);
    expect(second).toEqual([whole[1] + atStart[1], whole[1] + afterX[1]]);
    expect(third).toEqual([whole[2] + atStart[2], whole[2]]);
  });

  it('credits turns with what they add to the belief in the oracle, and the last with the outcome: IGPO', () => {
    const episodes = [
      { reward: 1, gains: [0.2, 0.9] },
      { reward: 0, gains: [0.1, 0.9] },
      { reward: null, gains: [0.7] },
    ];
    const all = groupAdvantages([0.2, 1, 0.1, 0, null]).advantages;
    expect(igpoAdvantages(episodes, 0.5)).toEqual([
      [all[0] + 0.5 * all[1], all[1]],
      [all[2] + 0.5 * all[3], all[3]],
      [0],
    ]);
  });

  it('gives exactly nothing where no turn differs from its like', () => {
    const equal = [episode(0, ['x', 'y'], 0.3), episode(1, ['x', 'y'], 0.3), episode(2, ['x'], null)];
    const outcomes = outcomesOf(equal, [[0.3, 0], [0.3, 0], [0]]);
    for (const estimator of ['turn-discounted', 'gigpo', 'igpo'] as const) {
      expect(silentGroups(estimator, [outcomes], options)).toEqual([true]);
      expect(
        perTurn(estimator, outcomes)
          .flat()
          .every((value) => value === 0),
      ).toBe(true);
    }
    // GiGPO still prefers the shorter way to the same end, and IGPO the turns that found something out.
    const shorter = outcomesOf([episode(0, ['x', 'y'], 1), episode(1, ['x'], 1)]);
    expect(silentGroups('gigpo', [shorter], options)).toEqual([false]);
    expect(silentGroups('turn-discounted', [shorter], options)).toEqual([true]);
    const found = outcomesOf(equal.slice(0, 2), [
      [0.3, 0],
      [0.1, 0],
    ]);
    expect(silentGroups('igpo', [found], options)).toEqual([false]);
  });
});

describe('information gain', () => {
  const oracle = Int32Array.of(50, 51);
  /** The oracle is the likelier the longer the history is. */
  const believer = () => {
    const learner = new ScriptedLearner(() => -1);
    learner.score = (sequences) =>
      Promise.resolve(
        sequences.map(({ actionMask }) => {
          const history = actionMask.indexOf(1);
          const logprobs = Float32Array.from(actionMask, (bit) => (bit === 1 ? -8 / history : NaN));
          return { logprobs, entropies: logprobs };
        }),
      );
    return learner;
  };

  it('is the growth of the oracle’s mean probability, turn by turn', async () => {
    const [gains, none] = await scoreInformationGains(
      believer(),
      [episode(0, ['x', 'y'], 1), episode(1, ['x'], 0)],
      [oracle, null],
    );
    // Histories of 2, 5 and 8 tokens.
    expect(gains[0]).toBeCloseTo(Math.exp(-8 / 5) - Math.exp(-8 / 2), 6);
    expect(gains[1]).toBeCloseTo(Math.exp(-8 / 8) - Math.exp(-8 / 5), 6);
    expect(none).toEqual([0]);
    const long = await scoreInformationGains(believer(), [episode(0, ['x'], 1)], [new Int32Array(600)]);
    expect(long).toEqual([[0]]);
  });

  it('reaches the learner as coefficients of the turn that gained', async () => {
    const settings = parseSettings({ klCoefficient: 0, algorithm: { advantage: 'igpo', turnDiscount: 0.5 } });
    const group = [episode(0, ['x', 'y'], 0.2), episode(1, ['x'], 0.2)];
    const learner = believer();
    const { metrics, advantages } = await learnStep(learner, null, [group], settings, 1, { oracleTurn: () => oracle });
    expect(metrics['updates/made']).toBe(1);
    const [coefficients] = learner.given[0];
    // The first turn gained 0.18, the last ones earned 0.2: less than the mean, so its probability falls.
    expect(coefficients.logprobs[2]).not.toBe(coefficients.logprobs[5]);
    expect(advantages[0].every(Number.isFinite)).toBe(true);
  });
});

describe('subgoals', () => {
  it('reach the learner as coefficients of the turn that came to one earlier, though rewards are equal', async () => {
    const settings = parseSettings({
      klCoefficient: 0,
      shaping: { milestones: 0.2 },
      algorithm: { advantage: 'subgoals', turnDiscount: 0.5 },
    });
    const group = [episode(0, ['x', 'y'], 0.2), episode(1, ['x', 'y'], 0.2)];
    const learner = new ScriptedLearner(() => -1);
    const { metrics } = await learnStep(learner, null, [group], settings, 1, {
      milestonesOf: ({ sample }) => new Map([['faulty file opened', sample]]),
    });
    expect(metrics['updates/made']).toBe(1);
    // Of 0.2 one milestone is 0.05: the first turns return 0.05 + 0.15/2 and 0.2/2, the others have not come as far as each other.
    const first = groupAdvantages([0.125, 0.1]).advantages;
    const slopes = learner.given[0].map(({ logprobs }) => [logprobs[2], logprobs[5]]);
    slopes.forEach(([slope, other], index) => {
      expect(slope).toBeCloseTo(-first[index] / 4, 6);
      expect(other).toBeCloseTo(0, 12);
    });
  });
});
