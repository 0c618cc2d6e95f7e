import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LlamaConfig } from '../../src/trainer/model/llamaConfig.js';
import type { AdamWOptions, SequenceCoefficients, TrainingSequence } from '../../src/trainer/model/policy.js';
import { readSafetensors } from '../../src/trainer/model/safetensors.js';

/** What `scripts/golden/llama_golden.py` wrote: see there. */
export interface GoldenModel {
  readonly config: LlamaConfig;
  /** A fresh copy at each call. */
  parameters(): Promise<Map<string, Float32Array>>;
  readonly sequences: readonly TrainingSequence[];
  readonly coefficients: readonly SequenceCoefficients[];
  /** Arrays start at the second token. */
  readonly scores: readonly { temperature: number; logprobs: number[][]; entropies: number[][] }[];
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

export const goldenNames = ['llama-grouped', 'llama-tied'] as const;

export async function readGoldenModel(name: (typeof goldenNames)[number]): Promise<GoldenModel> {
  const folder = join(import.meta.dirname, '..', '..', 'test-fixtures', 'golden', name);
  const json = async (file: string): Promise<unknown> => JSON.parse(await readFile(join(folder, file), 'utf8'));
  const tensors = async (file: string) =>
    new Map([...(await readSafetensors(join(folder, file)))].map(([key, { data }]) => [key, data]));
  const golden = (await json('golden.json')) as GoldenFile;
  return {
    ...golden,
    config: configOf((await json('config.json')) as Record<string, never>),
    parameters: () => tensors('model.safetensors'),
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

function configOf(json: Record<string, never> & { rope_parameters?: { rope_theta: number } }): LlamaConfig {
  return {
    vocabularySize: json['vocab_size'],
    hiddenSize: json['hidden_size'],
    intermediateSize: json['intermediate_size'],
    layers: json['num_hidden_layers'],
    heads: json['num_attention_heads'],
    keyValueHeads: json['num_key_value_heads'],
    headDim: json['head_dim'],
    ropeTheta: json.rope_parameters!.rope_theta,
    rmsEpsilon: json['rms_norm_eps'],
    tieEmbeddings: json['tie_word_embeddings'],
    maxPositions: json['max_position_embeddings'],
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
