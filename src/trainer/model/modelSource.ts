import { join } from 'node:path';
import { badInput } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import { deepestJson, isTooDeep } from './jsonDepth.js';
import type { LlamaConfig } from './llamaConfig.js';

/** Where a model comes from: a folder in Hugging Face layout, or a GGUF file, which looks like one here. */
export interface ModelSource {
  /** The folder or file. */
  readonly path: string;
  /** config.json and the files of the text side, by name; those that the source has. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** The weights by Hugging Face's names, checked against the shapes that `config` asks for. */
  readParameters(config: LlamaConfig): Promise<Map<string, Float32Array>>;
}

export const configFile = 'config.json';

export const modelRemedy = say`Give \`embedded\`, a folder in Hugging Face layout, a GGUF file, or a name on the hub.`;

/** A file of a source as JSON; throws where it is missing. */
export function jsonOf({ path, files }: ModelSource, name: string): Record<string, unknown> {
  const where = join(path, name);
  const bytes = files.get(name);
  if (bytes === undefined) throw badInput(say`Cannot read '${where}': it is missing.`, modelRemedy);
  return parseJsonObject(bytes, where);
}

function parseJsonObject(bytes: Buffer, where: string): Record<string, unknown> {
  if (isTooDeep(bytes))
    throw badInput(say`The file '${where}' is nested more than ${deepestJson} deep.`, 'Fetch or save the file again.');
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw badInput(say`The file '${where}' is not whole JSON.`, 'Fetch or save the file again.', error);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw badInput(say`The file '${where}' is not a JSON object.`, 'Fetch or save the file again.');
  return value as Record<string, unknown>;
}
