import { describe, expect, it } from 'vitest';
import { adamWStep, freshAdamWState, globalNorm } from './adamw.js';

const options = { learningRate: 0.1, beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0, maxGradientNorm: 0 };
const one = (...values: number[]) => new Map([['w', Float32Array.from(values)]]);

describe('AdamW', () => {
  it('first moves every weight by the learning rate against the sign of its gradient', () => {
    const parameters = one(1, 1, 1);
    adamWStep(parameters, one(0.5, -3, 0), freshAdamWState(parameters), options, 1, () => true);
    const [down, up, still] = parameters.get('w')!;
    expect(down).toBeCloseTo(0.9, 6);
    expect(up).toBeCloseTo(1.1, 6);
    expect(still).toBe(1);
  });

  it('shrinks only the weights that decay, apart from the gradient', () => {
    const parameters = new Map([...one(2), ['norm', Float32Array.of(2)] as const]);
    const zeros = new Map([...one(0), ['norm', Float32Array.of(0)] as const]);
    const decay = { ...options, weightDecay: 0.5 };
    adamWStep(parameters, zeros, freshAdamWState(parameters), decay, 0, (name) => name === 'w');
    expect(parameters.get('w')![0]).toBeCloseTo(2 * (1 - 0.1 * 0.5), 6);
    expect(parameters.get('norm')![0]).toBe(2);
  });

  it('scales gradients down to the norm asked for, never up', () => {
    const state = (norm: number, maxGradientNorm: number) => {
      const parameters = one(0);
      const fresh = freshAdamWState(parameters);
      adamWStep(parameters, one(norm), fresh, { ...options, maxGradientNorm }, norm, () => true);
      return fresh.firstMoments.get('w')![0];
    };
    expect(state(10, 1)).toBeCloseTo(0.1, 5);
    expect(state(0.5, 1)).toBeCloseTo(0.05, 6);
    expect(state(10, 0)).toBeCloseTo(1, 5);
  });

  it('measures the norm over all parameters', () => {
    expect(globalNorm(new Map([...one(3), ['b', Float32Array.of(0, 4)] as const]))).toBe(5);
    expect(globalNorm(one(NaN))).toBeNaN();
  });
});
