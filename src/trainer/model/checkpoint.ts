import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { badInput, WhetstoneError } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import { HuggingFaceCodec } from '../text/huggingFaceCodec.js';
import { modelConfigJson, parseModelConfig } from './config.js';
import { fetchModel, type HubOptions } from './hub/fetchModel.js';
import type { FetchedModel } from './hub/hubCache.js';
import { parseHubModel } from './hub/modelName.js';
import { elementCount, type LlamaConfig, parameterShapes } from './llamaConfig.js';
import { configFile, jsonOf, type ModelSource } from './modelSource.js';
import { openModelSource } from './openModelSource.js';
import { quoted } from './quoted.js';
import { type StoredDtype, writeSafetensors } from './safetensors.js';

/** A model in Hugging Face layout, in memory. */
export interface Checkpoint {
  readonly config: LlamaConfig;
  /** By Hugging Face's names, in the order of `parameterShapes`. */
  readonly parameters: Map<string, Float32Array>;
  readonly codec: HuggingFaceCodec;
  /** As it was asked for, a model of the hub with its commit. */
  readonly name: string;
  /** Where it came from: a folder, or a GGUF file. */
  readonly folder: string;
  /** config.json as it stands in the folder, or as a GGUF file's metadata say it. */
  readonly rawConfig: Readonly<Record<string, unknown>>;
}

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

/**
 * Loads a model: `embedded`, a folder, a GGUF file, or what a name means on the hub where there is no such path. Throws one
 * clear line where something is wrong.
 */
export async function loadCheckpoint(model: string, hub: HubOptions = {}): Promise<Checkpoint> {
  const { place, name } = await findOnDisk(model, hub);
  const source = await openModelSource(place);
  const rawConfig = jsonOf(source, configFile);
  const config = parseModelConfig(rawConfig, join(source.path, configFile));
  const codec = loadCodec(source, rawConfig, config);
  checkMemory(config, name);
  return { config, parameters: await source.readParameters(config), codec, name, folder: place, rawConfig };
}

/** The weights are held as float32; what they need is known before any is read, and a machine without it would kill the process. */
function checkMemory(config: LlamaConfig, name: string): void {
  const numbers = [...parameterShapes(config).values()].reduce((sum, shape) => sum + elementCount(shape), 0);
  // Of a container; 0 or far more than there is where nothing constrains the process.
  const memory = Math.min(totalmem(), process.constrainedMemory() || Infinity);
  if (4 * numbers <= memory) return;
  const gibibytes = (bytes: number) => (bytes / 2 ** 30).toFixed(1);
  throw badInput(
    say`The weights of '${name}' need ${gibibytes(4 * numbers)} GiB, and this machine has ${gibibytes(memory)} GiB of memory.`,
    'Use a smaller model.',
  );
}

async function findOnDisk(model: string, hub: HubOptions): Promise<FetchedModel> {
  if (model === 'embedded') return { place: embeddedModelFolder(), name: model };
  const named = parseHubModel(model);
  return named !== null && !existsSync(model) ? fetchModel(named, hub) : { place: resolve(model), name: model };
}

/**
 * Writes model.safetensors and config.json, and takes the text side over from `sourceFolder`, which may be a GGUF file. Each
 * file of weights is whole or absent; for a folder that is whole or absent, save into a new one and rename it.
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
  const source = await openModelSource(sourceFolder);
  await attemptWrite(folder, async () => {
    await mkdir(folder, { recursive: true });
    if (resolve(folder) !== resolve(sourceFolder))
      for (const [name, bytes] of source.files) await writeFile(join(folder, name), bytes);
    const base = source.files.has(configFile) ? jsonOf(source, configFile) : modelConfigJson(config);
    const torchDtype = { F32: 'float32', F16: 'float16', BF16: 'bfloat16' }[dtype];
    const json = JSON.stringify({ ...base, dtype: torchDtype, torch_dtype: torchDtype }, null, 2) + '\n';
    await writeFile(join(folder, configFile), json);
  });
  const tensors = new Map<string, { shape: readonly number[]; data: Float32Array }>();
  for (const [name, shape] of parameterShapes(config)) {
    const data = parameters.get(name);
    if (data === undefined) throw new Error(`internal: the parameter '${name}' is not there to be saved`);
    tensors.set(name, { shape, data });
  }
  await writeSafetensors(join(folder, 'model.safetensors'), tensors, { dtype });
}

/** What every text has; a tokenizer without tokens for them would leave them out, and nobody would see it. */
const commonCharacters = 'abcdefghijklmnopqrstuvwxyz \n';

function loadCodec(
  source: ModelSource,
  rawConfig: Readonly<Record<string, unknown>>,
  config: LlamaConfig,
): HuggingFaceCodec {
  const folder = source.path;
  const tokenizerConfig = jsonOf(source, 'tokenizer_config.json');
  const generation = source.files.has('generation_config.json') ? jsonOf(source, 'generation_config.json') : {};
  const codec = new HuggingFaceCodec({
    tokenizer: jsonOf(source, 'tokenizer.json'),
    tokenizerConfig,
    chatTemplate: chatTemplateOf(source, tokenizerConfig),
    eosTokenIds: eosIds(generation.eos_token_id ?? rawConfig.eos_token_id),
    where: folder,
  });
  const lost = [...commonCharacters].find((character) => !codec.decode(codec.encode(character)).includes(character));
  if (lost !== undefined)
    throw badInput(say`The tokenizer of '${folder}' has no token for ${quoted(lost)}.`, 'Use a whole tokenizer.');
  const greatest = Math.max(codec.vocabularySize - 1, ...codec.stopTokenIds);
  if (greatest >= config.vocabularySize)
    throw badInput(
      say`The tokenizer of '${folder}' has the id ${greatest}, its model only ${config.vocabularySize} tokens.`,
      'Use the tokenizer that belongs to the model.',
    );
  return codec;
}

function chatTemplateOf({ path, files }: ModelSource, tokenizerConfig: Readonly<Record<string, unknown>>): string {
  const separate = files.get('chat_template.jinja');
  if (separate !== undefined) return separate.toString('utf8');
  const inline = tokenizerConfig.chat_template;
  if (typeof inline === 'string') return inline;
  const named = z.array(z.object({ name: z.string(), template: z.string() })).safeParse(inline);
  const chosen =
    named.data?.find(({ name }) => name === 'tool_use') ?? named.data?.find(({ name }) => name === 'default');
  if (chosen === undefined)
    throw badInput(say`The model '${path}' has no chat template.`, 'Use a chat or instruct model.');
  return chosen.template;
}

/** More than any model has. */
const mostEnds = 64;

/** `eos_token_id` is a number, a list of them, or absent. */
function eosIds(value: unknown): number[] {
  const ids = z.array(z.int().nonnegative()).safeParse(Array.isArray(value) ? value.slice(0, mostEnds) : [value]);
  return ids.success ? ids.data : [];
}

async function attemptWrite(folder: string, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (error instanceof WhetstoneError) throw error;
    throw badInput(
      say`Cannot write the checkpoint '${folder}': ${reasonOf(error)}.`,
      'Check that the folder is writable and the disk is not full.',
      error,
    );
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
