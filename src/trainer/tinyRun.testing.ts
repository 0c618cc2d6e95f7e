import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startEpisode } from '../env/episode.js';
import { openEnvironment } from '../env/openEnvironment.js';
import { buildTasks, defaultBuildOptions } from '../env/tasks/buildTasks.js';
import { supervisedCoefficients } from './algorithm/supervised.js';
import { loadPolicy } from './loadPolicy.js';
import type { TrainingSequence } from './model/policy.js';
import { NodePath } from './rollout/nodes.js';
import { episodeLimits } from './run/episodeLimits.js';
import { parseSettings, type Settings } from './run/settings.js';
import { writeTinyPolicy } from './tinyPolicy.testing.js';

const files = {
  'package.json': '{ "name": "tiny", "version": "1.0.0", "type": "module", "scripts": { "test": "node --test" } }\n',
  'src/math.js': `export function add(a, b) {
  return a + b;
}

export function clamp(value, low, high) {
  if (value < low) return low;
  if (value > high) return high;
  return value;
}
`,
  'test/math.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { add, clamp } from '../src/math.js';

test('add', () => assert.equal(add(2, 3), 5));
test('clamp low', () => assert.equal(clamp(-1, 0, 5), 0));
test('clamp high', () => assert.equal(clamp(9, 0, 5), 5));
test('clamp inside', () => assert.equal(clamp(3, 0, 5), 3));
`,
};

/** A repository with a few stored tasks, and a policy that half of the time submits and half of the time gives up. */
export interface TinyWorld {
  readonly root: string;
  readonly repoRoot: string;
  readonly stateFolder: string;
  readonly settings: Settings;
}

/** Builds it under a path with a space, a quote and a letter beyond ASCII. Takes some ten seconds. */
export async function createTinyWorld(): Promise<TinyWorld> {
  const root = mkdtempSync(path.join(os.tmpdir(), "tiny 'wörld "));
  const repoRoot = path.join(root, 'repo');
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(repoRoot, name)), { recursive: true });
    writeFileSync(path.join(repoRoot, name), text);
  }
  // Fixed, so that the commit, and with it every task's id and every seed, is the same each time.
  const date = '2026-01-01T00:00:00Z';
  const env = { ...process.env, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
  const git = (...args: string[]) => execFileSync('git', args, { cwd: repoRoot, stdio: 'pipe', env });
  git('init', '--quiet');
  git('add', '.');
  git('-c', 'user.name=Tiny', '-c', 'user.email=tiny@example.org', 'commit', '--quiet', '-m', 'First');
  const settings = parseSettings({
    model: await writeTinyPolicy(root),
    device: 'cpu',
    // Every kind of stage, and all that a step's plan is made of.
    stages: [
      { method: 'rejection-sampling', steps: 1, negativeWeight: 0.1 },
      { method: 'dpo', steps: 1, recorded: true, learningRate: 1e-4 },
      { method: 'policy-gradient', steps: 2 },
    ],
    curriculum: { order: 'adaptive', horizonStart: 3 },
    exploration: { temperatureEnd: 1.2, temperatureSpread: 0.1 },
    replay: { groups: 1 },
    algorithm: { dynamicSampling: 1, overlongBuffer: 100 },
    tasksPerStep: 2,
    groupSize: 2,
    maxTurns: 5,
    maxTokensPerTurn: 256,
    warmStartEpochs: 2,
    warmStartLearningRate: 1e-4,
    warmStartNegativeWeight: 0.05,
    evaluationTasks: 1,
    evaluationSamples: 2,
    learningRate: 1e-3,
    checkpointEvery: 2,
    deterministic: true,
  });
  const environment = await openEnvironment({
    path: repoRoot,
    sandbox: 'auto',
    janitorScript: path.resolve('dist/janitor.cjs'),
  });
  try {
    await buildTasks(environment, { ...defaultBuildOptions, sources: ['injection'], limit: 5, validationRuns: 1 });
    await halfTrain(environment, settings);
    return { root, repoRoot, stateFolder: environment.stateFolder, settings };
  } finally {
    await environment.dispose();
  }
}

type TinyEnvironment = Awaited<ReturnType<typeof openEnvironment>>;

/** Teaches the two answers by heart, so that rewards in a group differ and weights really move. */
async function halfTrain(environment: TinyEnvironment, settings: Settings): Promise<void> {
  const { tasks } = await buildTasks(environment, {
    ...defaultBuildOptions,
    sources: ['injection'],
    limit: 5,
    validationRuns: 1,
  });
  const policy = await loadPolicy(settings, environment.repoRoot);
  const sequences: TrainingSequence[] = [];
  for (const task of tasks.slice(0, 2)) {
    const episode = await startEpisode(environment, task, episodeLimits(settings));
    const prompt = new NodePath();
    for (const { message, tokenIds } of policy.codec.promptNodes(episode.prompt, episode.tools)) {
      prompt.addGiven(message, tokenIds);
    }
    await episode.dispose();
    for (const answer of ['<tool_call>\n{"name": "submit", "arguments": {}}\n</tool_call>', 'You pass.']) {
      const turn = policy.codec.encodeTurn(answer);
      sequences.push({
        tokenIds: Int32Array.from([...prompt.tokenIds(), ...turn]),
        actionMask: Uint8Array.from([...new Uint8Array(prompt.tokens), ...new Uint8Array(turn.length).fill(1)]),
      });
    }
  }
  const adamw = { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0, maxGradientNorm: 1 };
  for (let step = 0; step < 40; step++) {
    const coefficients = sequences.map(({ actionMask }) => ({
      logprobs: supervisedCoefficients(actionMask, 12 * sequences.length),
      entropies: null,
    }));
    await policy.learner.accumulate(sequences, coefficients, 1);
    await policy.learner.step({ ...adamw, learningRate: 1e-2 });
  }
  await policy.learner.save(settings.model, { optimizer: false });
  await policy.dispose();
}
