/**
 * Kills a training at random moments (SIGKILL), resumes it, and compares what it ends with, bit for bit, with a training that
 * nobody disturbed: weights, critic, optimizer, advantages and rewards. The tiny world goes through every kind of stage, and its
 * policy gradient is PPO with a critic and V-trace. Needs `node esbuild.mjs` before.
 *
 *     npm run bench kills -- 50 --seed 7
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startTraining, type TrainingHandle } from '../../src/trainer/background/client.js';
import { uniformStream } from '../../src/trainer/model/sampling.js';
import { latestCheckpoint } from '../../src/trainer/run/checkpoints.js';
import { openRun, type RunReader } from '../../src/trainer/run/runReader.js';
import { parseSettings } from '../../src/trainer/run/settings.js';
import { createTinyWorld, type TinyWorld } from '../../src/trainer/tinyRun.testing.js';

const { positionals, values } = parseArgs({ options: { seed: { type: 'string' } }, allowPositionals: true });
const wanted = Number(positionals[0] ?? 50);
const uniform = uniformStream(Number(values.seed ?? 1));

/** What a training found out, times of the clock aside. */
async function outcome(run: RunReader) {
  const checkpoint = await latestCheckpoint(run.paths.checkpoints);
  const names = readdirSync(checkpoint!.folder).filter((name) => name.endsWith('.safetensors'));
  const digest = (name: string) =>
    createHash('sha256')
      .update(readFileSync(path.join(checkpoint!.folder, name)))
      .digest('hex');
  return JSON.stringify({
    files: names.sort().map((name) => [name, digest(name)]),
    step: checkpoint!.state.step,
    steps: (await run.steps()).map(({ step, groups, replayed }) => ({ step, groups, replayed })),
    evaluations: (await run.evaluations()).map(({ step, success, meanReward }) => ({ step, success, meanReward })),
  });
}

const start = ({ repoRoot, settings }: TinyWorld, resume?: string) =>
  startTraining({ repoRoot, settings, resume, owner: 'attached', backgroundPath: path.resolve('dist/background.cjs') });

/** Waits for so many events more, and then so long; false where the training ended before. */
function lives(handle: TrainingHandle, run: RunReader, from: number, events: number, ms: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const look = () =>
      void run.events().then((all) => {
        if (all.length - from >= events) setTimeout(() => resolve(true), ms);
      }, reject);
    const listening = handle.onChanged(look);
    void handle.exited.then(() => resolve(false)).finally(() => listening.dispose());
    look();
  });
}

async function main(): Promise<number> {
  const tiny = await createTinyWorld();
  const algorithm = { ...tiny.settings.algorithm, advantage: 'gae', importanceCorrection: 'v-trace' };
  const world = { ...tiny, settings: parseSettings({ ...tiny.settings, algorithm }) };
  try {
    const undisturbed = await start(world);
    const end = await undisturbed.exited;
    if (end.status !== 'completed') throw new Error(end.message);
    const reference = openRun(world.stateFolder, undisturbed.runId);
    const expected = await outcome(reference);
    const length = (await reference.events()).length;
    undisturbed.dispose();
    const killedIn = new Map<string, number>();
    let [kills, runs, different] = [0, 0, 0];
    let handle: TrainingHandle | null = null;
    while (kills < wanted || handle !== null) {
      if (handle === null) runs += 1;
      const resume: string | undefined = handle?.runId;
      const from: number = resume ? (await openRun(world.stateFolder, resume).events()).length : 0;
      handle = await start(world, resume);
      const run = openRun(world.stateFolder, handle.runId);
      const events = kills < wanted ? 1 + Math.floor((uniform() * length) / 3) : Infinity;
      if (await lives(handle, run, from, events, Math.floor(uniform() * 200))) {
        const last = (await run.events()).filter((event) => event.type === 'stage').at(-1);
        process.kill(handle.pid, 'SIGKILL');
        await handle.exited;
        handle.dispose();
        const stage = last?.stage ?? 'start';
        killedIn.set(stage, (killedIn.get(stage) ?? 0) + 1);
        kills += 1;
        if (kills % 10 === 0) process.stderr.write(`${kills} kills\n`);
        // One that had come to its end meanwhile cannot be resumed.
        if ((await run.summary()).status === 'interrupted') continue;
      } else {
        const { status, message } = await handle.exited;
        handle.dispose();
        if (status !== 'completed') throw new Error(message);
      }
      if ((await outcome(run)) !== expected) {
        different += 1;
        process.stderr.write(`Run ${run.id} ended otherwise.\n`);
      }
      handle = null;
    }
    console.log(JSON.stringify({ kills, killedIn: Object.fromEntries(killedIn), runs, different }));
    return different === 0 ? 0 : 1;
  } finally {
    rmSync(world.root, { recursive: true, force: true });
  }
}

void main().then(
  (code) => (process.exitCode = code),
  (error: Error) => {
    process.stderr.write(`${error.stack}\n`);
    process.exitCode = 2;
  },
);
