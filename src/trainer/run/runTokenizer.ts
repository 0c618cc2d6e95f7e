import { existsSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { RunReader } from './runReader.js';
import type { TextCodec } from '../text/textCodec.js';
import { badInput } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';

/**
 * The tokenizer that a run's ids belong to: its latest checkpoint's, else its model's. `embeddedModel` gives the folder of
 * the policy that comes with Whetstone; it is only asked where nothing else is left. Throws bad-input where none is.
 */
export async function loadRunTokenizer(
  run: RunReader,
  embeddedModel: () => string,
): Promise<Pick<TextCodec, 'tokenTexts' | 'decode'>> {
  const { settings } = await run.config();
  const checkpoints = await readdir(run.paths.checkpoints).catch(() => []);
  const ownFolders = checkpoints
    .filter((name) => !name.startsWith('.'))
    .sort()
    .reverse()
    .map((name) => path.join(run.paths.checkpoints, name));
  const holdsTokenizer = (candidate: string) => existsSync(path.join(candidate, 'tokenizer.json'));
  // The tokenizer's code is only read in once a trajectory is opened.
  const { ByteLevelTokenizer } = await import('../text/byteLevelTokenizer.js');
  const ownModel = async () => (settings.model === 'embedded' ? embeddedModel() : placeOnDisk(settings.model));
  const folder = ownFolders.find(holdsTokenizer) ?? (await ownModel());
  if (!isFile(folder) && !holdsTokenizer(folder)) {
    throw badInput(
      say`The tokenizer of run ${run.id} is gone: neither its checkpoints nor ${settings.model} hold a tokenizer.json.`,
      'Put the model folder back where it was.',
    );
  }
  const { jsonOf } = await import('../model/modelSource.js');
  const { openModelSource } = await import('../model/openModelSource.js');
  const source = await openModelSource(folder);
  const config = source.files.has('tokenizer_config.json') ? jsonOf(source, 'tokenizer_config.json') : {};
  return new ByteLevelTokenizer(jsonOf(source, 'tokenizer.json'), config, folder);
}

/** A model of the hub lies in its cache. */
async function placeOnDisk(model: string): Promise<string> {
  const { parseHubModel } = await import('../model/hub/modelName.js');
  const named = existsSync(model) ? null : parseHubModel(model);
  if (named === null) return model;
  const { cachedModel } = await import('../model/hub/hubCache.js');
  return (await cachedModel(named))?.place ?? model;
}

/** A GGUF file holds its tokenizer. */
const isFile = (place: string): boolean => statSync(place, { throwIfNoEntry: false })?.isFile() ?? false;
