import assert from 'node:assert/strict';
import { after, before, describe, it } from 'mocha';
import * as vscode from 'vscode';
import type { RunNode, RunTreeNode } from '../../../src/extension/runs/runTree.js';
import { acquireTrainLock } from '../../../src/trainer/run/trainLock.js';
import { RecordedRun } from '../fixtures/recordedRun.js';
import { activated, eventually, repoRoot } from './support.js';

describe('The tree of runs', () => {
  let run: RecordedRun;

  before(async () => {
    run = await RecordedRun.create(repoRoot(), 'run-1', 2);
    run.evaluate(0);
    run.step(1);
    await run.live();
    // In view, so that it is also found where the file events of a busy machine are lost.
    await vscode.commands.executeCommand('whetstone.runs.focus');
  });
  after(() => run.end('stopped'));

  const labels = async (path: readonly string[]): Promise<string[]> => {
    const { tree } = await activated();
    let node: RunTreeNode | undefined;
    const show = (candidate: RunTreeNode) => {
      const { label, description } = tree.getTreeItem(candidate);
      return `${typeof label === 'string' ? label : ''} | ${String(description)}`;
    };
    for (const part of path) {
      const children: RunTreeNode[] = await tree.getChildren(node);
      node = children.find((child) => show(child).includes(part));
      assert.ok(node, `no ${part} among ${children.map(show).join('; ')}`);
    }
    return (await tree.getChildren(node)).map(show);
  };

  const runNode = async () => {
    const { tree } = await activated();
    const nodes = await tree.getChildren();
    const found = nodes.find((node) => node.kind === 'run' && node.summary.id === run.config.runId);
    assert.ok(found);
    return found;
  };

  it('shows a run with its state in words', async () => {
    await eventually(async () => {
      assert.ok((await labels([])).some((label) => label.includes('running · step 1 of 2')));
    });
  });

  it('goes from a run over steps, tasks and rollouts to turns, with rewards', async () => {
    assert.deepEqual(await labels(['running']), [
      'Evaluation before training | 50 % solved (9 % to 91 %) of 2 · reward 0.65',
      'Step 1 | reward 0.65 · 2 of 4 solved',
    ]);
    const flip = 'sum-adds__comparison-flip__sum.js_4';
    assert.equal((await labels(['running', 'Step 1']))[0], `${flip} | 1 of 2 solved · reward 0.65`);
    const rollouts = await labels(['running', 'Step 1', flip]);
    const tokens = rollouts.map((label) => / · (\d+) tokens · 1\.0 s$/.exec(label)?.[1]);
    assert.ok(tokens.every((count) => Number(count) > 0));
    assert.deepEqual(
      rollouts.map((label) => label.replace(/ · \d+ tokens · 1\.0 s$/, '')),
      [
        'Rollout 1 | solved · reward 1.20 · advantage +1.00 · 2 turns',
        'Rollout 2 | failed · reward 0.10 · advantage −1.00 · 2 turns',
      ],
    );
    assert.deepEqual(await labels(['running', 'Step 1', flip, 'Rollout 1']), ['1  open | sum.js', '2  submit | ']);
  });

  it('fills while training goes on, and things keep their ids', async () => {
    const { tree } = await activated();
    const before = await runNode();
    let told = false;
    const listening = tree.onDidChangeTreeData(() => (told = true));
    run.rollout(2, 'sum-adds', 0);
    await eventually(() => assert.ok(told, 'the view was told to look again'));
    listening.dispose();
    assert.match((await labels(['running'])).at(-1) ?? '', /^Step 2 \| .* so far$/);
    assert.equal(tree.getTreeItem(await runNode()).id, tree.getTreeItem(before).id);
  });

  it('tells outcomes apart by icon and by word', async () => {
    const { tree } = await activated();
    const step = (await tree.getChildren(await runNode())).find(
      (node) => node.kind === 'phase' && node.phase === 'rollout',
    );
    const [task] = await tree.getChildren(step);
    const icons = (await tree.getChildren(task)).map((node) => tree.getTreeItem(node).iconPath);
    assert.deepEqual(
      icons.map((icon) => (icon as vscode.ThemeIcon).id),
      ['pass', 'error'],
    );
  });

  it('finds a training that this window did not start, and follows and stops it', async () => {
    const { trainings } = await activated();
    await eventually(() => {
      assert.ok(trainings.following.has(run.paths.folder));
      assert.match(trainings.statusText, /training · step 1 of 2 · reward 0.65/);
    });
    await vscode.commands.executeCommand('whetstone.stop');
    await eventually(() => assert.equal(run.wishes.stop, 1));
  });

  it('pauses it and lets it go on', async () => {
    const status = async () => ((await runNode()) as RunNode).summary.status;
    await vscode.commands.executeCommand('whetstone.pause', await runNode());
    await eventually(async () => assert.equal(await status(), 'paused'));
    await vscode.commands.executeCommand('whetstone.resume', await runNode());
    await eventually(async () => assert.equal(await status(), 'running'));
    assert.deepEqual(run.wishes, { pause: 1, resume: 1, stop: 1 });
  });

  it('looks again when it is told to', async () => {
    const { tree } = await activated();
    let told = 0;
    const listening = tree.onDidChangeTreeData(() => told++);
    await vscode.commands.executeCommand('whetstone.refreshRuns');
    await eventually(() => assert.ok(told > 0));
    listening.dispose();
  });
});

describe('A training of which no file event tells', () => {
  let run: RecordedRun;
  before(async () => {
    run = await RecordedRun.create(repoRoot(), 'run-5', 1);
    await vscode.commands.executeCommand('whetstone.runs.focus');
  });
  after(() => run.end('completed'));

  const state = async () => {
    const { store } = await activated();
    return (await store.runs()).find(({ summary }) => summary.id === 'run-5')?.summary.status;
  };

  it('is seen to live and to end while the runs are in view', async () => {
    await eventually(async () => assert.equal(await state(), 'interrupted'));
    const lock = await acquireTrainLock(run.stateFolder, 'run-5');
    try {
      await eventually(async () => assert.equal(await state(), 'running'));
    } finally {
      await lock.release();
    }
    await eventually(async () => assert.equal(await state(), 'interrupted'));
  });
});
