import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { adapterBase, hasAdapter } from './adapterFiles.js';
import { embeddedModelFolder } from './checkpoint.js';
import { parseModelConfig } from './config.js';
import { cachedModel } from './hub/hubCache.js';
import { parseHubModel } from './hub/modelName.js';
import type { LlamaConfig } from './llamaConfig.js';
import { configFile, jsonOf } from './modelSource.js';
import { openModelSource } from './openModelSource.js';

/**
 * The shape of what `--model` names (an adapter's folder: of its model), without its weights and without the network. Null where
 * it is a name on the hub that was not fetched yet. Throws bad-input.
 */
export async function readModelShape(model: string): Promise<LlamaConfig | null> {
  const folder = resolve(model);
  const named = model !== 'embedded' && hasAdapter(folder) ? await adapterBase(folder) : model;
  const place = await placeOnDisk(named);
  if (place === null) return null;
  const source = await openModelSource(place);
  return parseModelConfig(jsonOf(source, configFile), join(source.path, configFile));
}

async function placeOnDisk(model: string): Promise<string | null> {
  if (model === 'embedded') return embeddedModelFolder();
  const onHub = parseHubModel(model);
  if (onHub === null || existsSync(model)) return resolve(model);
  return (await cachedModel(onHub))?.place ?? null;
}
