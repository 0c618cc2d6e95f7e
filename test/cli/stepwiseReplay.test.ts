import { readdirSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { bubblewrapProblem } from '../../src/env/sandbox/bubblewrap.js';
import { openSteppedReplay } from '../../src/extension/replay/steppedReplay.js';
import { mending, RecordedRun } from '../vscode/fixtures/recordedRun.js';
import { makeWorkspace } from '../vscode/fixtures/workspace.js';
import { temporaryFolder } from './runCli.js';

let repoRoot: string;
let trajectoryId: string;
beforeEach(async () => {
  repoRoot = makeWorkspace(temporaryFolder());
  const run = await RecordedRun.create(repoRoot, 'run-1', 1);
  trajectoryId = run.rollout(1, 'sum-adds__comparison-flip__sum.js_4', 0, mending).id;
  await run.end('completed');
});

const open = (id = trajectoryId) =>
  openSteppedReplay({ cli: path.resolve('dist/cli.cjs'), repoRoot, runId: 'run-1', trajectoryId: id });
const broken = 'export const sum = (a, b) => a - b;\n';
const mended = broken.replace('-', '+');

const isSandboxed = (await bubblewrapProblem()) === null;
describe.skipIf(!isSandboxed)('a stepwise replay', () => {
  it('plays a turn at a time, tells the files of each, and leaves no worktree', async () => {
    const replay = await open();
    expect(replay.opened).toMatchObject({
      task: 'sum-adds__comparison-flip__sum.js_4',
      turns: 2,
      oracle: [{ path: 'sum.js', before: broken, after: mended }],
    });
    expect(replay.opened.files).toContain('range.test.js');
    expect(await replay.next()).toMatchObject({
      turn: 1,
      same: false,
      recorded: ['Edited.'],
      failures: [null],
      changes: [{ path: 'sum.js', before: broken, after: mended }],
      stopReason: null,
    });
    // The start tree is still to be read after a turn has changed it; what lies outside of it is not.
    expect(await replay.startText('sum.js')).toBe(broken);
    expect(await replay.startText('package.json')).toContain('"sums"');
    expect(await replay.startText('../../../package.json')).toBeNull();
    expect(await replay.next()).toMatchObject({ turn: 2, stopReason: 'submitted' });
    expect(await replay.next()).toBeNull();
    await replay.close();
    expect(readdirSync(path.join(repoRoot, '.whetstone', 'worktrees'))).toEqual([]);
    await expect(replay.next()).rejects.toThrow('The replay is over.');
  });

  it('says why it cannot start', async () => {
    await expect(open('step-000009/none/0')).rejects.toThrow(/Run run-1 has no trajectory "step-000009\/none\/0"/);
  });
});
