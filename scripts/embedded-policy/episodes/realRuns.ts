import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { NodeTest } from '../../../src/env/testing/nodeTest.js';
import { Pytest } from '../../../src/env/testing/pytest.js';
import type { DetectedRunner, TestResult } from '../../../src/env/testing/testRunner.js';
import type { Program } from '../programs/program.js';

export interface TestedSource {
  readonly program: Program;
  readonly source: string;
}

/** Node and Python that run the tests; Node is started so that all modules share one process where it can. */
export interface Runtimes {
  readonly node: string;
  readonly nodeFlags: readonly string[];
  readonly python: string;
}

/**
 * Runs the tests of many modules at once by the product's own adapters: results per module, with paths as if it stood
 * alone in its repository. Null for a module without results. All modules have one language and one module system.
 */
export async function realRuns(items: readonly TestedSource[], runtimes: Runtimes): Promise<(TestResult[] | null)[]> {
  const first = items[0];
  if (first === undefined) return [];
  const python = first.program.language === 'python';
  const tree = await mkdtemp(join(tmpdir(), 'whetstone-programs-'));
  const results = await mkdtemp(join(tmpdir(), 'whetstone-results-'));
  try {
    // Python's modules share a folder, since their tests import them from the root.
    const prefix = (index: number) => (python ? '' : `p${index}/`);
    const put = async (path: string, text: string) => {
      const file = join(tree, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
    };
    if (python) await put('conftest.py', '');
    else await put('package.json', first.program.modules === 'esm' ? '{"type": "module"}' : '{}');
    const testFiles: string[] = [];
    for (const [index, { program, source }] of items.entries()) {
      await put(prefix(index) + program.sourcePath, source);
      await put(prefix(index) + program.testPath, program.test);
      testFiles.push(prefix(index) + program.testPath);
    }
    const runner = python ? new Pytest(runtimes.python) : new NodeTest(runtimes.node);
    const detected: DetectedRunner = { runner, root: '.', testFiles };
    const { argv, env } = runner.command(detected, testFiles, results);
    const [program, ...rest] = argv;
    await finished(program!, python ? rest : [...runtimes.nodeFlags, ...rest], {
      cwd: tree,
      env: { ...process.env, ...env },
    });
    const all = (await runner.parse(results, detected, tree)) ?? [];
    return items.map((item, index) => {
      const own = all.filter(({ file }) => file === prefix(index) + item.program.testPath);
      if (own.length === 0) return null;
      const strip = (text: string) => (python ? text : text.replaceAll(prefix(index), ''));
      return own.map((result) => ({
        ...result,
        id: strip(result.id),
        file: strip(result.file),
        message: strip(result.message),
      }));
    });
  } finally {
    await rm(tree, { recursive: true, force: true });
    await rm(results, { recursive: true, force: true });
  }
}

function finished(
  program: string,
  args: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...options, stdio: 'ignore', timeout: 180_000, killSignal: 'SIGKILL' });
    child.on('error', reject);
    child.on('close', () => resolve());
  });
}
