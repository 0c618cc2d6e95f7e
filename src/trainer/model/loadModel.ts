import { resolve } from 'node:path';
import { adapterBase, hasAdapter, loadAdapter } from './adapterFiles.js';
import { loadCheckpoint, type Checkpoint } from './checkpoint.js';
import type { HubOptions } from './hub/fetchModel.js';
import { mergeAdapter, type Adapter } from './lora.js';

/** A model in memory, and the adapter on top of it where an adapter was asked for. */
export interface LoadedModel {
  readonly checkpoint: Checkpoint;
  readonly adapter: Adapter | null;
  /** As it was asked for, a model of the hub with its commit. */
  readonly name: string;
  /** The checkpoint as an adapter of it should name it. */
  readonly base: string;
}

/** Loads what `--model` names: a model, or the folder of an adapter, which names its model. Throws bad-input. */
export async function loadModel(model: string, hub: HubOptions = {}): Promise<LoadedModel> {
  const folder = resolve(model);
  if (model === 'embedded' || !hasAdapter(folder)) {
    const checkpoint = await loadCheckpoint(model, hub);
    return { checkpoint, adapter: null, name: checkpoint.name, base: checkpoint.name };
  }
  const base = await adapterBase(folder);
  const checkpoint = await loadCheckpoint(base, hub);
  return { checkpoint, adapter: await loadAdapter(folder, checkpoint.config), name: model, base };
}

/** The same model without an adapter: what it changes becomes part of the weights. */
export function merged({ checkpoint, adapter }: LoadedModel): Checkpoint {
  if (adapter) mergeAdapter(checkpoint.config, checkpoint.parameters, adapter);
  return checkpoint;
}
