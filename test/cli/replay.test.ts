import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { bubblewrapProblem } from '../../src/env/sandbox/bubblewrap.js';
import { mending, RecordedRun } from '../vscode/fixtures/recordedRun.js';
import { makeWorkspace } from '../vscode/fixtures/workspace.js';
import { runCli, temporaryFolder } from './runCli.js';

let repo: string;
let trajectoryId: string;
beforeEach(async () => {
  repo = makeWorkspace(temporaryFolder());
  const run = await RecordedRun.create(repo, 'run-1', 1);
  trajectoryId = run.rollout(1, 'sum-adds__comparison-flip__sum.js_4', 0, mending).id;
  await run.end('completed');
});

const replay = (...options: string[]) =>
  runCli(['replay', '--repo', repo, ...options, '--', 'run-1', trajectoryId], { timeoutMs: 50_000 });
const stateOf = (name: string) => path.join(repo, '.whetstone', name);
const mended = 'export const sum = (a, b) => a + b;\n';

const isSandboxed = (await bubblewrapProblem()) === null;
describe.skipIf(!isSandboxed)('a replay', () => {
  it('tells the files as they are at its last turn, and leaves no worktree', async () => {
    const { stdout, code } = await replay('--until', '1', '--json');
    expect(code).toBe(0);
    const before = mended.replace('+', '-');
    expect(JSON.parse(stdout)).toMatchObject({
      changes: [{ path: 'sum.js', before, after: mended }],
      worktree: null,
    });
    expect([readdirSync(stateOf('worktrees')), existsSync(stateOf('kept'))]).toEqual([[], false]);
  });

  it('leaves its worktree where it was asked to, outlasting the next one, and says how to remove it', async () => {
    const { stdout } = await replay('--keep');
    const [, worktree] = /^The worktree: (.+)$/m.exec(stdout)!;
    expect(stdout).toMatch(/^Files changed by then: sum\.js$/m);
    expect(stdout).toMatch(/^It stays until you delete it: rm -r '.+'$/m);
    await replay();
    expect(readFileSync(path.join(worktree, 'sum.js'), 'utf8')).toBe(mended);
    expect(readdirSync(stateOf('worktrees'))).toEqual([]);
  });
});
