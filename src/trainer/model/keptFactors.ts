import { totalmem } from 'node:os';
import type { Provider } from '../graph/provider.js';
import { elementCount, parameterShapes, type LlamaConfig } from './llamaConfig.js';
import type { Precision } from './precision.js';

/** Of the machine's memory: models whose weights take up to this share of it are held twice. */
const keptShare = 1 / 8;

/**
 * Whether a decoder holds the factors of its products itself. The CPU's kernels want them in an order of their own. Fed at a run they
 * are brought into it at every run, which for a few tokens takes longer than the product; given to the graph they are so once, in
 * memory of their own. The terms of a sum then also come in one order whatever the number of rows.
 */
export function keepsFactors(config: LlamaConfig, precision: Precision, device: Provider): boolean {
  if (device !== 'cpu' || precision !== 'float32') return false;
  const numbers = [...parameterShapes(config).values()].reduce((sum, shape) => sum + elementCount(shape), 0);
  return numbers * Float32Array.BYTES_PER_ELEMENT <= keptShare * totalmem();
}
