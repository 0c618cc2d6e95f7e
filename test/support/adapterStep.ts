import { join } from 'node:path';
import type { Provider } from '../../src/trainer/graph/provider.js';
import { loadAdapter } from '../../src/trainer/model/adapterFiles.js';
import { keepsTensors } from '../../src/trainer/model/deviceTensors.js';
import { createGenerator } from '../../src/trainer/model/generator.js';
import { createLearner } from '../../src/trainer/model/learner.js';
import { uploadParameters } from '../../src/trainer/model/residentParameters.js';
import { readGoldenModel, type goldenNames } from './goldenModels.js';

/** What learner and generator found with one model and adapter: plain numbers, since it crosses a process border. */
export interface AdapterStep {
  /** Parameters that lie on the device. */
  readonly resident: number;
  readonly gradients: Record<string, number[]>;
  readonly tokenIds: readonly number[];
  readonly logprobs: readonly number[];
}

/** Twice the gradients of a golden model's adapter, and tokens sampled before and after an AdamW step, of the same parameters. */
export async function adapterStep(name: (typeof goldenNames)[number], device: Provider): Promise<AdapterStep> {
  const { config, parameters: read, sequences, coefficients, optimizer, stepTemperature } = await readGoldenModel(name);
  const adapter = await loadAdapter(
    join(import.meta.dirname, '..', '..', 'test-fixtures', 'golden', name, 'lora'),
    config,
  );
  const full = await read();
  const uploaded = keepsTensors(device) ? await uploadParameters(config, full, device) : null;
  const parameters = uploaded?.parameters ?? full;
  const files = { write: () => Promise.reject(new Error('unused')), read: () => Promise.reject(new Error('unused')) };
  const shared = { config, parameters, adapter, device, threads: 2 };
  const learner = await createLearner({ ...shared, files });
  const generator = await createGenerator({
    ...shared,
    resident: learner.resident,
    slots: 1,
    maxContext: 64,
    deterministic: true,
  });
  const sample = async () => {
    generator.invalidate();
    return generator.generate({
      tokenIds: Int32Array.of(3, 1, 4, 1, 5),
      sessionId: 'one',
      maxNewTokens: 6,
      stopTokenIds: [],
      temperature: 0,
      topP: 1,
      topK: 0,
      seed: 1,
    });
  };
  const before = await sample();
  await learner.accumulate(sequences, coefficients, stepTemperature);
  await learner.step(optimizer);
  const after = await sample();
  await learner.accumulate(sequences, coefficients, stepTemperature);
  const gradients = Object.fromEntries([...learner.gradients].map(([key, values]) => [key, [...values]]));
  const resident = [...parameters.values()].filter((values) => !ArrayBuffer.isView(values)).length;
  await generator.dispose();
  await learner.dispose();
  await uploaded?.dispose();
  return {
    resident,
    gradients,
    tokenIds: [...before.tokenIds, ...after.tokenIds],
    logprobs: [...before.logprobs, ...after.logprobs],
  };
}
