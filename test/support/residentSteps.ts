import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Provider } from '../../src/trainer/graph/provider.js';
import { createGenerator } from '../../src/trainer/model/generator.js';
import { createLearner } from '../../src/trainer/model/learner.js';
import { freshValueHead } from '../../src/trainer/model/valueHead.js';
import { readGoldenModel, type goldenNames } from './goldenModels.js';

/** What learner and generator of the same weights found after an update: plain numbers, since it crosses a process border. */
export interface ResidentStep {
  /** Of the learner, of every sequence. */
  readonly logprobs: readonly (readonly number[])[];
  readonly sampled: { readonly tokenIds: readonly number[]; readonly logprobs: readonly number[] };
}

/** Sees what happens between two of its calls. */
export interface StepObserver {
  /** Called when that is over. */
  after(event: 'created' | 'learned' | 'scored' | 'sampled' | 'skipped' | 'loaded' | 'disposed'): void;
}

const sampledTokens = 3;

/**
 * `updates` steps of all parameters of a golden model, and of a critic; scores and samples after each, after one that is skipped,
 * and after the weights behind the first update were loaded again.
 */
export async function residentSteps(
  name: (typeof goldenNames)[number],
  device: Provider,
  updates: number,
  observer: StepObserver = { after: () => undefined },
): Promise<ResidentStep[]> {
  const golden = await readGoldenModel(name);
  const { config, sequences, coefficients, optimizer, stepTemperature } = golden;
  const parameters = await golden.parameters();
  let written: ReadonlyMap<string, Float32Array> = new Map();
  const files = {
    write: (_: string, values: ReadonlyMap<string, Float32Array>) => {
      written = new Map([...values].map(([key, numbers]) => [key, numbers.slice()]));
      return Promise.resolve();
    },
    read: () => Promise.resolve(written),
  };
  const shared = { config, parameters, device, threads: 2 };
  const learner = await createLearner({ ...shared, valueHead: freshValueHead(config), files });
  const options = { ...shared, resident: learner.resident, slots: 1, maxContext: 64, deterministic: true };
  const generator = await createGenerator(options);
  observer.after('created');

  const look = async (): Promise<ResidentStep> => {
    const scores = await learner.score(sequences, stepTemperature);
    observer.after('scored');
    generator.invalidate();
    const { tokenIds, logprobs } = await generator.generate({
      tokenIds: Int32Array.of(3, 1, 4, 1, 5),
      sessionId: 'one',
      maxNewTokens: sampledTokens,
      stopTokenIds: [],
      temperature: 0,
      topP: 1,
      topK: 0,
      seed: 1,
    });
    observer.after('sampled');
    return {
      logprobs: scores.map((each) => [...each.logprobs]),
      sampled: { tokenIds: [...tokenIds], logprobs: [...logprobs] },
    };
  };
  const found: ResidentStep[] = [];
  const folder = await mkdtemp(join(tmpdir(), 'resident '));
  try {
    for (let update = 0; update < updates; update++) {
      await learner.accumulate(sequences, coefficients, stepTemperature);
      await learner.step(optimizer);
      observer.after('learned');
      found.push(await look());
      if (update === 0) await learner.save(folder, { optimizer: false });
    }
    const spoiled = coefficients.map((each) => ({ ...each, logprobs: each.logprobs.map(() => NaN) }));
    await learner.accumulate(sequences, spoiled, stepTemperature);
    const { skipped } = await learner.step(optimizer);
    if (!skipped) throw new Error('An update by gradients that are no numbers was not skipped.');
    observer.after('skipped');
    found.push(await look());
    await learner.load(folder, { optimizer: false });
    observer.after('loaded');
    found.push(await look());
  } finally {
    await rm(folder, { recursive: true });
  }
  await generator.dispose();
  await learner.dispose();
  observer.after('disposed');
  return found;
}
