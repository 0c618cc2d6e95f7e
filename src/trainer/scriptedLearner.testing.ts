import type { Trajectory } from '../trajectory/trajectory.js';
import type { AdamWOptions, Learner, SequenceCoefficients, SequenceScores, TrainingSequence } from './model/policy.js';
import { oneTurnRollout } from './oneTurnRollout.testing.js';
import { NodePath } from './rollout/nodes.js';

/** What the sampler gave to every token. */
export const samplerLogprob = -1;

/** A rollout of one turn; its first token tells which one it is, and no arithmetic rounds. */
export function rollout(name: number, tokens: number, reward: number | null): Trajectory {
  const nodes = new NodePath();
  nodes.addGiven({ role: 'user', content: 'add is wrong' }, Int32Array.of(name, 7));
  const logprobs = new Float32Array(tokens).fill(samplerLogprob);
  nodes.addSampled(
    { role: 'assistant', content: 'yes', toolCalls: [], raw: 'yes' },
    {
      tokenIds: Int32Array.from(logprobs, (_, t) => t),
      logprobs,
      entropies: logprobs.map(() => 1),
      finishReason: 'stop',
    },
  );
  return oneTurnRollout(name, nodes, reward);
}

/** A learner whose log-probabilities are written down, and which keeps what it is given. */
export class ScriptedLearner implements Learner {
  /** By update, then by lesson. */
  readonly given: (readonly SequenceCoefficients[])[] = [];

  /** Temperature of each call. */
  readonly temperatures: number[] = [];
  readonly steps: AdamWOptions[] = [];

  /**
   * @param logprob of token `t` of the rollout `name`, after so many updates
   * @param stateValue what its critic says there; absent: it has none
   */
  constructor(
    private readonly logprob: (name: number, t: number, updates: number) => number,
    private readonly stateValue?: (name: number, t: number, updates: number) => number,
  ) {}

  score(sequences: readonly TrainingSequence[], temperature: number): Promise<SequenceScores[]> {
    this.temperatures.push(temperature);
    return Promise.resolve(
      sequences.map(({ tokenIds, actionMask }) => {
        const along = (value: (name: number, t: number, updates: number) => number) =>
          Float32Array.from(actionMask, (bit, t) =>
            bit === 0 ? NaN : value(tokenIds[0], tokenIds[t], this.given.length),
          );
        return {
          logprobs: along(this.logprob),
          entropies: along(() => 1.5),
          ...(this.stateValue && { stateValues: along(this.stateValue) }),
        };
      }),
    );
  }

  async accumulate(
    sequences: readonly TrainingSequence[],
    coefficients: readonly SequenceCoefficients[],
    temperature: number,
  ) {
    const scores = await this.score(sequences, temperature);
    this.given.push(coefficients);
    return scores;
  }

  /** dL/dlp of an update's lessons, of their sampled tokens alone. */
  slopes(update = 0): number[][] {
    return this.given[update].map(({ logprobs }) => [...logprobs.subarray(2)]);
  }

  step(options: AdamWOptions) {
    this.steps.push(options);
    return Promise.resolve({ gradientNorm: 1, skipped: false });
  }
  save = () => Promise.resolve();
  load = () => Promise.resolve();
  dispose = () => Promise.resolve();
}
