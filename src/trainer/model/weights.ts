import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { badInput } from '../../trajectory/errors.js';
import { say, type Said } from '../../trajectory/said.js';
import { recordOf } from '../firstFault.js';
import { firstNotFinite } from './finite.js';
import { headParameter, type LlamaConfig, parameterShapes } from './llamaConfig.js';
import { quoted } from './quoted.js';
import { readSafetensors, readSafetensorsHeader, showShape } from './safetensors.js';
import { readSmallFile } from './smallFile.js';

/** An index names each parameter once; the largest models have some ten thousand. */
const largestIndex = 1 << 24;
const fetchAgain = say`Fetch the model again.`;

/** Loads the weights in a folder: model.safetensors, or the shards that its index names, checked against the shape that `config` says. */
export async function loadParameters(folder: string, config: LlamaConfig): Promise<Map<string, Float32Array>> {
  const files = await weightFiles(folder);
  const wanted = parameterShapes(config);
  const homes = await findParameters(files, wanted);
  const found = new Map<string, Float32Array>();
  for (const path of new Set(homes.values()))
    for (const [name, tensor] of await readSafetensors(path))
      if (wanted.has(name)) found.set(name, checkFinite(name, tensor.data, path));
  return new Map([...wanted.keys()].map((name) => [name, found.get(name)!]));
}

/** model.safetensors, or the files that its index names. */
async function weightFiles(folder: string): Promise<string[]> {
  const single = join(folder, 'model.safetensors');
  if (existsSync(single)) return [single];
  const indexPath = join(folder, 'model.safetensors.index.json');
  if (!existsSync(indexPath))
    throw badInput(say`The model '${folder}' has no model.safetensors.`, 'Give a folder in Hugging Face layout.');
  const index = z.looseObject({ weight_map: recordOf(z.string()) }).safeParse(await readIndex(indexPath));
  const names = [...new Set(Object.values(index.data?.weight_map ?? {}))];
  // A name with a folder in it could point anywhere on the disk.
  if (names.length === 0 || names.some((name) => name !== basename(name) || name.includes('\\')))
    throw badInput(say`The index '${indexPath}' does not name files beside it.`, fetchAgain);
  return names.map((name) => join(folder, name));
}

/** The file of each parameter, found by the headers alone, so that nothing large is read of a model that does not fit. */
async function findParameters(
  files: readonly string[],
  wanted: ReadonlyMap<string, readonly number[]>,
): Promise<Map<string, string>> {
  const refuse = (reason: Said, path: string) =>
    badInput(say`The weights '${path}' do not fit config.json: ${reason}.`, fetchAgain);
  const homes = new Map<string, string>();
  for (const path of files) {
    for (const [name, entry] of (await readSafetensorsHeader(path)).tensors) {
      const shape = wanted.get(name);
      if (shape === undefined) {
        if (isRedundant(name)) continue;
        throw refuse(say`there is no parameter ${quoted(name)} in this kind of model`, path);
      }
      if (entry.shape.join() !== shape.join())
        throw refuse(say`'${name}' is ${showShape(entry.shape)} and should be ${showShape(shape)}`, path);
      const other = homes.get(name);
      if (other !== undefined) throw refuse(say`'${name}' is in '${basename(other)}' too`, path);
      homes.set(name, path);
    }
  }
  for (const name of wanted.keys()) if (!homes.has(name)) throw refuse(say`'${name}' is missing`, files[0]!);
  return homes;
}

/** Stored by some exporters though it follows from the rest: a tied head, rotary frequencies. */
function isRedundant(name: string): boolean {
  return name === headParameter || name.endsWith('.rotary_emb.inv_freq');
}

function checkFinite(name: string, values: Float32Array, path: string): Float32Array {
  const culprit = firstNotFinite(values);
  if (culprit === undefined) return values;
  throw badInput(say`The weights '${path}' hold ${culprit} in '${name}'.`, 'Use a checkpoint from before it diverged.');
}

async function readIndex(path: string): Promise<unknown> {
  try {
    return JSON.parse((await readSmallFile(path, largestIndex)).toString('utf8'));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw badInput(say`Cannot read '${path}': ${reason}.`, fetchAgain, error);
  }
}
