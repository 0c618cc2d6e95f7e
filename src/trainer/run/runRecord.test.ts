import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { WhetstoneError } from '../../trajectory/errors.js';
import type { Task, TaskSplit } from '../../trajectory/task.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import { createRun, settleTasks } from './createRun.js';
import { newRunId, nextRunId, type RunPaths } from './runDirectory.js';
import { listRuns, openRun } from './runReader.js';
import type { RunConfig } from './runRecord.js';
import { RunWriter } from './runWriter.js';
import { settingsSchema } from './settings.js';
import { acquireTrainLock, type TrainLock } from './trainLock.js';

let stateFolder: string;
beforeEach(() => {
  stateFolder = path.join(mkdtempSync(path.join(os.tmpdir(), "run 'é ")), '.whetstone');
});
afterEach(() => rmSync(path.dirname(stateFolder), { recursive: true, force: true }));

function configOf(runId: string): RunConfig {
  return {
    version: 1,
    runId,
    createdAt: '2026-11-29T00:00:00.000Z',
    repoRoot: path.dirname(stateFolder),
    headCommit: 'abc',
    settings: settingsSchema.parse({ steps: 3 }),
    taskIds: { train: [], heldout: [] },
    sandbox: 'bubblewrap',
  };
}

function trajectoryOf(id: string, tokens: number, reward = 1): Trajectory {
  const mask = Uint8Array.from({ length: tokens }, (_, index) => index % 2);
  const sampled = (value: number) => Float32Array.from(mask, (bit) => (bit === 1 ? value : NaN));
  return {
    id,
    kind: 'rollout',
    step: 1,
    taskId: 'task',
    split: 'train',
    sample: 0,
    seed: 7,
    temperature: 1,
    policyStep: 0,
    sandbox: 'bubblewrap',
    nodes: [
      {
        parent: null,
        message: { role: 'user', content: 'mend it ‽' },
        tokenIds: Int32Array.from({ length: 3 }, (_, index) => index),
        actionMask: new Uint8Array(3),
        logprobs: new Float32Array(3).fill(NaN),
        entropies: new Float32Array(3).fill(NaN),
      },
      {
        parent: 0,
        message: { role: 'assistant', content: '', toolCalls: [{ id: '1', name: 'run', arguments: {} }], raw: 'x' },
        tokenIds: Int32Array.from({ length: tokens }, (_, index) => index * 3),
        actionMask: mask,
        logprobs: sampled(-0.1),
        entropies: sampled(0.3),
      },
    ],
    stopReason: 'submitted',
    infrastructureError: null,
    grade: { reward, resolved: true, components: { tests: { score: 1, weight: 1 } }, tests: [], files: [] },
    patch: '',
    statistics: {
      turns: 1,
      toolCalls: { run: 1 },
      malformedCalls: 0,
      unknownTools: 0,
      invalidArguments: 0,
      validCalls: 1,
      sampledTokens: 2,
      totalTokens: 8,
      seconds: 0.5,
    },
  };
}

function taskOf(id: string, split: TaskSplit): Task {
  const whetstone = { source: 'injection', split, base_tree: 'b', start_patch: '', runner: 'node:test' } as const;
  return {
    instance_id: id,
    repo: 'r',
    base_commit: 'c',
    environment_setup_commit: 'c',
    version: '',
    created_at: '',
    problem_statement: 'mend it ‽',
    hints_text: '',
    patch: '',
    test_patch: '',
    FAIL_TO_PASS: ['t'],
    PASS_TO_PASS: [],
    whetstone: { ...whetstone, test_root: '.', test_files: ['a.test.js'] },
  };
}

const create = (runId = newRunId()): Promise<RunPaths> => createRun(stateFolder, configOf(runId));

/** A branch of it behind its first node, with two nodes of its own. */
function branchOf(parent: Trajectory, id: string): Trajectory {
  const [prompt, turn] = trajectoryOf(id, 5).nodes;
  return {
    ...trajectoryOf(id, 5),
    origin: { trajectoryId: parent.id, turn: 0, nodes: 1, policy: 'someone' },
    nodes: [parent.nodes[0]!, turn!, { ...prompt!, parent: 1 }],
  };
}

describe('the branches of a trajectory', () => {
  it('are read whole, hold what they do not share, and are told apart in lists', async () => {
    const paths = await createRun(stateFolder, configOf('r1'));
    const writer = new RunWriter(paths);
    const parent = trajectoryOf('a', 4);
    const branch = branchOf(parent, 'a/turn-0/0');
    const leaf = { ...branchOf(parent, 'a/turn-0/0/turn-1/0'), nodes: [...branch.nodes, branch.nodes[1]!] };
    const ofBranch = { ...leaf, origin: { trajectoryId: branch.id, turn: 1, nodes: 3, policy: 'x' } };
    for (const one of [parent, branch, ofBranch]) writer.trajectory(one);
    writer.close();
    const reader = openRun(stateFolder, 'r1');
    for (const one of [ofBranch, branch, parent]) expect(await reader.trajectory(one.id)).toEqual(one);
    expect((await reader.headers()).map(({ origin }) => origin?.trajectoryId)).toEqual([undefined, 'a', branch.id]);
    const lines = readFileSync(paths.trajectories, 'utf8').trim().split('\n');
    const nodes = lines.map((line) => (JSON.parse(line) as { nodes: unknown[] }).nodes.length);
    expect(nodes).toEqual([2, 2, 1]);
  });

  it('of something that is not there are refused in one line', async () => {
    const paths = await createRun(stateFolder, configOf('r1'));
    const writer = new RunWriter(paths);
    const orphan = branchOf(trajectoryOf('gone', 4), 'gone/turn-0/0');
    const own = { ...orphan, id: 'itself', origin: { ...orphan.origin!, trajectoryId: 'itself' } };
    for (const one of [orphan, own]) writer.trajectory(one);
    writer.close();
    for (const id of [orphan.id, own.id]) {
      await expect(openRun(stateFolder, 'r1').trajectory(id)).rejects.toMatchObject({
        kind: 'bad-input',
        message: expect.stringContaining('does not stand before it') as string,
      });
    }
  });
});

describe('the record of a run', () => {
  it('from before a run could choose its algorithm opens, as the GRPO that it was', async () => {
    const paths = await create('r0');
    const config = JSON.parse(readFileSync(paths.config, 'utf8')) as { settings: { algorithm?: unknown } };
    delete config.settings.algorithm;
    writeFileSync(paths.config, JSON.stringify(config));
    const { settings } = await openRun(stateFolder, 'r0').config();
    expect(settings).toEqual(settingsSchema.parse({ steps: 3 }));
    expect(settings.algorithm).toMatchObject({ advantage: 'grpo', loss: 'grpo', klPlace: 'loss', klEstimator: 'k3' });
  });

  it('gives back the trajectories that were written, NaN included', async () => {
    const paths = await create('r1');
    const writer = new RunWriter(paths);
    const written = [trajectoryOf('a', 5), trajectoryOf('b', 0), trajectoryOf('c', 9)];
    for (const trajectory of written) writer.trajectory(trajectory);
    writer.close();
    const run = openRun(stateFolder, 'r1');
    for (const trajectory of written) expect(await run.trajectory(trajectory.id)).toEqual(trajectory);
    expect((await run.headers()).map((header) => header.id)).toEqual(['a', 'b', 'c']);
  });

  it('is followed while it grows, and the last record of an id wins', async () => {
    const paths = await create('r1');
    const writer = new RunWriter(paths);
    const run = openRun(stateFolder, 'r1');
    expect(await run.events()).toEqual([]);
    writer.event({ type: 'started', pid: 1, resumedFromStep: null });
    writer.trajectory(trajectoryOf('a', 5, 0));
    expect(await run.events()).toHaveLength(1);
    expect((await run.headers()).map((header) => header.reward)).toEqual([0]);
    writer.event({ type: 'step', step: 1, metrics: { reward: 0 }, groups: [] });
    writer.event({ type: 'step', step: 1, metrics: { reward: 1 }, groups: [] });
    writer.trajectory(trajectoryOf('a', 6, 1));
    expect((await run.steps()).map((step) => step.metrics.reward)).toEqual([1]);
    expect((await run.headers()).map((header) => header.reward)).toEqual([1]);
    expect((await run.trajectory('a')).nodes[1].tokenIds).toHaveLength(6);
    writer.close();
  });

  it('keeps what was learned from a trajectory', async () => {
    const paths = await create('r1');
    const writer = new RunWriter(paths);
    const learned = {
      trajectoryId: 'a',
      step: 1,
      advantages: Float32Array.of(0, 0.5, NaN),
      learnerLogprobs: Float32Array.of(NaN, -1, -2),
      referenceLogprobs: Float32Array.of(NaN, -3, -4),
      coefficients: Float32Array.of(0, 5, 6),
    };
    writer.learned(learned);
    writer.close();
    expect(await openRun(stateFolder, 'r1').learned('a')).toEqual(learned);
    expect(await openRun(stateFolder, 'r1').learned('b')).toBeNull();
  });

  it('survives being cut at any byte: whole lines are read, the torn one is replaced by the next', async () => {
    const paths = await create('r1');
    const writer = new RunWriter(paths);
    for (const step of [1, 2, 3]) writer.event({ type: 'step', step, metrics: { reward: step }, groups: [] });
    writer.close();
    const whole = readFileSync(paths.events);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: whole.length }), async (length) => {
        rmSync(paths.events);
        appendFileSync(paths.events, whole.subarray(0, length));
        const kept = whole.subarray(0, length).toString().split('\n').length - 1;
        expect(await openRun(stateFolder, 'r1').steps()).toHaveLength(kept);
        const again = new RunWriter(paths);
        again.event({ type: 'step', step: 9, metrics: {}, groups: [] });
        again.close();
        expect((await openRun(stateFolder, 'r1').steps()).map(({ step }) => step)).toEqual([
          ...[1, 2, 3].slice(0, kept),
          9,
        ]);
      }),
      { numRuns: 40 },
    );
  });

  it('names the place of a record that something else broke', async () => {
    const paths = await create('r1');
    appendFileSync(paths.events, 'not json\n');
    await expect(openRun(stateFolder, 'r1').events()).rejects.toThrow(/events\.jsonl: the record at byte 0/);
    writeFileSync(paths.events, '{"at":"now","type":"step","step":-1}\n');
    const found = expect.stringMatching(/the record at byte 0 is broken \(step: [^\n]+\)\.$/) as string;
    await expect(openRun(stateFolder, 'r1').events()).rejects.toMatchObject({ message: found });
  });

  it('refuses a trajectory whose tree has no root to arrive at', async () => {
    const paths = await create('r1');
    const writer = new RunWriter(paths);
    writer.trajectory(trajectoryOf('a', 5));
    writer.close();
    const line = readFileSync(paths.trajectories, 'utf8');
    writeFileSync(paths.trajectories, line.replace('"parent":null', '"parent":0'));
    await expect(openRun(stateFolder, 'r1').headers()).rejects.toThrow(/is broken \(nodes: a parent comes first\)/);
  });

  it('turns a full disk into one line and leaves no half record behind', async () => {
    const paths = await create('r1');
    let free = 300;
    const writer = new RunWriter(paths, undefined, (_, bytes) => {
      if (free === 0) throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
      const taken = Math.min(free, bytes.length);
      free -= taken;
      appendFileSync(paths.events, bytes.subarray(0, taken));
      return taken;
    });
    const fill = () => {
      for (;;) writer.event({ type: 'step', step: 1, metrics: {}, groups: [] });
    };
    expect(fill).toThrow(WhetstoneError);
    expect(fill).toThrow(/events\.jsonl: disk full/);
    writer.close();
    expect(readFileSync(paths.events, 'utf8')).toMatch(/\}\n$/);
    expect((await openRun(stateFolder, 'r1').events()).length).toBeGreaterThan(0);
  });

  it.each([
    ['EACCES', 'no permission to write'],
    ['EROFS', 'the file system is read-only'],
  ])('tells a permission that is lost in the middle of a run in one line: %s', async (code, words) => {
    const paths = await create('r1');
    let isLost = false;
    const writer = new RunWriter(paths, undefined, (descriptor, bytes, position) => {
      if (isLost) throw Object.assign(new Error(`${code}: lost`), { code });
      return writeSync(descriptor, bytes, 0, bytes.length, position);
    });
    writer.event({ type: 'paused' });
    isLost = true;
    expect(() => writer.event({ type: 'resumed' })).toThrow(`events.jsonl: ${words} (${code}).`);
    expect(() => writer.trajectory(trajectoryOf('a', 5))).toThrow(words);
    isLost = false;
    writer.event({ type: 'resumed' });
    writer.close();
    expect((await openRun(stateFolder, 'r1').events()).map(({ type }) => type)).toEqual(['paused', 'resumed']);
  });

  it('gives a run an id behind those that are there, also where the clock was set back', async () => {
    const at = (time: string) => nextRunId(stateFolder, new Date(`2026-01-01T${time}Z`));
    const [first] = [await at('12:00:00')];
    expect(first).toMatch(/^20260101-120000-/);
    await create(first);
    const second = await at('11:00:00');
    expect(second).toMatch(/^20260101-120001-/);
    await create(second);
    await create('z-imported');
    expect(await at('12:00:01')).toMatch(/^20260101-120002-/);
    expect(await at('13:00:00')).toMatch(/^20260101-130000-/);
  });

  it('keeps the order of its events where the clock goes backwards or the machine has slept', async () => {
    const paths = await create('r1');
    const line = (at: string, step: number) => JSON.stringify({ at, type: 'step', step, metrics: {}, groups: [] });
    const times = ['2026-01-01T10:00:00.000Z', '2026-01-01T09:00:00.000Z', '2026-01-03T09:00:00.000Z'];
    writeFileSync(paths.events, times.map((at, index) => `${line(at, index + 1)}\n`).join(''));
    const run = openRun(stateFolder, 'r1');
    expect((await run.steps()).map(({ step }) => step)).toEqual([1, 2, 3]);
    expect((await run.summary()).step).toBe(3);
  });

  it('settles the tasks once they are known', async () => {
    const paths = await create('r1');
    const config = await openRun(stateFolder, 'r1').config();
    const tasks = [taskOf('a', 'train'), taskOf('b', 'heldout')];
    expect(await openRun(stateFolder, 'r1').tasks()).toEqual([]);
    await settleTasks(paths, config, tasks);
    expect((await openRun(stateFolder, 'r1').config()).taskIds).toEqual({ train: ['a'], heldout: ['b'] });
    expect(await openRun(stateFolder, 'r1').tasks()).toEqual(tasks);
  });

  it('has tasks only where they are settled: a run that is killed meanwhile settles them anew', async () => {
    const paths = await create('r1');
    const config = await openRun(stateFolder, 'r1').config();
    const tasks = [taskOf('a', 'train')];
    const nowhere = { ...paths, tasks: path.join(paths.folder, 'no', 'such', 'folder') };
    await expect(settleTasks(nowhere, config, tasks)).rejects.toThrow();
    expect((await openRun(stateFolder, 'r1').config()).taskIds.train).toEqual(['a']);
  });

  it('says in one line what is wrong with tasks that were torn or tampered with', async () => {
    const paths = await create('r1');
    const whole = JSON.stringify([taskOf('a', 'train')]);
    const broken: [string, RegExp][] = [
      [whole.slice(0, -20), /tasks\.json is broken \(.+\)\. Restore it or delete the run\.$/],
      ['{}', /tasks\.json is broken \(Invalid input: expected array, received object\)/],
      [whole.replace('"FAIL_TO_PASS":["t"]', '"FAIL_TO_PASS":[]'), /0\.FAIL_TO_PASS: /],
      [whole.replace('"instance_id":"a"', '"instance_id":"../../a"'), /0\.instance_id: /],
    ];
    for (const [text, line] of broken) {
      writeFileSync(paths.tasks, text);
      const error = await openRun(stateFolder, 'r1')
        .tasks()
        .catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ kind: 'bad-input', line: expect.stringMatching(line) as string });
      expect((error as WhetstoneError).message).not.toContain('\n');
    }
  });

  it('says in one line where the tokens of a record are not there', async () => {
    const paths = await create('r1');
    const writer = new RunWriter(paths);
    writer.trajectory(trajectoryOf('a', 5));
    writer.close();
    const run = openRun(stateFolder, 'r1');
    truncateSync(paths.tokens, 10);
    await expect(run.trajectory('a')).rejects.toMatchObject({
      kind: 'bad-input',
      message: expect.stringMatching(/ends at byte 10/) as string,
    });
    rmSync(paths.tokens);
    await expect(run.trajectory('a')).rejects.toMatchObject({
      kind: 'bad-input',
      message: expect.stringMatching(/cannot be read/) as string,
    });
  });
});

describe('the list of runs', () => {
  it('is empty where nothing ran', async () => {
    expect(await listRuns(stateFolder)).toEqual([]);
  });

  it('tells running, interrupted and finished runs apart, newest first', async () => {
    for (const id of ['r1', 'r2', 'r3']) {
      const writer = new RunWriter(await create(id));
      writer.event({ type: 'started', pid: process.pid, resumedFromStep: null });
      if (id === 'r1') writer.event({ type: 'finished', status: 'completed', message: 'Done.' });
      writer.close();
    }
    const lock = await acquireTrainLock(stateFolder, 'r3');
    expect((await listRuns(stateFolder)).map(({ id, status }) => [id, status])).toEqual([
      ['r3', 'running'],
      ['r2', 'interrupted'],
      ['r1', 'completed'],
    ]);
    await lock.release();
    expect((await listRuns(stateFolder))[0].status).toBe('interrupted');
  });

  it('never takes a training that starts or ends during the look for an interrupted one', async () => {
    const writer = new RunWriter(await create('r1'));
    let lock: TrainLock | undefined;
    const run = openRun(stateFolder, 'r1');
    const read = run.events.bind(run);
    const looking = vi.spyOn(run, 'events');
    looking.mockImplementationOnce(async () => {
      lock = await acquireTrainLock(stateFolder, 'r1');
      writer.event({ type: 'started', pid: process.pid, resumedFromStep: null });
      return read();
    });
    expect((await run.summary()).status).toBe('running');
    looking.mockImplementationOnce(async () => {
      const events = [...(await read())];
      writer.event({ type: 'finished', status: 'completed', message: 'Done.' });
      await lock?.release();
      return events;
    });
    expect((await run.summary()).status).toBe('running');
    expect((await run.summary()).status).toBe('completed');
    writer.close();
  });

  it('lists a run whose files are broken with what is wrong, beside the others', async () => {
    await create('r1');
    appendFileSync((await create('r2')).events, 'not json\n');
    appendFileSync((await create('r3')).config, 'not json');
    const runs = await listRuns(stateFolder);
    expect(runs.map(({ id, status }) => [id, status])).toEqual([
      ['r3', 'failed'],
      ['r2', 'failed'],
      ['r1', 'interrupted'],
    ]);
    expect(runs[0].message).toMatch(/config\.json is broken/);
    expect(runs[1].message).toMatch(/events\.jsonl: the record at byte 0 is broken/);
  });

  it('leaves out folders that no run can be named like', async () => {
    const { folder } = await create('r1');
    cpSync(folder, path.join(path.dirname(folder), 'r1 (copy) [a](command:b)'), { recursive: true });
    expect((await listRuns(stateFolder)).map(({ id }) => id)).toEqual(['r1']);
  });

  it('refuses an id that leads out of the runs folder', async () => {
    await create('r1');
    for (const id of ['..', '../runs/r1', '', 'r2', '.r1']) {
      expect(() => openRun(stateFolder, id)).toThrow(/No run/);
    }
    expect(existsSync(path.join(stateFolder, '.gitignore'))).toBe(true);
  });
});
