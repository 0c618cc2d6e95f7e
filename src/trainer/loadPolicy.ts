import path from 'node:path';
import { loadCheckpoint, loadParameters, saveCheckpoint } from './model/checkpoint.js';
import { chooseDevice } from './model/devices.js';
import { createGenerator } from './model/generator.js';
import { createLearner, type WeightFiles } from './model/learner.js';
import type { Generator, Learner } from './model/policy.js';
import type { Settings } from './run/settings.js';
import type { TextCodec } from './text/textCodec.js';

/** A policy that can be played and trained. Learner and generator share their weights. */
export interface Policy {
  readonly learner: Learner;
  readonly generator: Generator;
  readonly codec: TextCodec;
  /** A second learner that keeps the starting weights: the reference of the KL term. Its caller disposes of it. */
  openReference(): Promise<Learner>;
  dispose(): Promise<void>;
}

type PolicySettings = Pick<Settings, 'model' | 'device' | 'deterministic' | 'concurrency'>;

/** Tokens of an episode, whatever more a model could hold: caches and activations grow with them. */
const longestContext = 8192;

/** Loads the policy that the settings name; a relative folder is looked up in the repository. Throws bad-input. */
export async function loadPolicy(settings: PolicySettings, repoRoot: string): Promise<Policy> {
  const model = settings.model === 'embedded' ? settings.model : path.resolve(repoRoot, settings.model);
  const { config, parameters, codec, folder } = await loadCheckpoint(model);
  const files: WeightFiles = {
    write: (target, weights) => saveCheckpoint(target, { config, parameters: weights, sourceFolder: folder }),
    read: (source) => loadParameters(source, config),
  };
  const device = await chooseDevice(settings.device);
  const options = { config, device, files, deterministic: settings.deterministic } as const;
  const learner = await createLearner({ ...options, parameters });
  const generator = await createGenerator({
    config,
    parameters,
    device,
    slots: settings.deterministic ? 1 : settings.concurrency,
    maxContext: Math.min(config.maxPositions, longestContext),
    deterministic: settings.deterministic,
  });
  return {
    learner,
    generator,
    codec,
    openReference: async () => createLearner({ ...options, parameters: await loadParameters(folder, config) }),
    async dispose() {
      await generator.dispose();
      await learner.dispose();
    },
  };
}
