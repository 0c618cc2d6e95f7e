import { badInput } from '../trajectory/errors.js';
import { say } from '../trajectory/said.js';
import { isCriticEstimator } from './algorithm/advantageEstimators.js';
import { loadAdapter, saveAdapter } from './model/adapterFiles.js';
import { saveCheckpoint } from './model/checkpoint.js';
import { branchedLearner } from './model/branchedLearner.js';
import { contextOf } from './model/contextLimit.js';
import { checkPrecision, chooseDevice } from './model/devices.js';
import { keepsTensors } from './model/deviceTensors.js';
import { narrowParameters, trainable } from './model/frozenParameters.js';
import { createGenerator } from './model/generator.js';
import { createLearner, type WeightFiles } from './model/learner.js';
import { modelPlace } from './model/hub/modelName.js';
import { loadModel, merged, type LoadedModel } from './model/loadModel.js';
import { alphaByRank, copyAdapter, freshAdapter, sameAdapterConfig, type Adapter } from './model/lora.js';
import { copyWeights, PlayedWeights, refusalToPlayAhead } from './model/playedWeights.js';
import type { Generator, Learner } from './model/policy.js';
import { uploadParameters } from './model/residentParameters.js';
import { freshValueHead } from './model/valueHead.js';
import { loadParameters } from './model/weights.js';
import { deriveSeed } from './rollout/seeds.js';
import type { Settings } from './run/settings.js';
import type { TextCodec } from './text/textCodec.js';

/** A policy that can be played and trained. */
export interface Policy {
  readonly learner: Learner;
  readonly generator: Generator;
  /** Those of the generator: shared with the learner, or its own. */
  readonly played: PlayedWeights;
  readonly codec: TextCodec;
  /** The setting `model`, a model of the hub with its commit. */
  readonly model: string;
  /** A second learner that keeps the starting weights: the reference of the KL term. Its caller disposes of it. */
  openReference(): Promise<Learner>;
  dispose(): Promise<void>;
}

type PolicySettings = Pick<
  Settings,
  | 'model'
  | 'device'
  | 'deterministic'
  | 'concurrency'
  | 'lora'
  | 'precision'
  | 'seed'
  | 'activationMemory'
  | 'toolFormat'
  | 'hubEndpoint'
  | 'algorithm'
>;

/**
 * Loads the policy that the settings name; a relative folder is looked up in the repository. Where they ask for an adapter,
 * that is what is trained and kept: a fresh one, or the one that `model` names. `signal` gives up fetching a model from the
 * hub. Throws bad-input.
 * @param isPlayedAhead whether the generator is to keep its weights while the learner's change
 */
export async function loadPolicy(
  settings: PolicySettings,
  repoRoot: string,
  signal?: AbortSignal,
  isPlayedAhead = false,
): Promise<Policy> {
  if (settings.precision === 'float16' && settings.lora.rank === 0) {
    throw badInput(
      'In float16 only an adapter is trained, and the settings ask for all parameters.',
      'Give --lora-rank, or use --precision float32.',
    );
  }
  const model = modelPlace(settings.model, repoRoot);
  const say = (line: string) => void process.stderr.write(`${line}\n`);
  const loaded = await loadModel(model, { endpoint: settings.hubEndpoint, say, signal });
  const adapter = settings.lora.rank === 0 ? null : adapterToTrain(loaded, settings);
  const { config, parameters: full, codec: ownCodec, folder } = adapter ? loaded.checkpoint : merged(loaded);
  const codec = settings.toolFormat === 'auto' ? ownCodec : ownCodec.withToolFormat(settings.toolFormat);
  const files: WeightFiles = adapter
    ? {
        write: (target, factors) => saveAdapter(target, config, { config: adapter.config, factors }, loaded.base),
        read: async (source) => (await loadAdapter(source, config)).factors,
      }
    : {
        write: (target, weights) => saveCheckpoint(target, { config, parameters: weights, sourceFolder: folder }),
        read: (source) => loadParameters(source, config),
      };
  const device = await chooseDevice(settings.device);
  await checkPrecision(device, settings.precision);
  const refusal = isPlayedAhead ? refusalToPlayAhead(device) : null;
  if (refusal !== null) throw refusal;
  const kept = settings.precision === 'float16' ? narrowParameters(config, full) : full;
  // Learner, reference and generator share them there; what is trained each learner keeps there itself.
  const frozen = adapter && keepsTensors(device) ? await uploadParameters(config, kept, device) : null;
  const parameters = frozen?.parameters ?? kept;
  const { deterministic, activationMemory } = settings;
  const options = { config, device, files, deterministic, activationBytes: activationMemory * 2 ** 20 } as const;
  const start = adapter && copyAdapter(adapter);
  const learner = await createLearner({
    ...options,
    parameters,
    ...(adapter && { adapter }),
    ...(isCriticEstimator(settings.algorithm.advantage) && { valueHead: freshValueHead(config) }),
  });
  const learned = adapter?.factors ?? trainable(parameters);
  const own = isPlayedAhead ? copyWeights(learned) : null;
  const generator = await createGenerator({
    config,
    parameters: own && !adapter ? own : parameters,
    ...(adapter && { adapter: own ? { ...adapter, factors: own } : adapter }),
    resident: learner.resident,
    device,
    slots: settings.deterministic ? 1 : settings.concurrency,
    maxContext: contextOf(config),
    deterministic: settings.deterministic,
  });
  return {
    learner: branchedLearner(learner),
    generator,
    played: new PlayedWeights(generator, learned, own),
    codec,
    model: loaded.name === model ? settings.model : loaded.name,
    // The model under an adapter does not change, so the reference shares it.
    openReference: async () =>
      branchedLearner(
        start
          ? await createLearner({ ...options, parameters, adapter: copyAdapter(start) })
          : await createLearner({ ...options, parameters: merged(await loadModel(loaded.name)).parameters }),
      ),
    async dispose() {
      await generator.dispose();
      await learner.dispose();
      await frozen?.dispose();
    },
  };
}

function adapterToTrain({ checkpoint, adapter }: LoadedModel, { lora, model, seed }: PolicySettings): Adapter {
  if (adapter === null) return freshAdapter(checkpoint.config, lora, deriveSeed(seed, 'adapter'));
  if (sameAdapterConfig(adapter.config, lora)) return adapter;
  const { rank, targets } = adapter.config;
  const alpha = alphaByRank(adapter.config);
  throw badInput(
    say`The adapter '${model}' has other settings than \`lora\`: rank ${rank}, alpha ${alpha}, targets ${targets.join(',')}.`,
    'Give it the same --lora-rank, --lora-alpha and --lora-targets, or merge it first with `whetstone merge`.',
  );
}
