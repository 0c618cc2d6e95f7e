import { badInput, type WhetstoneError } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import type { Provider } from '../graph/provider.js';
import { keepsTensors } from './deviceTensors.js';
import type { Generator } from './policy.js';

/** What is trained, by name. */
export type Weights = ReadonlyMap<string, Float32Array>;

export const copyWeights = (weights: Weights): Map<string, Float32Array> =>
  new Map([...weights].map(([name, values]) => [name, values.slice()]));

/**
 * The weights that a generator plays with: the learner's own, which change under it, or some of its own, which stay as they are while
 * the learner learns.
 */
export class PlayedWeights {
  /**
   * @param learned what the learner trains, in place
   * @param own what the generator is fed in its stead, of the same names and sizes; null where it is fed what is learned
   */
  constructor(
    private readonly generator: Pick<Generator, 'invalidate'>,
    private readonly learned: Weights,
    private readonly own: Weights | null,
  ) {}

  /** The learner's present weights, to be played with later; where the generator shares them, they are not kept but change on. */
  keep(): Weights {
    return this.own === null ? this.learned : copyWeights(this.learned);
  }

  /** From here on these are played with, the learner's present ones unless told. No request may be under way. */
  use(weights: Weights = this.learned): void {
    for (const [name, values] of this.own ?? []) values.set(weights.get(name)!);
    this.generator.invalidate();
  }
}

/** Why nothing can be played ahead where weights lie on the device: learner and generator have them in one place there. Else null. */
export function refusalToPlayAhead(device: Provider): WhetstoneError | null {
  if (!keepsTensors(device)) return null;
  return badInput(
    say`Setting \`asynchrony.maxStaleness\`: on '${device}' learner and generator share their weights, so nothing can be played with older ones.`,
    'Use --max-staleness 0, or another device, e.g. --device cpu.',
  );
}
