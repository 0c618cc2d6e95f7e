/**
 * What the record of a long run costs whoever reads it, e.g. a training that resumes: npm run bench record [-- --trajectories N]
 *
 * - time and memory until all events, headers and one trajectory are read by a fresh reader
 * - time to read what came since, with one trajectory and one event more, and a torn line behind them
 */
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { openRun } from '../../src/trainer/run/runReader.js';
import { RunWriter } from '../../src/trainer/run/runWriter.js';
import type { Trajectory } from '../../src/trajectory/trajectory.js';
import { createBenchRun } from './benchRun.js';

const { values } = parseArgs({ options: { trajectories: { type: 'string', default: '100000' } } });
const count = Number(values.trajectories);
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
    writer.event({ type: 'step', step, method: 'policy-gradient', metrics: { reward: 0.5, loss: 0.1 }, groups });
  }
}

const megabytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MB`;
const heap = () => {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
};
async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const [start, cpu] = [performance.now(), process.cpuUsage()];
  const result = await work();
  const { user, system } = process.cpuUsage(cpu);
  const took = `${(performance.now() - start).toFixed(0)} ms (${((user + system) / 1000).toFixed(0)} ms of the processor)`;
  console.log(`${what}: ${took}`);
  return result;
}

async function main(): Promise<void> {
  const stateFolder = mkdtempSync(path.join(tmpdir(), 'whetstone-record-'));
  try {
    const paths = await createBenchRun(stateFolder, stateFolder);
    const writer = new RunWriter(paths);
    write(writer, 0, count);
    const before = heap();
    const run = openRun(stateFolder, 'bench');
    await timed('steps and plans, as a resumed run wants them', async () => [await run.steps(), await run.plans()]);
    console.log(`  memory: ${megabytes(heap() - before)}`);
    await timed('one trajectory', () => run.trajectory(idOf(count - 1)));
    console.log(`  memory: ${megabytes(heap() - before)}`);
    await timed('all headers', async () => (await run.headers()).length);
    console.log(`  memory: ${megabytes(heap() - before)}`);
    write(writer, count, count + 1);
    appendFileSync(paths.trajectories, '{"id":"torn');
    appendFileSync(paths.events, '{"at":"torn');
    await timed('what came since', async () => [await run.steps(), await run.trajectory(idOf(count))]);
    writer.close();
    await timed('the torn lines mended by the next writer', () => Promise.resolve(new RunWriter(paths).close()));
    await timed('a fresh reader after that', () => openRun(stateFolder, 'bench').trajectory(idOf(count)));
  } finally {
    rmSync(stateFolder, { recursive: true });
  }
}

void main();
