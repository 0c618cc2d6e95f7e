/**
 * What the record of a long run costs whoever reads it, e.g. a training that resumes: npm run bench record [-- --trajectories N]
 *
 * - time and memory of a fresh process until it has read all events, fed the doctor, and read headers and one trajectory
 * - time to read what came since, with one trajectory and one event more, and a torn line behind them
 */
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Doctor } from '../../src/trainer/doctor/doctor.js';
import { runPaths } from '../../src/trainer/run/runDirectory.js';
import { openRun } from '../../src/trainer/run/runReader.js';
import { RunWriter } from '../../src/trainer/run/runWriter.js';
import type { Trajectory } from '../../src/trajectory/trajectory.js';
import { createBenchRun } from './benchRun.js';

const { values } = parseArgs({
  // `read`: the state folder, for the process that this one starts.
  options: { trajectories: { type: 'string', default: '100000' }, read: { type: 'string' } },
});
const count = Number(values.trajectories);
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const [ofTask, ofStep] = [8, 64];

const stepOf = (index: number) => 1 + Math.floor(index / ofStep);
const idOf = (index: number) =>
  `step-${String(stepOf(index)).padStart(6, '0')}/injection-comparison-flip-${Math.floor(index / ofTask) % 97}/${index % ofTask}`;

function trajectory(index: number): Trajectory {
  const [taskId, sample, solved] = [idOf(index).split('/')[1], index % ofTask, index % ofTask === 0];
  return {
    id: idOf(index),
    kind: 'rollout',
    step: stepOf(index),
    taskId,
    split: 'train',
    sample,
    seed: index,
    temperature: 1,
    policyStep: stepOf(index) - 1,
    sandbox: 'bubblewrap',
    nodes: [],
    stopReason: 'submitted',
    infrastructureError: null,
    grade: { reward: sample / ofTask, resolved: solved, components: {}, tests: [], files: [] },
    patch: '',
    statistics: {
      turns: 4,
      toolCalls: { open: 2, edit: 1, submit: 1 },
      malformedCalls: 0,
      unknownTools: 0,
      invalidArguments: 0,
      validCalls: 4,
      sampledTokens: 100,
      totalTokens: 400,
      seconds: 3,
    },
  };
}

/** As many as a step has, moving a little. */
function metricsOf(step: number): Record<string, number> {
  const named = { reward: 0.5, kl: 0.01, entropy: 0.8, grad_norm: 0.3, 'completions/mean_length': 100 };
  const others = Array.from({ length: 40 }, (_, index) => [`other/${index}`, 0.5] as const);
  const entries = [...Object.entries(named), ...others];
  return Object.fromEntries(entries.map(([name, value], index) => [name, value * (1 + Math.sin(step + index) / 10)]));
}

function write(writer: RunWriter, from: number, to: number): void {
  for (let index = from; index < to; index++) {
    writer.trajectory(trajectory(index));
    const step = stepOf(index);
    const done = (index % ofStep) + 1;
    writer.event({
      type: 'progress',
      stage: 'train',
      message: `Step ${step} of ${stepOf(count)}`,
      done,
      total: ofStep,
    });
    if (done < ofStep) continue;
    const groups = Array.from({ length: ofStep / ofTask }, (_, group) => {
      const ids = Array.from({ length: ofTask }, (_, sample) => idOf(index + 1 - ofStep + group * ofTask + sample));
      return {
        taskId: ids[0].split('/')[1],
        trajectoryIds: ids,
        advantages: ids.map(() => 0.5),
        played: ofTask,
        resolved: 1,
      };
    });
    writer.event({ type: 'step', step, method: 'policy-gradient', metrics: metricsOf(step), groups });
  }
}

const megabytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MB`;
const held = () => {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};
async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const [start, cpu] = [performance.now(), process.cpuUsage()];
  const result = await work();
  const { user, system } = process.cpuUsage(cpu);
  const took = `${(performance.now() - start).toFixed(0)} ms (${((user + system) / 1000).toFixed(0)} ms of the processor)`;
  console.log(`${what}: ${took}`);
  return result;
}

/** In a process of its own, so that its memory is that of reading. */
async function read(stateFolder: string): Promise<void> {
  const before = held();
  const tell = () =>
    console.log(
      `  held: ${megabytes(held() - before)}; at most so far, with Node's own: ${megabytes(process.resourceUsage().maxRSS * 1024)}`,
    );
  const paths = runPaths(path.join(stateFolder, 'runs', 'bench'));
  const run = openRun(stateFolder, 'bench');
  const config = await run.config();
  await timed('steps and plans, as a resumed run wants them', async () => [await run.steps(), await run.plans()]);
  tell();
  await timed('the doctor, told of all steps', async () => {
    const doctor = new Doctor(config);
    for (const step of await run.steps()) doctor.onStep(step);
    return doctor.findings();
  });
  await timed('one trajectory', () => run.trajectory(idOf(count - 1)));
  tell();
  const holder = { headers: await timed('all headers', () => run.headers()) };
  collectGarbage();
  await timed('all headers again, by who holds them', async () => (holder.headers = await run.headers()));
  console.log(`  ${holder.headers.length} headers; when nobody holds them any more:`);
  holder.headers = [];
  await timed('those of one sample', async () => (await run.headers((header) => header.sample === 3)).length);
  tell();
  const writer = new RunWriter(paths);
  write(writer, count, count + 1);
  appendFileSync(paths.trajectories, '{"id":"torn');
  appendFileSync(paths.events, '{"at":"torn');
  await timed('what came since', async () => [await run.steps(), await run.trajectory(idOf(count))]);
  writer.close();
  await timed('the torn lines mended by the next writer', () => Promise.resolve(new RunWriter(paths).close()));
  await timed('a fresh reader after that', () => openRun(stateFolder, 'bench').trajectory(idOf(count)));
}

async function main(): Promise<void> {
  if (values.read !== undefined) return read(values.read);
  const stateFolder = mkdtempSync(path.join(tmpdir(), 'whetstone-record-'));
  try {
    const writer = new RunWriter(await createBenchRun(stateFolder, stateFolder));
    write(writer, 0, count);
    writer.close();
    const options = [process.argv[1], '--trajectories', String(count), '--read', stateFolder];
    process.exitCode = spawnSync(process.execPath, options, { stdio: 'inherit' }).status ?? 1;
  } finally {
    rmSync(stateFolder, { recursive: true });
  }
}

void main();
