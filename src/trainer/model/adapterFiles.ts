import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { z } from 'zod';
import { badInput } from '../../trajectory/errors.js';
import { say, type Said } from '../../trajectory/said.js';
import { elementCount, type LlamaConfig } from './llamaConfig.js';
import { factorShapes, projections, type Adapter, type AdapterConfig, type Projection } from './lora.js';
import { quoted } from './quoted.js';
import { readSafetensors, readSafetensorsHeader, showShape, writeSafetensors } from './safetensors.js';
import { readSmallFile } from './smallFile.js';

/**
 * Adapters as PEFT keeps them: adapter_config.json and adapter_model.safetensors
 * (https://huggingface.co/docs/peft/developer_guides/checkpoint).
 */
const configFile = 'adapter_config.json';
const weightsFile = 'adapter_model.safetensors';
/** PEFT's model wraps the transformer, which it names thus. */
const prefix = 'base_model.model.';
const largestConfigBytes = 1 << 20;

const isNothing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === false ||
  (typeof value === 'object' && Object.keys(value).length === 0);
const nothing = z.unknown().refine(isNothing, { message: 'it is not supported' }).optional();

/** Fields that would change what the factors mean; parameters that the file holds beside factors are refused by their names. */
const configSchema = z.looseObject({
  peft_type: z.literal('LORA', { message: 'only LORA is supported' }),
  r: z.int().positive(),
  lora_alpha: z.number().positive(),
  use_rslora: z.boolean().nullish(),
  base_model_name_or_path: z.string().min(1).nullish(),
  bias: z.literal('none', { message: 'only "none" is supported' }).nullish(),
  use_dora: nothing,
  use_qalora: nothing,
  fan_in_fan_out: nothing,
  layers_to_transform: nothing,
  layer_replication: nothing,
  rank_pattern: nothing,
  alpha_pattern: nothing,
  alora_invocation_tokens: nothing,
});

const refetch = say`Save the adapter again with PEFT or Whetstone.`;

export const hasAdapter = (folder: string): boolean => existsSync(join(folder, configFile));

/**
 * The model that the adapter in `folder` changes: a folder, or a name as `--model` takes it. Throws `bad-input` where the
 * adapter does not say.
 */
export async function adapterBase(folder: string): Promise<string> {
  const base = (await readConfig(folder)).base_model_name_or_path;
  if (!base) {
    throw badInput(
      say`The adapter '${folder}' does not name its model.`,
      say`Name it as base_model_name_or_path in ${configFile}.`,
    );
  }
  const beside = resolve(folder, base);
  return isAbsolute(base) || !existsSync(join(beside, 'config.json')) ? base : beside;
}

/** How the adapter in `folder` changes its model, without its numbers. Throws `bad-input`. */
export async function readAdapterConfig(folder: string): Promise<AdapterConfig> {
  const fields = await readConfig(folder);
  const { tensors } = await readSafetensorsHeader(join(folder, weightsFile));
  return {
    rank: fields.r,
    alpha: fields.lora_alpha,
    targets: targetsOf(tensors.keys()),
    ...(fields.use_rslora ? { rankStabilized: true } : {}),
  };
}

/** Reads the adapter in `folder`, checked against the model that it is for. Throws `bad-input`, one clear line. */
export async function loadAdapter(folder: string, model: LlamaConfig): Promise<Adapter> {
  const config = await readAdapterConfig(folder);
  const path = join(folder, weightsFile);
  const refuse = (reason: Said) => badInput(say`The adapter '${path}' does not fit its model: ${reason}.`, refetch);
  const { tensors } = await readSafetensorsHeader(path);
  const shapes = factorShapes(model, config);
  for (const [name, { shape }] of tensors) {
    const wanted = name.startsWith(prefix) ? shapes.get(name.slice(prefix.length)) : undefined;
    if (!wanted) throw refuse(say`there is nothing for ${quoted(name)} to change in it`);
    if (shape.join() !== wanted.join())
      throw refuse(say`'${name}' is ${showShape(shape)} and should be ${showShape(wanted)}`);
  }
  if (shapes.size === 0) throw refuse(say`it holds no factors`);
  for (const name of shapes.keys()) if (!tensors.has(prefix + name)) throw refuse(say`'${prefix}${name}' is missing`);
  const stored = await readSafetensors(path);
  const factors = new Map([...shapes.keys()].map((name) => [name, stored.get(prefix + name)!.data]));
  for (const [name, values] of factors) if (!values.every(Number.isFinite)) throw refuse(say`'${name}' is not finite`);
  return { config, factors };
}

/** Writes an adapter; `base` names the model that it changes, as `--model` would. */
export async function saveAdapter(folder: string, model: LlamaConfig, adapter: Adapter, base: string): Promise<void> {
  const { rank, alpha, targets, rankStabilized = false } = adapter.config;
  const config = {
    peft_type: 'LORA',
    task_type: 'CAUSAL_LM',
    base_model_name_or_path: base,
    r: rank,
    lora_alpha: alpha,
    lora_dropout: 0,
    use_rslora: rankStabilized,
    target_modules: targets,
    bias: 'none',
    fan_in_fan_out: false,
    modules_to_save: null,
    inference_mode: true,
  };
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, configFile), `${JSON.stringify(config, null, 2)}\n`);
  } catch (error) {
    throw badInput(
      say`Cannot write the adapter '${folder}' (${String((error as NodeJS.ErrnoException).code)}).`,
      'Check that the folder is writable and the disk is not full.',
      error,
    );
  }
  const tensors = [...factorShapes(model, adapter.config)].map(([name, shape]) => {
    const data = adapter.factors.get(name);
    if (data?.length !== elementCount(shape))
      throw new Error(`internal: the factor '${name}' is not there to be saved`);
    return [prefix + name, { shape, data }] as const;
  });
  await writeSafetensors(join(folder, weightsFile), new Map(tensors));
}

async function readConfig(folder: string): Promise<z.infer<typeof configSchema>> {
  const path = join(folder, configFile);
  let json: unknown;
  try {
    json = JSON.parse((await readSmallFile(path, largestConfigBytes)).toString('utf8'));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw badInput(say`Cannot read '${path}': ${reason}.`, refetch, error);
  }
  const parsed = configSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw badInput(
    say`Cannot use the adapter '${path}': ${issue.path.join('.')}: ${issue.message}.`,
    'Use a plain LoRA adapter.',
  );
}

/** The projections whose factors a file holds: `target_modules` may be a pattern, the names are plain. */
function targetsOf(names: Iterable<string>): Projection[] {
  const modules = new Set([...names].map((name) => /\.(\w+)\.lora_[AB]\.weight$/.exec(name)?.[1]));
  return projections.filter((projection) => modules.has(projection));
}
