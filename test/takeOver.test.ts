import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { openRun } from '../src/trainer/run/runReader.js';
import { loadRunTokenizer } from '../src/trainer/run/runTokenizer.js';
import { RunWriter } from '../src/trainer/run/runWriter.js';
import { takeOver, type TakingRun } from '../src/trainer/takeOver.js';
import type { Trajectory } from '../src/trajectory/trajectory.js';
import { temporaryFolder } from './cli/runCli.js';
import { RecordedRun } from './vscode/fixtures/recordedRun.js';
import { makeWorkspace } from './vscode/fixtures/workspace.js';

const taskId = 'sum-adds__comparison-flip__sum.js_4';

let stateFolder: string;
let taking: TakingRun;
let parent: Trajectory;
let branch: Trajectory;
beforeEach(async () => {
  const repo = makeWorkspace(temporaryFolder());
  stateFolder = path.join(repo, '.whetstone');
  const source = await RecordedRun.create(repo, 'run-1', 1);
  parent = source.rollout(1, taskId, 0);
  source.evaluate(0);
  source.rollout(1, 'held out', 0);
  await source.end('completed');
  const writer = new RunWriter(openRun(stateFolder, 'run-1').paths);
  branch = {
    ...parent,
    id: `${parent.id}/turn-0/0`,
    origin: { trajectoryId: parent.id, turn: 0, nodes: 2, policy: 'x' },
  };
  writer.trajectory(branch);
  writer.close();
  await (await RecordedRun.create(repo, 'run-2', 1)).end('completed');
  const reader = openRun(stateFolder, 'run-2');
  const codec = { tokenTexts: (ids: ArrayLike<number>) => Array.from(ids, (id) => String(id)) };
  taking = { stateFolder, reader, trainTasks: new Set([taskId]), codec, embeddedModel: () => 'nowhere' };
});

/** Takes over and records; `most` trajectories, as a kill would leave it. */
async function take(most = Infinity): Promise<Trajectory[]> {
  const codec = await loadRunTokenizer(taking.reader, taking.embeddedModel);
  const writer = new RunWriter(taking.reader.paths);
  const taken: Trajectory[] = [];
  try {
    for await (const trajectory of takeOver('run-1', { ...taking, codec })) {
      if (taken.length === most) break;
      writer.trajectory(trajectory);
      taken.push(trajectory);
    }
  } finally {
    writer.close();
  }
  return taken;
}

describe('a run that learns from another one', () => {
  it('takes over the rollouts of its train tasks with their branches, and goes on where it was killed', async () => {
    expect((await take(1)).map(({ id }) => id)).toEqual([`from-run-1/${parent.id}`]);
    const [rest] = await take();
    expect(rest).toMatchObject({ id: `from-run-1/${branch.id}`, step: 0 });
    expect(await take()).toEqual([]);
    expect(await taking.reader.trajectory(rest!.id)).toEqual({
      ...branch,
      id: rest!.id,
      step: 0,
      origin: { ...branch.origin, trajectoryId: `from-run-1/${parent.id}` },
    });
    expect((await taking.reader.headers()).map(({ kind }) => kind)).toEqual(['rollout', 'rollout']);
  });

  it('refuses token ids that its policy would read as another text, and a run that is not there', async () => {
    await expect(takeOver('run-1', taking).next()).rejects.toMatchObject({
      kind: 'bad-input',
      message: expect.stringContaining('another tokenizer') as string,
    });
    await expect(takeOver('run-9', taking).next()).rejects.toMatchObject({ kind: 'bad-input' });
  });
});
