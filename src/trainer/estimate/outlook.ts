import { readIncludedTasks } from '../../env/tasks/excludedTasks.js';
import { WhetstoneError } from '../../trajectory/errors.js';
import type { Said } from '../../trajectory/said.js';
import { playsAhead } from '../data/playedAhead.js';
import type { Provider } from '../graph/provider.js';
import { autoDevice } from '../model/autoDevice.js';
import { contextOf } from '../model/contextLimit.js';
import { modelPlace } from '../model/hub/modelName.js';
import type { LlamaConfig } from '../model/llamaConfig.js';
import { alphaByRank } from '../model/lora.js';
import { readModelShape } from '../model/modelShape.js';
import { refusalToPlayAhead } from '../model/playedWeights.js';
import type { Settings } from '../run/settings.js';
import { estimateMemory, parameterCount, trainedCount, type MemoryEstimate } from './memoryEstimate.js';
import type { EpisodeLength } from './operations.js';
import { recordedEpisodes, type RecordedEpisodes } from './recordedEpisodes.js';
import { episodesOfStep, estimateTime, type MeasuredDevice, type TimeEstimate } from './timeEstimate.js';

/** What episodes are taken to be like, and what says so. */
export interface ExpectedEpisode extends EpisodeLength {
  /** The run whose rollouts were like that on average; null: as long as the context and the settings let them be. */
  readonly run: string | null;
  /** What its commands and tests add to the policy's computing; null where no run tells. */
  readonly besideSeconds: number | null;
}

/** What a training would take, before it begins. All of it is estimated. */
export interface Outlook {
  /** The setting. */
  readonly model: string;
  readonly parameters: number;
  /** How many numbers are trained. */
  readonly trained: number;
  /** Where the model is an adapter: the setting `lora` that goes on with it. */
  readonly adapter: Settings['lora'] | null;
  readonly episode: ExpectedEpisode;
  /** Episodes of one evaluation; null where no tasks were built yet. */
  readonly heldoutEpisodes: number | null;
  /** The device that `auto` takes. */
  readonly auto: Provider;
  readonly devices: readonly {
    readonly name: Provider;
    /** Bytes. */
    readonly memory: MemoryEstimate;
    /** Seconds. */
    readonly time: TimeEstimate;
    /** Why it plays nothing ahead, where the settings ask for that: no training begins there. Null where one does. */
    readonly refusal: Said | null;
  }[];
}

/**
 * What a training with the settings would take on each of the devices. Null where the model is on the hub and was not fetched
 * yet, so that its shape is not known. Throws bad-input where it cannot be used.
 */
export async function trainingOutlook(
  { repoRoot, stateFolder }: { readonly repoRoot: string; readonly stateFolder: string },
  settings: Settings,
  devices: readonly MeasuredDevice[],
): Promise<Outlook | null> {
  const shape = await readModelShape(modelPlace(settings.model, repoRoot));
  if (shape === null) return null;
  const { config, adapter } = shape;
  const recorded = await recordedEpisodes(stateFolder, settings.model);
  const episode = recorded ? likeRecorded(config, recorded, devices) : longestEpisode(config, settings);
  const heldoutEpisodes = await heldoutEpisodesOf(stateFolder, settings);
  return {
    model: settings.model,
    parameters: parameterCount(config),
    trained: trainedCount(config, settings),
    adapter: adapter && { rank: adapter.rank, alpha: alphaByRank(adapter), targets: [...adapter.targets] },
    episode,
    heldoutEpisodes,
    auto: autoDevice(devices),
    devices: devices.map((device) => ({
      name: device.name,
      memory: estimateMemory(config, settings, device.name),
      time: estimateTime(config, settings, device, episode, {
        heldoutEpisodes,
        besideSeconds: episode.besideSeconds ?? 0,
      }),
      refusal: playsAhead(settings) ? (refusalToPlayAhead(device.name)?.said ?? null) : null,
    })),
  };
}

/** As long as episodes may be: the context is full, and every turn samples all that it may. */
function longestEpisode(config: LlamaConfig, { maxTurns, maxTokensPerTurn }: Settings): ExpectedEpisode {
  const tokens = contextOf(config);
  return { tokens, sampled: Math.min(tokens, maxTurns * maxTokensPerTurn), run: null, besideSeconds: null };
}

/** As a run's were. What they took longer than its own computing is estimated to take on its device was beside it. */
function likeRecorded(
  config: LlamaConfig,
  { run, settings, mean }: RecordedEpisodes,
  devices: readonly MeasuredDevice[],
): ExpectedEpisode {
  const { seconds, ...length } = mean;
  const name = settings.device === 'auto' ? autoDevice(devices) : settings.device;
  const device = devices.find((one) => one.name === name);
  if (device === undefined) return { ...length, run, besideSeconds: null };
  const alone = { heldoutEpisodes: null, besideSeconds: 0 };
  const computing = estimateTime(config, settings, device, length, alone).rollouts;
  const beside = seconds - computing / episodesOfStep(settings);
  return { ...length, run, besideSeconds: Math.max(0, beside) };
}

async function heldoutEpisodesOf(
  stateFolder: string,
  { evaluationTasks, evaluationSamples }: Settings,
): Promise<number | null> {
  try {
    const tasks = await readIncludedTasks(stateFolder);
    const heldout = tasks.filter(({ whetstone }) => whetstone.split === 'heldout').length;
    return evaluationSamples * (evaluationTasks === 0 ? heldout : Math.min(heldout, evaluationTasks));
  } catch (error) {
    // There are none, or they are to be built again.
    if (error instanceof WhetstoneError) return null;
    throw error;
  }
}
