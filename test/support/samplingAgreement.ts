import { createGenerator, type GeneratorOptions } from '../../src/trainer/model/generator.js';
import type { Learner } from '../../src/trainer/model/policy.js';

const prompt = [3, 1, 4, 1, 5];
const temperature = 0.8;

/** Largest difference between the log-probabilities that tokens were sampled with and those that a learner gives them. */
export async function samplingDifference(
  options: Pick<GeneratorOptions, 'config' | 'parameters' | 'adapter'>,
  learner: Pick<Learner, 'score'>,
): Promise<number> {
  const generator = await createGenerator({ ...options, device: 'cpu', slots: 1, maxContext: 64, deterministic: true });
  const { tokenIds, logprobs } = await generator.generate({
    tokenIds: Int32Array.from(prompt),
    sessionId: 'a',
    maxNewTokens: 12,
    stopTokenIds: [],
    temperature,
    topP: 1,
    topK: 0,
    seed: 1,
  });
  await generator.dispose();
  const sequence = {
    tokenIds: Int32Array.from([...prompt, ...tokenIds]),
    actionMask: Uint8Array.from({ length: prompt.length + tokenIds.length }, (_, i) => Number(i >= prompt.length)),
  };
  const [scores] = await learner.score([sequence], temperature);
  if (tokenIds.length < 12) throw new Error(`only ${tokenIds.length} tokens were sampled`);
  return Math.max(...logprobs.map((value, index) => Math.abs(scores.logprobs[prompt.length + index] - value)));
}
