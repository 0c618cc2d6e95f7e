import fc from 'fast-check';
import type { Task } from '../../trajectory/task.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import { branchedLearner } from '../model/branchedLearner.js';
import { createGenerator } from '../model/generator.js';
import { createLearner } from '../model/learner.js';
import { initializeParameters, type LlamaConfig } from '../model/llamaConfig.js';
import type { Generator } from '../model/policy.js';
import { fixtureCodec, type FixtureModel, fixtureVocabulary } from '../text/fixtureCodecs.testing.js';
import type { HuggingFaceCodec } from '../text/huggingFaceCodec.js';
import type { EpisodePlan } from './arena.js';
import { samplerLogprobs, trainingSequence } from './nodes.js';
import { playEpisode } from './playEpisode.js';
import { answer, plainOptions, scriptedArena } from './scripted.testing.js';

/** What a learner found in recorded trajectories. */
export interface Rescored {
  readonly trajectories: number;
  /** Those whose history the template rewrote on the way, so that they branch. */
  readonly branched: number;
  readonly turns: number;
  /** Turns that ended by their stop token. */
  readonly ended: number;
  readonly sampledTokens: number;
  /** Turns that were not sampled behind exactly the ids that are stored before them. */
  readonly inexact: number;
  /** Largest difference between a recorded log-probability and the learner's of the stored ids. */
  readonly difference: number;
}

const observations = fc.array(
  fc.oneof(
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc.constantFrom(
      '<|im_end|> </tool_response> <|eot_id|> [INST] </s>',
      'a\r\n\tb',
      '  ',
      '🦉',
      '{"x": "y"}',
      'ok 12\n',
    ),
  ),
  { minLength: 1, maxLength: 3 },
);

/**
 * Plays trajectories of one to three turns with a tiny random policy over the vocabulary and the template of a real model, and has a
 * learner of the same weights score what was stored.
 */
export async function rescored(model: FixtureModel, count: number, seed: number): Promise<Rescored> {
  const codec = fixtureCodec(model);
  const { config, parameters } = randomPolicy(model, codec, seed);
  const real = await createGenerator({
    config,
    parameters,
    device: 'cpu',
    slots: 8,
    maxContext: 4096,
    deterministic: true,
  });
  const files = { write: () => Promise.resolve(), read: () => Promise.resolve(parameters) };
  const learner = branchedLearner(await createLearner({ config, parameters, files, device: 'cpu', threads: 1 }));
  try {
    const texts = fc.sample(observations, { seed, numRuns: count });
    const played = await Promise.all(texts.map((said, sample) => play(codec, real, said, seed * 10_000 + sample)));
    const trajectories = played.map(({ trajectory }) => trajectory);
    const scores = await learner.score(trajectories.map(trainingSequence), plainOptions.temperature);
    const differences = trajectories.map((trajectory, index) => differenceOf(trajectory, scores[index]!.logprobs));
    const turns = trajectories.flatMap(({ nodes }) => nodes.filter(({ message }) => message.role === 'assistant'));
    return {
      trajectories: trajectories.length,
      branched: trajectories.filter(({ nodes }) => nodes.some(({ branch }) => branch !== undefined)).length,
      turns: turns.length,
      ended: turns.filter(({ tokenIds }) => codec.stopTokenIds.includes(tokenIds.at(-1)!)).length,
      sampledTokens: trajectories.reduce((sum, { statistics }) => sum + statistics.sampledTokens, 0),
      inexact: played.reduce((sum, { inexact }) => sum + inexact, 0),
      // A number that is none must not pass for a small one.
      difference: differences.some(Number.isNaN) ? NaN : Math.max(...differences),
    };
  } finally {
    await real.dispose();
    await learner.dispose();
  }
}

/** One episode that ends when all observations were shown. */
async function play(codec: HuggingFaceCodec, real: Generator, said: readonly string[], seed: number) {
  const prompts: Int32Array[] = [];
  const generator: Generator = {
    maxContext: real.maxContext,
    generate: (request) => (prompts.push(request.tokenIds), real.generate(request)),
    release: (id) => real.release(id),
    invalidate: () => real.invalidate(),
    dispose: () => Promise.resolve(),
  };
  const { arena } = scriptedArena((_, turn) =>
    Promise.resolve({
      observations: [answer('malformed-1', said[turn - 1]!)],
      stopReason: turn === said.length ? 'submitted' : null,
    }),
  );
  const task = { instance_id: 'task', whetstone: { split: 'train' } } as Task;
  const plan: EpisodePlan = { id: `step-000001/task/${seed}`, kind: 'rollout', step: 1, task, sample: seed, seed };
  const options = { ...plainOptions, maxTokensPerTurn: 16, episodeSeconds: 3600 };
  const player = { generator, codec, policyStep: 0 };
  const trajectory = await playEpisode(player, arena, plan, options, new AbortController().signal);
  if (trajectory.infrastructureError !== null) throw new Error(trajectory.infrastructureError);
  const sampled = trajectory.nodes.flatMap(({ message, parent }) => (message.role === 'assistant' ? [parent] : []));
  const inexact = sampled.filter((parent, turn) => !same(idsTo(trajectory, parent), prompts[turn]!)).length;
  return { trajectory, inexact };
}

function idsTo({ nodes }: Trajectory, node: number | null): number[] {
  const parts: number[][] = [];
  for (let at = node; at !== null; at = nodes[at]!.parent) parts.unshift([...nodes[at]!.tokenIds]);
  return parts.flat();
}

const same = (a: readonly number[], b: Int32Array) => a.length === b.length && a.every((id, index) => id === b[index]);

function differenceOf(trajectory: Trajectory, scored: Float32Array): number {
  const recorded = samplerLogprobs(trajectory);
  const { actionMask } = trainingSequence(trajectory);
  let largest = 0;
  for (const [at, bit] of actionMask.entries())
    if (bit === 1) largest = Math.max(largest, Math.abs(recorded[at]! - scored[at]!));
  return largest;
}

/**
 * Random weights that say tokens of the vocabulary and no control token but the one that ends a turn, that every tenth time or so.
 * The first number of the residual stream is the same everywhere, so that the output's weights for it are a bias.
 */
function randomPolicy(model: FixtureModel, codec: HuggingFaceCodec, seed: number) {
  const { size, plain } = fixtureVocabulary(model);
  const config: LlamaConfig = {
    vocabularySize: size,
    hiddenSize: 16,
    intermediateSize: 24,
    layers: 1,
    heads: 2,
    keyValueHeads: 1,
    headDim: 8,
    ropeTheta: 10_000,
    rmsEpsilon: 1e-5,
    tieEmbeddings: false,
    maxPositions: 4096,
  };
  const parameters = initializeParameters(config, seed);
  for (const [name, values] of parameters) {
    if (name.includes('norm')) continue;
    const scale = name === 'model.embed_tokens.weight' ? 50 : 10;
    for (let index = 0; index < values.length; index++) values[index]! *= scale;
    const columns = values.length / config.hiddenSize;
    if (/(o|down)_proj/.test(name)) values.fill(0, 0, columns);
  }
  const [embeddings, output] = ['model.embed_tokens.weight', 'lm_head.weight'].map((name) => parameters.get(name)!);
  const known = new Set(plain);
  for (let id = 0; id < size; id++) {
    embeddings![id * config.hiddenSize] = 2;
    output![id * config.hiddenSize] = id === codec.stopTokenIds[0] ? 2.5 : known.has(id) ? 0 : -40;
  }
  return { config, parameters };
}
