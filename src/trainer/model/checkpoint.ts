import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { badInput, WhetstoneError } from '../../trajectory/errors.js';
import { HuggingFaceCodec } from '../text/huggingFaceCodec.js';
import { modelConfigJson, parseModelConfig } from './config.js';
import { headParameter, type LlamaConfig, parameterShapes } from './llamaConfig.js';
import { readSafetensors, readSafetensorsHeader, type StoredDtype, writeSafetensors } from './safetensors.js';

/** A model in Hugging Face layout, in memory. */
export interface Checkpoint {
  readonly config: LlamaConfig;
  /** By Hugging Face's names, in the order of `parameterShapes`. */
  readonly parameters: Map<string, Float32Array>;
  readonly codec: HuggingFaceCodec;
  readonly folder: string;
  /** config.json as it stands in the folder. */
  readonly rawConfig: Readonly<Record<string, unknown>>;
}

/** Files of the text side, copied along with every saved checkpoint where the source has them. */
const textFiles = [
  'tokenizer.json',
  'tokenizer_config.json',
  'special_tokens_map.json',
  'added_tokens.json',
  'chat_template.jinja',
  'generation_config.json',
];

const maximumJsonBytes = 1 << 28;
const modelRemedy = 'Give `embedded`, or a folder in Hugging Face layout.';

/** The folder of the policy that ships with Whetstone, beside the bundle or in the source tree. */
export function embeddedModelFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  for (;;) {
    const candidate = join(folder, 'media', 'embedded-policy');
    if (existsSync(candidate)) return candidate;
    const parent = dirname(folder);
    if (parent === folder)
      throw badInput('The embedded policy is missing.', 'Install Whetstone again, or give --model.');
    folder = parent;
  }
}

/** Loads a model: `embedded`, or a folder. Throws `bad-input`, one clear line, where something is missing or wrong. */
export async function loadCheckpoint(model: string): Promise<Checkpoint> {
  const folder = model === 'embedded' ? embeddedModelFolder() : resolve(model);
  if (!(await isFolder(folder))) throw badInput(`There is no model folder '${folder}'.`, modelRemedy);
  const rawConfig = await readJson(join(folder, 'config.json'));
  const config = parseModelConfig(rawConfig, join(folder, 'config.json'));
  const codec = await loadCodec(folder, rawConfig, config);
  return { config, parameters: await loadParameters(folder, config), codec, folder, rawConfig };
}

/** Loads the weights alone, checked against the shape that `config` says. */
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

/**
 * Writes model.safetensors and config.json, and copies the text side from `sourceFolder`. Each file of weights is whole
 * or absent; for a folder that is whole or absent, save into a new one and rename it.
 */
export async function saveCheckpoint(
  folder: string,
  options: {
    readonly config: LlamaConfig;
    readonly parameters: ReadonlyMap<string, Float32Array>;
    readonly sourceFolder: string;
    readonly dtype?: StoredDtype;
  },
): Promise<void> {
  const { config, parameters, sourceFolder, dtype = 'F32' } = options;
  await attemptWrite(folder, async () => {
    await mkdir(folder, { recursive: true });
    if (resolve(folder) !== resolve(sourceFolder))
      for (const name of textFiles)
        if (existsSync(join(sourceFolder, name))) await copyFile(join(sourceFolder, name), join(folder, name));
    const sourceConfig = join(sourceFolder, 'config.json');
    const base = existsSync(sourceConfig) ? await readJson(sourceConfig) : modelConfigJson(config);
    const torchDtype = { F32: 'float32', F16: 'float16', BF16: 'bfloat16' }[dtype];
    const json = JSON.stringify({ ...base, torch_dtype: torchDtype }, null, 2) + '\n';
    await writeFile(join(folder, 'config.json'), json);
  });
  const tensors = new Map<string, { shape: readonly number[]; data: Float32Array }>();
  for (const [name, shape] of parameterShapes(config)) {
    const data = parameters.get(name);
    if (data === undefined) throw new Error(`internal: the parameter '${name}' is not there to be saved`);
    tensors.set(name, { shape, data });
  }
  await writeSafetensors(join(folder, 'model.safetensors'), tensors, { dtype });
}

async function loadCodec(
  folder: string,
  rawConfig: Readonly<Record<string, unknown>>,
  config: LlamaConfig,
): Promise<HuggingFaceCodec> {
  const tokenizerConfig = await readJson(join(folder, 'tokenizer_config.json'));
  const generationPath = join(folder, 'generation_config.json');
  const generation = existsSync(generationPath) ? await readJson(generationPath) : {};
  const codec = new HuggingFaceCodec({
    tokenizer: await readJson(join(folder, 'tokenizer.json')),
    tokenizerConfig,
    chatTemplate: await readChatTemplate(folder, tokenizerConfig),
    eosTokenIds: eosIds(generation.eos_token_id ?? rawConfig.eos_token_id),
    where: folder,
  });
  const greatest = Math.max(codec.vocabularySize - 1, ...codec.stopTokenIds);
  if (greatest >= config.vocabularySize)
    throw badInput(
      `The tokenizer of '${folder}' has the id ${greatest}, its model only ${config.vocabularySize} tokens.`,
      'Use the tokenizer that belongs to the model.',
    );
  return codec;
}

async function readChatTemplate(folder: string, tokenizerConfig: Readonly<Record<string, unknown>>): Promise<string> {
  const path = join(folder, 'chat_template.jinja');
  if (existsSync(path)) return (await readLimited(path)).toString('utf8');
  const inline = tokenizerConfig.chat_template;
  if (typeof inline === 'string') return inline;
  const named = z.array(z.object({ name: z.string(), template: z.string() })).safeParse(inline);
  const chosen =
    named.data?.find(({ name }) => name === 'tool_use') ?? named.data?.find(({ name }) => name === 'default');
  if (chosen === undefined)
    throw badInput(`The model '${folder}' has no chat template.`, 'Use a chat or instruct model.');
  return chosen.template;
}

/** `eos_token_id` is a number, a list of them, or absent. */
function eosIds(value: unknown): number[] {
  const ids = z.array(z.int().nonnegative()).safeParse(Array.isArray(value) ? value : [value]);
  return ids.success ? ids.data : [];
}

/** model.safetensors, or the files that its index names. */
async function weightFiles(folder: string): Promise<string[]> {
  const single = join(folder, 'model.safetensors');
  if (existsSync(single)) return [single];
  const indexPath = join(folder, 'model.safetensors.index.json');
  if (!existsSync(indexPath)) throw badInput(`The model '${folder}' has no model.safetensors.`, modelRemedy);
  const index = z.looseObject({ weight_map: z.record(z.string(), z.string()) }).safeParse(await readJson(indexPath));
  const names = [...new Set(Object.values(index.data?.weight_map ?? {}))];
  // A name with a folder in it could point anywhere on the disk.
  if (names.length === 0 || names.some((name) => name !== basename(name) || name.includes('\\')))
    throw badInput(`The index '${indexPath}' does not name files beside it.`, 'Fetch the model again.');
  return names.map((name) => join(folder, name));
}

/** The file of each parameter, found by the headers alone, so that nothing large is read of a model that does not fit. */
async function findParameters(
  files: readonly string[],
  wanted: ReadonlyMap<string, readonly number[]>,
): Promise<Map<string, string>> {
  const refuse = (reason: string, path: string) =>
    badInput(`The weights '${path}' do not fit config.json: ${reason}.`, 'Fetch the model again.');
  const homes = new Map<string, string>();
  for (const path of files) {
    for (const [name, entry] of (await readSafetensorsHeader(path)).tensors) {
      const shape = wanted.get(name);
      if (shape === undefined) {
        if (isRedundant(name)) continue;
        throw refuse(`there is no parameter '${name}' in this kind of model`, path);
      }
      if (entry.shape.join() !== shape.join())
        throw refuse(`'${name}' is [${entry.shape.join(', ')}] and should be [${shape.join(', ')}]`, path);
      homes.set(name, path);
    }
  }
  for (const name of wanted.keys()) if (!homes.has(name)) throw refuse(`'${name}' is missing`, files[0]!);
  return homes;
}

/** Stored by some exporters though it follows from the rest: a tied head, rotary frequencies. */
function isRedundant(name: string): boolean {
  return name === headParameter || name.endsWith('.rotary_emb.inv_freq');
}

function checkFinite(name: string, values: Float32Array, path: string): Float32Array {
  for (let i = 0; i < values.length; i++)
    if (!Number.isFinite(values[i]))
      throw badInput(
        `The weights '${path}' hold ${values[i]} in '${name}'.`,
        'Use a checkpoint from before it diverged.',
      );
  return values;
}

async function readJson(path: string): Promise<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse((await readLimited(path)).toString('utf8'));
  } catch (error) {
    if (error instanceof WhetstoneError) throw error;
    throw badInput(`The file '${path}' is not whole JSON.`, 'Fetch or save the file again.', error);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw badInput(`The file '${path}' is not a JSON object.`, 'Fetch or save the file again.');
  return value as Record<string, unknown>;
}

async function readLimited(path: string): Promise<Buffer> {
  try {
    const { size } = await stat(path);
    if (size > maximumJsonBytes) throw badInput(`The file '${path}' is ${size} bytes large.`, modelRemedy);
    return await readFile(path);
  } catch (error) {
    if (error instanceof WhetstoneError) throw error;
    throw badInput(`Cannot read '${path}': ${reasonOf(error)}.`, modelRemedy, error);
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}

async function attemptWrite(folder: string, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (error instanceof WhetstoneError) throw error;
    throw badInput(
      `Cannot write the checkpoint '${folder}': ${reasonOf(error)}.`,
      'Check that the folder is writable and the disk is not full.',
      error,
    );
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
