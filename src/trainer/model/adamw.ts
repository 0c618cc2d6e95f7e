import type { AdamWOptions } from './policy.js';

/** First and second moments of each parameter, and the steps taken. */
export interface AdamWState {
  readonly firstMoments: Map<string, Float32Array>;
  readonly secondMoments: Map<string, Float32Array>;
  step: number;
}

export function freshAdamWState(parameters: ReadonlyMap<string, Float32Array>): AdamWState {
  const zeros = () => new Map([...parameters].map(([name, values]) => [name, new Float32Array(values.length)]));
  return { firstMoments: zeros(), secondMoments: zeros(), step: 0 };
}

/** The Euclidean norm of all gradients together, summed in double precision. */
export function globalNorm(gradients: ReadonlyMap<string, Float32Array>): number {
  let total = 0;
  for (const values of gradients.values()) {
    // Four sums, since each addition waits for the one before it.
    const whole = values.length - (values.length % 4);
    let [a, b, c, d] = [0, 0, 0, 0];
    for (let i = 0; i < whole; i += 4) {
      a += values[i] * values[i];
      b += values[i + 1] * values[i + 1];
      c += values[i + 2] * values[i + 2];
      d += values[i + 3] * values[i + 3];
    }
    for (let i = whole; i < values.length; i++) a += values[i] * values[i];
    total += a + b + c + d;
  }
  return Math.sqrt(total);
}

/**
 * One step of AdamW (arXiv 1711.05101) as PyTorch's `AdamW` takes it, in place, after scaling the gradients down to
 * `maxGradientNorm` as `clip_grad_norm_` does. Only parameters that `decays` names lose weight.
 * @param rateOf a parameter's own learning rate
 */
export function adamWStep(
  parameters: ReadonlyMap<string, Float32Array>,
  gradients: ReadonlyMap<string, Float32Array>,
  state: AdamWState,
  options: AdamWOptions,
  gradientNorm: number,
  decays: (name: string) => boolean,
  rateOf: (name: string) => number = () => options.learningRate,
): void {
  const { beta1, beta2, epsilon, weightDecay, maxGradientNorm } = options;
  state.step++;
  // m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon), with the corrections outside of the loop: one division a number.
  const secondCorrection = Math.sqrt(1 - beta2 ** state.step);
  const floor = epsilon * secondCorrection;
  const scale = maxGradientNorm > 0 ? Math.min(1, maxGradientNorm / (gradientNorm + 1e-6)) : 1;
  for (const [name, values] of parameters) {
    const gradient = gradients.get(name)!;
    const first = state.firstMoments.get(name)!;
    const second = state.secondMoments.get(name)!;
    const learningRate = rateOf(name);
    const stepSize = (learningRate * secondCorrection) / (1 - beta1 ** state.step);
    const keep = decays(name) ? 1 - learningRate * weightDecay : 1;
    for (let i = 0; i < values.length; i++) {
      const g = gradient[i] * scale;
      const m = beta1 * first[i] + (1 - beta1) * g;
      const v = beta2 * second[i] + (1 - beta2) * g * g;
      first[i] = m;
      second[i] = v;
      values[i] = values[i] * keep - (stepSize * m) / (Math.sqrt(v) + floor);
    }
  }
}
