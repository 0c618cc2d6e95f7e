import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseModelConfig } from '../../src/trainer/model/config.js';
import type { LlamaConfig } from '../../src/trainer/model/llamaConfig.js';
import type { AdamWOptions, SequenceCoefficients, TrainingSequence } from '../../src/trainer/model/policy.js';
import { readSafetensors } from '../../src/trainer/model/safetensors.js';
import { loadParameters } from '../../src/trainer/model/weights.js';

/** What `scripts/golden/llama_golden.py` wrote: see there. */
export interface GoldenModel {
  readonly config: LlamaConfig;
  /** A fresh copy at each call. */
  parameters(): Promise<Map<string, Float32Array>>;
  readonly sequences: readonly TrainingSequence[];
  readonly coefficients: readonly SequenceCoefficients[];
  /** Arrays start at the second token. */
  readonly scores: readonly { temperature: number; logprobs: number[][]; entropies: number[][] }[];
  /** By a sequence's index: [time, vocabulary] at temperature 1. */
  readonly logits: ReadonlyMap<string, Float32Array>;
  readonly gradientTemperature: number;
  readonly gradients: ReadonlyMap<string, Float32Array>;
  readonly optimizer: AdamWOptions;
  readonly steps: number;
  readonly stepTemperature: number;
  readonly gradientNorms: readonly number[];
  readonly afterSteps: ReadonlyMap<string, Float32Array>;
}

interface GoldenFile extends Omit<GoldenModel, 'sequences' | 'coefficients'> {
  readonly sequences: readonly {
    tokenIds: number[];
    actionMask: number[];
    logprobCoefficients: number[];
    entropyCoefficients: number[];
  }[];
}

export const goldenNames = [
  'llama-grouped',
  'llama-tied',
  'llama3',
  'llama-linear',
  'qwen2',
  'qwen3',
  'mistral',
  'smollm2',
  'smollm3',
] as const;

export async function readGoldenModel(name: (typeof goldenNames)[number]): Promise<GoldenModel> {
  const folder = join(import.meta.dirname, '..', '..', 'test-fixtures', 'golden', name);
  const json = async (file: string): Promise<unknown> => JSON.parse(await readFile(join(folder, file), 'utf8'));
  const tensors = async (file: string) =>
    new Map([...(await readSafetensors(join(folder, file)))].map(([key, { data }]) => [key, data]));
  const golden = (await json('golden.json')) as GoldenFile;
  const config = parseModelConfig(await json('config.json'), folder);
  return {
    ...golden,
    config,
    parameters: () => loadParameters(folder, config),
    logits: await tensors('logits.safetensors'),
    gradients: await tensors('gradients.safetensors'),
    afterSteps: await tensors('after-steps.safetensors'),
    sequences: golden.sequences.map((sequence) => ({
      tokenIds: Int32Array.from(sequence.tokenIds),
      actionMask: Uint8Array.from(sequence.actionMask),
    })),
    coefficients: golden.sequences.map((sequence) => ({
      logprobs: Float32Array.from(sequence.logprobCoefficients),
      entropies: Float32Array.from(sequence.entropyCoefficients),
    })),
  };
}

/** Largest difference relative to the largest number of the reference. */
export function relativeError(found: Float32Array, wanted: Float32Array): number {
  let scale = 1e-12;
  let difference = 0;
  for (let i = 0; i < wanted.length; i++) {
    scale = Math.max(scale, Math.abs(wanted[i]));
    difference = Math.max(difference, Number.isFinite(found[i]) ? Math.abs(found[i] - wanted[i]) : Infinity);
  }
  return difference / scale;
}
