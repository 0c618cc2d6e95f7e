import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { badInput } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import type { LlamaConfig } from './llamaConfig.js';
import { readSafetensors, writeSafetensors } from './safetensors.js';

/**
 * A critic on top of the policy: V_t = w . h + b, h the hidden state after the last norm of the token before t, so the value of
 * what the policy saw when it sampled token t. Not divided by the temperature, as logits are.
 */
export type ValueHead = ReadonlyMap<string, Float32Array>;

export const valueHeadParameter = { weight: 'value_head.weight', bias: 'value_head.bias' } as const;

export const valueHeadShapes = ({ hiddenSize }: LlamaConfig): Map<string, number[]> =>
  new Map([
    [valueHeadParameter.weight, [1, hiddenSize]],
    [valueHeadParameter.bias, [1]],
  ]);

/** One that says 0 of everything, so that its first update leaves the layers below it as they are. */
export const freshValueHead = ({ hiddenSize }: LlamaConfig): Map<string, Float32Array> =>
  new Map([
    [valueHeadParameter.weight, new Float32Array(hiddenSize)],
    [valueHeadParameter.bias, new Float32Array(1)],
  ]);

/** Beside the model, whose own file stays as others read it. */
const fileOf = (folder: string) => join(folder, 'value_head.safetensors');

export async function saveValueHead(folder: string, config: LlamaConfig, head: ValueHead): Promise<void> {
  const shapes = valueHeadShapes(config);
  const tensors = [...head].map(([name, data]) => [name, { shape: shapes.get(name)!, data }] as const);
  await writeSafetensors(fileOf(folder), new Map(tensors));
}

/** Throws bad-input where the folder has none; its shapes are the caller's to check. */
export async function loadValueHead(folder: string): Promise<ValueHead> {
  const file = fileOf(folder);
  if (!existsSync(file)) {
    throw badInput(say`The checkpoint '${folder}' has no critic (value_head.safetensors).`, 'Resume from another one.');
  }
  return new Map([...(await readSafetensors(file))].map(([name, { data }]) => [name, data] as const));
}
