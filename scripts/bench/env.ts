/**
 * What the environment costs: npm run bench env [-- --files N --sandbox KIND]
 *
 * - reset: a clean tree of a repository of N files, opened and closed again
 * - disk: what a live episode takes beside the repository, after one edit
 * - grading: a graded run of a test file beside the same command run bare in a plain folder
 * - side by side: how busy the processor is while 8 episodes run tests
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { gradePatch } from '../../src/env/grade.js';
import { openEnvironment } from '../../src/env/openEnvironment.js';
import { sandboxChoiceSchema } from '../../src/env/sandbox/sandboxChoice.js';
import { buildTasks, defaultBuildOptions } from '../../src/env/tasks/buildTasks.js';

const { values } = parseArgs({
  options: { files: { type: 'string', default: '10000' }, sandbox: { type: 'string', default: 'auto' } },
});
const files = Number(values.files);
const sandbox = sandboxChoiceSchema.parse(values.sandbox);
const project = process.cwd();
const janitorScript = path.join(project, 'dist/janitor.cjs');

const median = (numbers: number[]) => numbers.sort((a, b) => a - b)[numbers.length >> 1];
const milliseconds = (value: number) => `${value.toFixed(1)} ms`;

function repository(folder: string): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, stdio: 'pipe' });
  git('init', '--quiet');
  git('add', '--all');
  git('-c', 'user.name=Bench', '-c', 'user.email=bench@example.invalid', 'commit', '--quiet', '--message=First');
  return folder;
}

/** Bytes on the disk below a folder; what is mounted elsewhere does not count. */
function diskUse(folder: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const name = path.join(folder, entry.name);
    const own = lstatSync(name).blocks * 512;
    return sum + own + (entry.isDirectory() ? diskUse(name) : 0);
  }, 0);
}

async function benchReset(root: string): Promise<void> {
  for (let index = 0; index < files; index++) {
    const folder = path.join(root, `part${Math.floor(index / 100)}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, `${index}.js`), `export const value${index} = ${index};\n`.repeat(20));
  }
  writeFileSync(path.join(root, 'a.test.js'), "import { test } from 'node:test';\ntest('a', () => {});\n");
  const environment = await openEnvironment({ path: repository(root), sandbox, janitorScript });
  try {
    const open = () => environment.openWorkspaceFromTree(environment.baseTree, '');
    await (await open()).dispose();
    const [opened, closed]: [number[], number[]] = [[], []];
    for (let time = 0; time < 31; time++) {
      const started = performance.now();
      const workspace = await open();
      opened.push(performance.now() - started);
      const ended = performance.now();
      await workspace.dispose();
      closed.push(performance.now() - ended);
    }
    console.log(
      `reset, ${files} files: ${milliseconds(median(opened))} to open, ${milliseconds(median(closed))} to close (median of 31)`,
    );
    const worktrees = path.join(environment.stateFolder, 'worktrees');
    const before = diskUse(worktrees);
    const workspace = await open();
    writeFileSync(path.join(workspace.root, 'part0', '0.js'), 'export const value0 = 1;\n');
    const live = diskUse(worktrees) - before;
    await workspace.dispose();
    const repo = readdirSync(root).reduce(
      (sum, name) => sum + (name.startsWith('part') ? diskUse(path.join(root, name)) : 0),
      0,
    );
    console.log(
      `disk of a live episode: ${(live / 1024).toFixed(0)} KiB, ${((100 * live) / repo).toFixed(2)} % of the files`,
    );
  } finally {
    await environment.dispose();
  }
}

async function benchGrading(root: string): Promise<void> {
  cpSync(path.join(project, 'test-fixtures/embedded-repo'), root, { recursive: true });
  const environment = await openEnvironment({ path: repository(root), sandbox, janitorScript });
  try {
    const { tasks } = await buildTasks(environment, {
      ...defaultBuildOptions,
      sources: ['injection'],
      limit: 4,
      validationRuns: 1,
    });
    const task = tasks[0];
    const [graded, bare]: [number[], number[]] = [[], []];
    for (let time = 0; time < 11; time++) {
      const started = performance.now();
      const grade = await gradePatch(environment, task, task.patch, { timeoutMs: 60_000, statistics: null });
      graded.push(performance.now() - started);
      if (!grade.resolved) throw new Error(`the oracle of ${task.instance_id} does not resolve it`);
      const alone = performance.now();
      spawnSync(process.execPath, ['--test', ...task.whetstone.test_files], { cwd: root, stdio: 'pipe' });
      bare.push(performance.now() - alone);
    }
    const over = median(graded) - median(bare);
    console.log(
      `grading: ${milliseconds(median(graded))}, the bare command ${milliseconds(median(bare))}: ${milliseconds(over)} over it (medians of 11)`,
    );

    const before = cpuTimes();
    const started = performance.now();
    let runs = 0;
    const episode = async () => {
      while (performance.now() - started < 15_000) {
        await gradePatch(environment, task, task.patch, { timeoutMs: 60_000, statistics: null });
        runs++;
      }
    };
    await Promise.all(Array.from({ length: 8 }, episode));
    const seconds = (performance.now() - started) / 1000;
    const after = cpuTimes();
    const busy = (after.busy - before.busy) / (after.total - before.total);
    console.log(
      `8 side by side on ${cpus().length} cores: ${(runs / seconds).toFixed(1)} graded runs/s, the processor ${(100 * busy).toFixed(0)} % busy`,
    );
  } finally {
    await environment.dispose();
  }
}

function cpuTimes(): { busy: number; total: number } {
  const fields = readFileSync('/proc/stat', 'utf8').split('\n')[0].trim().split(/\s+/).slice(1).map(Number);
  const total = fields.slice(0, 8).reduce((sum, value) => sum + value, 0);
  return { busy: total - fields[3] - fields[4], total };
}

async function main(): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'whetstone-bench-'));
  try {
    for (const name of ['reset', 'grading']) mkdirSync(path.join(folder, name));
    await benchReset(path.join(folder, 'reset'));
    await benchGrading(path.join(folder, 'grading'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

void main();
