import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { models } from '../../../scripts/bench/models.js';
import { liveBytes } from '../../../test/support/liveBytes.js';
import type { Provider } from '../graph/provider.js';
import { activationBytesPerToken, packingLimits, recomputedActivationBytes } from './learnerLimits.js';
import { causalBlocks, trainingGraph } from './llamaGraph.js';
import { projections } from './lora.js';
import type { Precision } from './precision.js';

const adapter = { rank: 16, alpha: 32, targets: projections };
const kind = { past: false, scores: true, stateValues: false, memory: false, gradient: true, recomputed: false };
const float16 = { device: 'webgpu', precision: 'float16' } as const;

describe('what a micro-batch keeps of a token', () => {
  it.each<[string, Precision]>([
    ['small', 'float32'],
    ['small', 'float16'],
    ['30m', 'float32'],
    ['30m', 'float16'],
  ])('is a little more than what lives at once in the graph of a step: %s in %s', (model, precision) => {
    const config = models[model];
    const length = 512;
    const outputs = [...trainingGraph(config, adapter, kind, precision).values()];
    const live = liveBytes(outputs, { rows: 1, block: length / causalBlocks, targets: length / 3 }) / length;
    const counted = activationBytesPerToken({ config, device: 'webgpu', precision }, 0);
    expect(live / counted).toBeGreaterThan(0.8);
    expect(live / counted).toBeLessThan(1);
  });

  it('is as much in float16 on the CPU, which computes in float32', () => {
    const bytes = (device: Provider, precision: Precision) =>
      activationBytesPerToken({ config: models.small, device, precision }, 100);
    expect(bytes('cpu', 'float16')).toBe(bytes('cpu', 'float32'));
    expect(bytes('webgpu', 'float32')).toBe(bytes('cpu', 'float32'));
    expect(bytes('webgpu', 'float16') / bytes('webgpu', 'float32')).toBeLessThan(0.7);
  });

  it('leaves room for more tokens in float16, within the same bytes', () => {
    const config = models['30m'];
    const activationBytes = 2 ** 29;
    const tokens = (options: object) =>
      packingLimits({ config, device: 'webgpu', activationBytes, ...options }).tokens(0);
    expect(tokens(float16)).toBeGreaterThan(1.5 * tokens({}));
    expect(tokens(float16) * activationBytesPerToken({ config, ...float16 }, 0)).toBeLessThanOrEqual(activationBytes);
  });
});

describe('what a row takes whose layers are computed again', () => {
  it.each(
    (['float32', 'float16'] as const).flatMap((precision) =>
      ['small', '30m', '135m'].flatMap((model) => [
        { model, precision, length: 512, past: 0 },
        { model, precision, length: 2048, past: 0 },
        { model, precision, length: 512, past: 2048 },
      ]),
    ),
  )(
    'is a little more than what lives at once in the graph of a step: $model in $precision, $length tokens after $past',
    ({ model, precision, length, past }) => {
      const config = models[model];
      const byLayer = { ...kind, past: past > 0, recomputed: true };
      const outputs = [...trainingGraph(config, adapter, byLayer, precision).values()];
      const live = liveBytes(outputs, { rows: 1, block: length / causalBlocks, targets: length / 16, past });
      const counted = recomputedActivationBytes({ config }, past, length);
      expect(live / counted).toBeGreaterThan(0.5);
      expect(live / counted).toBeLessThan(1);
    },
  );

  it('fits the bytes that may be kept, and a token more would not', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2 ** 22, max: 2 ** 30 }), fc.nat(4096), (activationBytes, past) => {
        const options = { config: models['30m'], device: 'cpu', activationBytes, microBatchTokens: 2 ** 20 } as const;
        const { tokens, recomputedTokens } = packingLimits(options);
        const count = recomputedTokens(past);
        expect(count).toBeGreaterThanOrEqual(tokens(past));
        if (count === tokens(past)) return;
        expect(recomputedActivationBytes(options, past, count)).toBeLessThanOrEqual(activationBytes);
        expect(recomputedActivationBytes(options, past, count + 1)).toBeGreaterThan(activationBytes);
      }),
    );
  });
});
