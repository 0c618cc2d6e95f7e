import { existsSync } from 'node:fs';
import { appendFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createLearner, type LlamaLearner } from '../../../src/trainer/model/learner.js';
import { saveCheckpoint } from '../../../src/trainer/model/checkpoint.js';
import type { LlamaConfig } from '../../../src/trainer/model/llamaConfig.js';
import type { SequenceCoefficients, SequenceScores, TrainingSequence } from '../../../src/trainer/model/policy.js';
import { loadParameters } from '../../../src/trainer/model/weights.js';
import { Rng } from '../programs/rng.js';
import { copyingStart } from './copyingStart.js';
import { type EncodedEpisode, TokenKind } from './encodeEpisode.js';

export interface TrainingPlan {
  readonly config: LlamaConfig;
  readonly seed: number;
  readonly steps: number;
  readonly batchTokens: number;
  readonly learningRate: number;
  readonly warmupSteps: number;
  /** Steps at the end in which the learning rate falls to a twentieth. */
  readonly decaySteps: number;
  /** Sequences of the first steps are at most this long. */
  readonly shortSteps: number;
  readonly shortTokens: number;
  readonly threads: number;
}

interface TrainingState {
  readonly step: number;
  /** Round through the episodes, and the batch of that round that comes next. */
  readonly round: number;
  readonly place: number;
  readonly tokens: number;
}

/** Weight of a token in the loss: what is not the policy's own still teaches it to copy, early on above all. */
function weightOf(kind: number, progress: number): number {
  if (kind === TokenKind.turn) return 1;
  if (kind === TokenKind.edit) return 2;
  if (kind === TokenKind.mistake) return 0;
  return 0.2 - 0.15 * Math.min(1, 2 * progress);
}

/** Warm-up, a long plateau, and a linear end. */
export function learningRateAt(step: number, plan: TrainingPlan): number {
  const warm = Math.min(1, (step + 1) / plan.warmupSteps);
  const left = (plan.steps - step) / plan.decaySteps;
  return plan.learningRate * warm * Math.min(1, Math.max(0.05, left));
}

/**
 * Supervised training through the product's learner, resumed from `folder/checkpoint` where there is one. The episodes
 * are asked for anew at every checkpoint, since more of them may have been made.
 */
export async function train(
  folder: string,
  plan: TrainingPlan,
  tokenTexts: readonly string[],
  episodes: () => Promise<readonly EncodedEpisode[]>,
  heldOut: readonly EncodedEpisode[],
  log: (line: string) => void,
): Promise<LlamaLearner> {
  const checkpoint = join(folder, 'checkpoint');
  await mkdir(folder, { recursive: true });
  const resumed = existsSync(checkpoint);
  const parameters = resumed
    ? await loadParameters(checkpoint, plan.config)
    : copyingStart(plan.config, tokenTexts, plan.seed);
  const files = {
    write: (place: string, values: ReadonlyMap<string, Float32Array>) =>
      saveCheckpoint(place, { config: plan.config, parameters: values, sourceFolder: folder }),
    read: (place: string) => loadParameters(place, plan.config),
  };
  const learner = await createLearner({ config: plan.config, parameters, device: 'cpu', threads: plan.threads, files });
  let state: TrainingState = { step: 0, round: 0, place: 0, tokens: 0 };
  if (resumed) {
    await learner.load(checkpoint, { optimizer: true });
    state = JSON.parse(await readFile(join(checkpoint, 'state.json'), 'utf8')) as TrainingState;
  }
  let stream = new EpisodeStream(await episodes(), plan);
  let lastSave = Date.now();
  let meter = freshMeter();
  while (state.step < plan.steps) {
    const { batch, next } = stream.batch(state);
    const progress = state.step / plan.steps;
    const { sequences, coefficients } = prepare(batch, progress);
    const scores = await learner.accumulate(sequences, coefficients, 1);
    const { gradientNorm, skipped } = await learner.step({
      learningRate: learningRateAt(state.step, plan),
      beta1: 0.9,
      beta2: 0.97,
      epsilon: 1e-8,
      weightDecay: 0.01,
      maxGradientNorm: 1,
    });
    const tokens = batch.reduce((sum, episode) => sum + episode.tokenIds.length, 0);
    state = { step: state.step + 1, ...next, tokens: state.tokens + tokens };
    measure(meter, batch, scores);
    if (skipped) log(`step ${state.step}: skipped, the gradient is not finite`);
    if (state.step % 20 === 0) {
      log(
        `step ${state.step} ${report(meter)} norm ${gradientNorm.toFixed(2)} tokens ${(state.tokens / 1e6).toFixed(2)}M`,
      );
      meter = freshMeter();
    }
    if (Date.now() - lastSave > 300_000 || state.step === plan.steps) {
      const before = Date.now();
      await saveState(learner, checkpoint, state);
      const evaluation = freshMeter();
      const some = heldOut.slice(0, state.step === plan.steps ? heldOut.length : 24);
      measure(
        evaluation,
        some,
        await learner.score(
          some.map((episode) => sequenceOf(episode, false)),
          1,
        ),
      );
      const line = `step ${state.step} held out: ${report(evaluation)} (${Math.round((Date.now() - before) / 1000)} s)`;
      log(line);
      await appendFile(join(folder, 'evaluations.txt'), `${line}\n`);
      stream = new EpisodeStream(await episodes(), plan);
      lastSave = Date.now();
    }
  }
  return learner;
}

/** Whole or absent: written beside, then renamed. */
async function saveState(learner: LlamaLearner, checkpoint: string, state: TrainingState): Promise<void> {
  const next = `${checkpoint}.next`;
  await rm(next, { recursive: true, force: true });
  await learner.save(next, { optimizer: true });
  await writeFile(join(next, 'state.json'), JSON.stringify(state));
  await rm(checkpoint, { recursive: true, force: true });
  await rename(next, checkpoint);
}

/**
 * Batches of episodes of similar length, so that little is padded and attention spans no more than it must. Every round
 * cuts the shuffled episodes into batches anew; the first steps draw short ones only.
 */
class EpisodeStream {
  private readonly short: readonly EncodedEpisode[];
  private readonly rounds = new Map<string, EncodedEpisode[][]>();

  constructor(
    private readonly all: readonly EncodedEpisode[],
    private readonly plan: TrainingPlan,
  ) {
    this.short = all.filter(({ tokenIds }) => tokenIds.length <= plan.shortTokens);
  }

  batch(state: TrainingState): { batch: EncodedEpisode[]; next: Pick<TrainingState, 'round' | 'place'> } {
    const batches = this.batchesOf(state.step < this.plan.shortSteps ? this.short : this.all, state.round);
    if (state.place >= batches.length) return this.batch({ ...state, round: state.round + 1, place: 0 });
    return { batch: batches[state.place]!, next: { round: state.round, place: state.place + 1 } };
  }

  private batchesOf(pool: readonly EncodedEpisode[], round: number): EncodedEpisode[][] {
    const key = `${round}/${pool.length}`;
    const known = this.rounds.get(key);
    if (known !== undefined) return known;
    const rng = new Rng(this.plan.seed + 7919 * round);
    const length = ({ tokenIds }: EncodedEpisode) => Math.ceil(tokenIds.length / 64);
    const sorted = rng.shuffle(pool).sort((a, b) => length(a) - length(b));
    const batches: EncodedEpisode[][] = [];
    let tokens = Infinity;
    for (const episode of sorted) {
      const size = 64 * length(episode);
      if (tokens + size > this.plan.batchTokens) {
        batches.push([]);
        tokens = 0;
      }
      batches.at(-1)!.push(episode);
      tokens += size;
    }
    const shuffled = rng.shuffle(batches);
    this.rounds.set(key, shuffled);
    return shuffled;
  }
}

function sequenceOf({ tokenIds, kinds }: EncodedEpisode, context: boolean): TrainingSequence {
  const actionMask = Uint8Array.from(kinds, (kind, i) =>
    i > 0 && kind !== TokenKind.mistake && (context || kind !== TokenKind.context) ? 1 : 0,
  );
  return { tokenIds, actionMask };
}

function prepare(
  batch: readonly EncodedEpisode[],
  progress: number,
): { sequences: TrainingSequence[]; coefficients: SequenceCoefficients[] } {
  const weights = batch.map(({ kinds }) =>
    Float32Array.from(kinds, (kind, i) => (i === 0 ? 0 : weightOf(kind, progress))),
  );
  const total = weights.reduce((sum, row) => sum + row.reduce((a, b) => a + b, 0), 0);
  return {
    sequences: batch.map((episode) => sequenceOf(episode, true)),
    coefficients: weights.map((row) => ({ logprobs: row.map((weight) => -weight / total), entropies: null })),
  };
}

interface Meter {
  readonly sums: Float64Array;
  readonly counts: Float64Array;
  wholeEdits: number;
  edits: number;
}

const freshMeter = (): Meter => ({ sums: new Float64Array(4), counts: new Float64Array(4), wholeEdits: 0, edits: 0 });

/** Mean loss by kind of token, and the mean probability of whole edit turns: how often sampling would give them. */
function measure(meter: Meter, batch: readonly EncodedEpisode[], scores: readonly SequenceScores[]): void {
  batch.forEach(({ kinds }, index) => {
    const { logprobs } = scores[index]!;
    let turn = 0;
    kinds.forEach((kind, i) => {
      const logprob = logprobs[i]!;
      if (!Number.isNaN(logprob)) {
        meter.sums[kind]! -= logprob;
        meter.counts[kind]! += 1;
      }
      if (kind !== TokenKind.edit) return;
      turn += logprob;
      if (kinds[i + 1] === TokenKind.edit) return;
      meter.wholeEdits += Math.exp(turn);
      meter.edits += 1;
      turn = 0;
    });
  });
}

function report({ sums, counts, wholeEdits, edits }: Meter): string {
  const mean = (kind: number) => (sums[kind]! / Math.max(1, counts[kind]!)).toFixed(3);
  return `context ${mean(TokenKind.context)} turn ${mean(TokenKind.turn)} edit ${mean(TokenKind.edit)} whole edits ${(wholeEdits / Math.max(1, edits)).toFixed(3)}`;
}
