import { appendFile, mkdir, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Trajectory } from '../../trajectory/trajectory.js';
import { readHeaderIndex } from './headerIndex.js';
import { runPaths, type RunPaths } from './runDirectory.js';
import { openRun } from './runReader.js';
import { RunWriter } from './runWriter.js';

function trajectory(sample: number): Trajectory {
  return {
    id: `step-000001/räng e/${sample}`,
    kind: 'rollout',
    step: 1,
    taskId: 'räng e',
    split: 'train',
    sample,
    seed: 1,
    temperature: 1,
    policyStep: 0,
    sandbox: 'unconfined',
    nodes: [],
    stopReason: 'submitted',
    infrastructureError: null,
    grade: null,
    patch: '',
    statistics: {
      turns: 1,
      toolCalls: { open: 2 },
      malformedCalls: 0,
      unknownTools: 0,
      invalidArguments: 0,
      validCalls: 2,
      sampledTokens: 0,
      totalTokens: 0,
      seconds: 1,
    },
  };
}

describe('the index of a run', () => {
  let stateFolder: string;
  let paths: RunPaths;
  beforeEach(async () => {
    stateFolder = await mkdtemp(path.join(tmpdir(), 'whetstone header index '));
    paths = runPaths(path.join(stateFolder, 'runs', 'run'));
    await mkdir(paths.folder, { recursive: true });
    await writeFile(paths.config, '{}');
    write(0, 1, 2);
  });
  afterEach(() => rm(stateFolder, { recursive: true, force: true }));

  const write = (...samples: number[]) => {
    const writer = new RunWriter(paths);
    samples.forEach((sample) => writer.trajectory(trajectory(sample)));
    writer.close();
  };
  const listed = async () => (await openRun(stateFolder, 'run').headers()).map(({ sample }) => sample);

  it('spares the reading of what it tells of', async () => {
    const { table, end } = await readHeaderIndex(paths);
    expect(table.all().map(({ tools }) => tools)).toEqual([['open'], ['open'], ['open']]);
    const whole = await readFile(paths.trajectories);
    expect(end).toBe(whole.length);
    const lastOffset = table.place('step-000001/räng e/2')!.offset;
    // Bytes that no reader of lines could take: they are not looked at.
    await writeFile(paths.trajectories, Buffer.concat([Buffer.alloc(lastOffset, 'x'), whole.subarray(lastOffset)]));
    expect(await listed()).toEqual([0, 1, 2]);
  });

  it('is gone on from where it ends, and where it is broken, missing or began late it is left out', async () => {
    const index = await readFile(paths.headers, 'utf8');
    const lines = index.split('\n').slice(0, 3);
    for (const text of [`${lines[0]}\n`, `${lines[0]}\n${lines[1].slice(0, 20)}`, 'nonsense\n', '', `${lines[1]}\n`]) {
      await writeFile(paths.headers, text);
      expect(await listed()).toEqual([0, 1, 2]);
    }
    await rm(paths.headers);
    expect(await listed()).toEqual([0, 1, 2]);
  });

  it('tells of nothing that was lost', async () => {
    const { table } = await readHeaderIndex(paths);
    await truncate(paths.trajectories, table.place('step-000001/räng e/2')!.offset + 10);
    expect(await listed()).toEqual([0, 1]);
    write(3);
    expect(await listed()).toEqual([0, 1, 3]);
  });

  it('is made whole by who writes on where a kill came between a trajectory and its entry', async () => {
    const index = await readFile(paths.headers, 'utf8');
    for (const text of [index.split('\n').slice(0, 2).join('\n') + '\n', 'nonsense\n', '']) {
      await writeFile(paths.headers, text);
      write();
      expect(await readFile(paths.headers, 'utf8')).toBe(index);
    }
  });

  it('is read while the run grows', async () => {
    const run = openRun(stateFolder, 'run');
    expect(await run.headers()).toHaveLength(3);
    write(3);
    expect(await run.headers()).toHaveLength(4);
    expect((await run.trajectory('step-000001/räng e/3')).sample).toBe(3);
    await appendFile(paths.trajectories, '{"torn');
    expect(await run.headers()).toHaveLength(4);
  });
});
