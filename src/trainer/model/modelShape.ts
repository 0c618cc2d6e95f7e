import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { adapterBase, hasAdapter, readAdapterConfig } from './adapterFiles.js';
import { embeddedModelFolder } from './checkpoint.js';
import { parseModelConfig } from './config.js';
import { cachedModel } from './hub/hubCache.js';
import { parseHubModel } from './hub/modelName.js';
import type { LlamaConfig } from './llamaConfig.js';
import type { AdapterConfig } from './lora.js';
import { configFile, jsonOf } from './modelSource.js';
import { openModelSource } from './openModelSource.js';

export interface ModelShape {
  readonly config: LlamaConfig;
  /** Where the model is an adapter on top of another: how it changes that. */
  readonly adapter: AdapterConfig | null;
}

/**
 * The shape of what `--model` names, without its weights and without the network. Null where it, or the model of an adapter, is a
 * name on the hub that was not fetched yet. Throws bad-input.
 */
export async function readModelShape(model: string): Promise<ModelShape | null> {
  const folder = resolve(model);
  const isAdapter = model !== 'embedded' && hasAdapter(folder);
  const place = await placeOnDisk(isAdapter ? await adapterBase(folder) : model);
  if (place === null) return null;
  const source = await openModelSource(place);
  const config = parseModelConfig(jsonOf(source, configFile), join(source.path, configFile));
  return { config, adapter: isAdapter ? await readAdapterConfig(folder) : null };
}

async function placeOnDisk(model: string): Promise<string | null> {
  if (model === 'embedded') return embeddedModelFolder();
  const onHub = parseHubModel(model);
  if (onHub === null || existsSync(model)) return resolve(model);
  return (await cachedModel(onHub))?.place ?? null;
}
