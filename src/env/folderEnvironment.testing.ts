/** For tests only: an environment over plain folders, whose test runner is a function. The tools on top are the real ones. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import type { AssistantMessage } from '../trajectory/message.js';
import { say } from '../trajectory/said.js';
import type { Task } from '../trajectory/task.js';
import type { Environment } from './environment.js';
import type { EpisodeLimits } from './episodeTypes.js';
import type { TestReport, TestRunner } from './testing/testRunner.js';
import { TestSuites } from './testing/testSuites.js';
import type { FileChange, Workspace } from './workspace/workspace.js';

export const limits: EpisodeLimits = {
  maxTurns: 5,
  commandTimeoutMs: 10_000,
  testTimeoutMs: 10_000,
  observationCharacters: 1000,
};

export function makeTask(fields: Partial<Task> = {}, whetstone: Partial<Task['whetstone']> = {}): Task {
  return {
    instance_id: 'demo-1',
    repo: 'demo',
    base_commit: '',
    environment_setup_commit: '',
    version: '',
    created_at: '',
    problem_statement: 'clamp returns the wrong bound.',
    hints_text: '',
    patch: '',
    test_patch: '',
    FAIL_TO_PASS: [],
    PASS_TO_PASS: [],
    ...fields,
    whetstone: {
      source: 'injection',
      split: 'train',
      base_tree: '',
      start_patch: '',
      runner: 'fake',
      test_root: '.',
      test_files: ['test/clamp.test.js'],
      ...whetstone,
    },
  };
}

/** An assistant turn as the codec would parse it. */
export function turn(...calls: [name: string, args: Record<string, unknown>][]): AssistantMessage {
  const toolCalls = calls.map(([name, args], index) => ({ id: `call-${index}`, name, arguments: args }));
  return { role: 'assistant', content: '', toolCalls, raw: '' };
}

export type FakeTests = (root: string, files: readonly string[], timeoutMs?: number) => Promise<Partial<TestReport>>;

/** Test files are those under `test/`. */
export async function folderEnvironment(
  files: Readonly<Record<string, string>>,
  runTests: FakeTests = () => Promise.resolve({}),
): Promise<Environment & { readonly opened: readonly string[] }> {
  const runner: TestRunner = {
    name: 'fake',
    detect: () => Promise.resolve([]),
    isTestFile: (file) => file.startsWith('test/'),
    command: () => ({ argv: [], env: {} }),
    check: { argv: [], problem: say``, remedy: say`` },
    parse: () => Promise.resolve(null),
  };
  const base = await mkdtemp(path.join(tmpdir(), 'whetstone-env-'));
  const opened: string[] = [];
  return {
    repoRoot: base,
    stateFolder: base,
    sandbox: 'unconfined',
    opened,
    suites: new TestSuites([{ root: '.', testFiles: ['test/a.test.js'], runner }], []),
    async openWorkspace(_task, changes = []) {
      const root = await mkdtemp(path.join(base, 'tree '));
      opened.push(root);
      await writeTree(root, { ...files, ...Object.fromEntries(changes.map(({ path: file, after }) => [file, after])) });
      return folderWorkspace(root, files, runTests);
    },
    dispose: () => rm(base, { recursive: true, force: true }),
  };
}

function folderWorkspace(root: string, files: Readonly<Record<string, string>>, runTests: FakeTests): Workspace {
  return {
    root,
    mountPath: root,
    sandbox: 'unconfined',
    run: ({ argv, timeoutMs }) =>
      new Promise((resolve) => {
        const started = Date.now();
        execFile(argv[0], argv.slice(1), { cwd: root, timeout: timeoutMs }, (error, stdout, stderr) => {
          resolve({
            outcome: error?.killed ? 'timed-out' : 'exited',
            exitCode: error ? ((error.code as unknown as number | undefined) ?? null) : 0,
            output: stdout + stderr,
            outputTruncated: false,
            durationMs: Date.now() - started,
          });
        });
      }),
    async runTests(options) {
      const report = await runTests(root, options?.files ?? [], options?.timeoutMs);
      return { outcome: 'completed', results: [], output: '', durationMs: 1, ...report };
    },
    async changes() {
      const now = await readTree(root);
      const paths = [...new Set([...Object.keys(files), ...Object.keys(now)])].sort();
      return paths
        .map((file): FileChange => ({ path: file, before: files[file] ?? null, after: now[file] ?? null }))
        .filter(({ before, after }) => before !== after);
    },
    ignored: () => Promise.resolve(new Set()),
    dispose: () => rm(root, { recursive: true, force: true }),
  };
}

async function writeTree(root: string, files: Readonly<Record<string, string | null>>): Promise<void> {
  for (const [file, text] of Object.entries(files)) {
    if (text === null) continue;
    await mkdir(path.dirname(path.join(root, file)), { recursive: true });
    await writeFile(path.join(root, file), text);
  }
}

async function readTree(root: string): Promise<Record<string, string>> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  const read = files.map(async (file) => {
    return [path.relative(root, file).split(path.sep).join('/'), await readFile(file, 'utf8')] as const;
  });
  return Object.fromEntries(await Promise.all(read));
}
