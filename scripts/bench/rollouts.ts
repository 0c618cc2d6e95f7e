/**
 * Speed of rollouts:
 *   npm run bench rollouts [-- --model small|30m|135m --sequences 1,8,32 --rounds N --threads N --python PATH
 *     --episodes N --sandbox KIND]
 *
 * - tokens: sampled tokens a second at 1, 8 and 32 sequences (or as told) of 128 given and 64 sampled tokens each, by the clock
 *   and by the processor's time, which other programs disturb less where there is one thread. `--python` names a Python with
 *   transformers and torch, or xllamacpp (llama.cpp's server), or both: they then do the same with the same weights and threads,
 *   in turn with ours, and must find the same tokens most probable
 * - episodes: N of them side by side (none where N is 0), played by the scripted expert on a small repository: episodes a minute,
 *   the share of their time that they wait for a slot, and what is left of file handles, processes and worktrees
 * - cancellation: as many again, cancelled in the middle: the time until all have let go
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { openEnvironment } from '../../src/env/openEnvironment.js';
import { sandboxChoiceSchema } from '../../src/env/sandbox/sandboxChoice.js';
import { buildTasks, defaultBuildOptions } from '../../src/env/tasks/buildTasks.js';
import type { LlamaConfig } from '../../src/trainer/model/llamaConfig.js';
import { expertPlayer } from '../../src/trainer/policies/expertPlayer.js';
import type { Arena } from '../../src/trainer/rollout/arena.js';
import { environmentArena, samplingOptions } from '../../src/trainer/rollout/environmentArena.js';
import { playGroups } from '../../src/trainer/rollout/playGroups.js';
import { parseSettings } from '../../src/trainer/run/settings.js';
import { models } from './models.js';
import { compareTokenSpeeds } from './tokenSpeeds.js';

const { values } = parseArgs({
  options: {
    model: { type: 'string', default: '30m' },
    episodes: { type: 'string', default: '200' },
    threads: { type: 'string', default: String(availableParallelism()) },
    sandbox: { type: 'string', default: 'auto' },
    sequences: { type: 'string', default: '1,8,32' },
    rounds: { type: 'string', default: '5' },
    python: { type: 'string' },
  },
});
const config = models[values.model];
if (!config) throw new Error(`"${values.model}" is no model: name ${Object.keys(models).join(' or ')}.`);
const [episodes, threads, rounds] = [Number(values.episodes), Number(values.threads), Number(values.rounds)];

function smallRepository(folder: string): string {
  for (const name of ['src', 'test']) mkdirSync(path.join(folder, name), { recursive: true });
  const write = (name: string, text: string) => writeFileSync(path.join(folder, name), text);
  write('package.json', '{ "name": "small", "type": "module", "scripts": { "test": "node --test" } }\n');
  write(
    'src/clamp.js',
    'export function clamp(value, low, high) {\n  if (value < low) return low;\n  if (value > high) return high;\n  return value;\n}\n',
  );
  write(
    'test/clamp.test.js',
    "import test from 'node:test';\nimport assert from 'node:assert';\nimport { clamp } from '../src/clamp.js';\n" +
      "test('low', () => assert.equal(clamp(1, 2, 5), 2));\ntest('high', () => assert.equal(clamp(9, 2, 5), 5));\ntest('inside', () => assert.equal(clamp(3, 2, 5), 3));\n",
  );
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, stdio: 'pipe' });
  git('init', '--quiet');
  git('add', '--all');
  git('-c', 'user.name=Bench', '-c', 'user.email=bench@example.invalid', 'commit', '--quiet', '--message=First');
  return folder;
}

/** What a leak would show in; file handles and processes on Linux only. */
function held(stateFolder: string) {
  const count = (folder: string) => {
    try {
      return readdirSync(folder).length;
    } catch {
      return 0;
    }
  };
  const children = (() => {
    try {
      return readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' ').filter(Boolean).length;
    } catch {
      return 0;
    }
  })();
  return {
    handles: count('/proc/self/fd'),
    children,
    worktrees: count(path.join(stateFolder, 'worktrees')),
    megabytes: Math.round(process.memoryUsage().rss / 2 ** 20),
  };
}

async function benchEpisodes(folder: string): Promise<void> {
  const environment = await openEnvironment({
    path: smallRepository(folder),
    sandbox: sandboxChoiceSchema.parse(values.sandbox),
    janitorScript: path.join(process.cwd(), 'dist/janitor.cjs'),
  });
  try {
    const build = { ...defaultBuildOptions, sources: ['injection' as const], limit: 3, validationRuns: 1 };
    const { tasks } = await buildTasks(environment, build);
    if (tasks.length === 0) throw new Error('No task could be built.');
    const settings = parseSettings({ episodeSeconds: 600 });
    let busy = 0;
    const timed = async <T>(work: () => Promise<T>): Promise<T> => {
      const started = performance.now();
      try {
        return await work();
      } finally {
        busy += performance.now() - started;
      }
    };
    const inner = environmentArena(environment, settings);
    const arena: Arena = {
      sandbox: inner.sandbox,
      startEpisode: async (task, signal) => {
        const episode = await timed(() => inner.startEpisode(task, signal));
        return { ...episode, finish: (ended) => timed(() => episode.finish(ended)) };
      },
    };
    const plans = Array.from({ length: episodes }, (_, sample) => ({
      id: `step-000001/bench/${sample}`,
      kind: 'rollout' as const,
      step: 1,
      sample,
      seed: sample,
      task: tasks[sample % tasks.length]!,
    }));
    const play = (signal: AbortSignal, onTrajectory: () => void) =>
      playGroups(expertPlayer, arena, plans, samplingOptions(settings, 'rollout'), {
        concurrency: episodes,
        signal,
        gate: () => Promise.resolve(),
        onTrajectory,
      });
    const before = held(environment.stateFolder);
    const started = performance.now();
    const ends: number[] = [];
    const played = await play(new AbortController().signal, () => ends.push(performance.now() - started));
    const seconds = (performance.now() - started) / 1000;
    const total = ends.reduce((sum, end) => sum + end, 0);
    const commands = played.reduce((sum, { statistics }) => sum + statistics.seconds * 1000, 0);
    const resolved = played.filter(({ grade }) => grade?.resolved).length;
    console.log(
      `  ${episodes} side by side: ${((60 * episodes) / seconds).toFixed(0)} episodes a minute, ${resolved} resolved, trees and grades take ${((100 * busy) / total).toFixed(0)} % of their time, from the first turn on ${((100 * commands) / total).toFixed(0)} %, the rest is waiting to start`,
    );
    console.log(`  held before: ${JSON.stringify(before)}, after: ${JSON.stringify(held(environment.stateFolder))}`);
    const abort = new AbortController();
    let done = 0;
    let cancelledAt = 0;
    const cancelled = play(abort.signal, () => {
      if (++done < Math.min(10, episodes / 2)) return;
      cancelledAt ||= performance.now();
      abort.abort();
    });
    await cancelled.catch(() => undefined);
    console.log(`  cancelled: all have let go after ${((performance.now() - cancelledAt) / 1000).toFixed(2)} s`);
    console.log(`  held after: ${JSON.stringify(held(environment.stateFolder))}`);
  } finally {
    await environment.dispose();
  }
}

async function main(shape: LlamaConfig): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'bench-rollouts-'));
  try {
    console.log(`tokens (${values.model}, ${threads} threads)`);
    const batches = values.sequences.split(',').map(Number);
    const options = { shape, threads, batches, rounds, folder, python: values.python };
    if (!(await compareTokenSpeeds(options))) process.exitCode = 1;
    if (episodes === 0) return;
    console.log('episodes');
    await benchEpisodes(path.join(folder, 'repo'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

void main(config);
