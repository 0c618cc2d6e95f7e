import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { badInput } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import { openGgufSource } from './gguf/ggufSource.js';
import { configFile, modelRemedy, type ModelSource } from './modelSource.js';
import { readSmallFile } from './smallFile.js';
import { loadParameters } from './weights.js';

/** What a saved checkpoint takes over from its source. */
const smallFiles = [
  configFile,
  'tokenizer.json',
  'tokenizer_config.json',
  'special_tokens_map.json',
  'added_tokens.json',
  'chat_template.jinja',
  'generation_config.json',
];

/** The largest tokenizers in use, of 262,000 tokens, are files of 34 MB. */
const largestFile = 1 << 26;

/** Opens a folder or a GGUF file. Throws `bad-input` where there is neither. */
export async function openModelSource(path: string): Promise<ModelSource> {
  const found = await stat(path).catch(() => null);
  if (found?.isFile()) return openGgufSource(path);
  if (!found?.isDirectory()) throw badInput(say`There is no model folder '${path}'.`, modelRemedy);
  const files = new Map<string, Buffer>();
  for (const name of smallFiles) {
    const bytes = await readIfThere(join(path, name));
    if (bytes !== null) files.set(name, bytes);
  }
  return { path, files, readParameters: (config) => loadParameters(path, config) };
}

/** A file's bytes, or null where there is none. */
async function readIfThere(path: string): Promise<Buffer | null> {
  try {
    return await readSmallFile(path, largestFile);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    const reason = error instanceof Error ? error.message : String(error);
    throw badInput(say`Cannot read '${path}': ${reason}.`, modelRemedy, error);
  }
}
