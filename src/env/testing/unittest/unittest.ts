import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { say } from '../../../trajectory/said.js';
import { pytestFailureMessage } from '../failureMessage.js';
import { listFiles } from '../listFiles.js';
import { packageRoots } from '../packageRoots.js';
import { keyName, keyVariable, readProvenBeside } from '../resultsProof.js';
import type { DetectedRunner, RunnerCheck, TestResult, TestRunner } from '../testRunner.js';
import { withUniqueIds } from '../uniqueIds.js';
import { unittestLauncher } from './unittestLauncher.js';
import { usesPytest } from './usesPytest.js';

const resultsName = 'unittest.jsonl';
const manifestNames = ['pyproject.toml', 'setup.py', 'setup.cfg', 'tox.ini'];
/** What discovery takes (`test*.py`), and the other name that its users give with `-p`. */
const testName = /^(test[^/]*|[^/]*_tests?)\.py$/;
const testFolder = /(^|\/)(tests?|testing)\//;
const configuration =
  /(^|\/)(pyproject\.toml|setup\.py|setup\.cfg|tox\.ini|\.coveragerc|\.env[^/]*|sitecustomize\.py|usercustomize\.py)$|\.(dist|egg)-info(\/|$)|\.pth$/;

/**
 * Python's own unittest, for repositories that do not use pytest. `python` is an absolute path, or a path relative to the
 * tree where the repository has a virtual environment of its own. A test is a method: its subtests (`subTest`) are parts of it,
 * named in its message, since their parameters print differently from run to run.
 */
export class Unittest implements TestRunner {
  readonly name = 'unittest';

  constructor(
    private readonly python: string,
    private readonly detectedFiles: ReadonlySet<string> = new Set(),
    /** Folder that it is started in, relative to the tree. */
    private readonly root = '.',
    /** Folder of the sources, relative to the root; empty where they lie beside the tests. */
    private readonly sources = '',
  ) {}

  private get program(): string {
    return path.isAbsolute(this.python) ? this.python : path.join(path.relative(this.root, '.'), this.python);
  }

  get check(): RunnerCheck {
    return {
      argv: [this.program, '-c', 'import sys, unittest; sys.exit(sys.version_info < (3, 8))'],
      problem: say`The tests run with unittest, and ${this.python} is older than Python 3.8 or does not start.`,
      remedy: say`Put Python 3.8 or newer on PATH, or make a virtual environment of it in .venv.`,
    };
  }

  async detect(tree: string): Promise<readonly DetectedRunner[]> {
    const files = await listFiles(tree);
    const named = files.filter((file) => testName.test(path.posix.basename(file)));
    if (named.length === 0 || (await usesPytest(tree, files))) return [];
    const texts = await Promise.all(named.map((file) => readFile(path.join(tree, file), 'utf8').catch(() => '')));
    const tests = named.filter((_, index) => isUnittest(texts[index]));
    const found: DetectedRunner[] = [];
    // The innermost first: a package's tests run in its own folder.
    for (const root of packageRoots(files, manifestNames).reverse()) {
      const taken = new Set(found.flatMap(({ testFiles }) => testFiles));
      const prefix = root === '.' ? '' : `${root}/`;
      const testFiles = tests.filter((file) => file.startsWith(prefix) && !taken.has(file));
      if (testFiles.length === 0) continue;
      const hasSources = files.some((file) => file.startsWith(`${prefix}src/`) && file.endsWith('.py'));
      const runner = new Unittest(this.python, new Set(testFiles), root, hasSources ? 'src' : '');
      found.push({ runner, root, testFiles });
    }
    return found.reverse();
  }

  isTestFile(name: string): boolean {
    return (
      this.detectedFiles.has(name) ||
      testName.test(path.posix.basename(name)) ||
      testFolder.test(name) ||
      configuration.test(name)
    );
  }

  command(detected: DetectedRunner, files: readonly string[], resultsFolder: string) {
    const chosen = files.length > 0 ? files : detected.testFiles;
    const results = path.join(resultsFolder, resultsName);
    const relative = chosen.map((file) => path.posix.relative(detected.root, file));
    return {
      argv: [this.program, '-c', unittestLauncher, results, this.sources, ...relative],
      env: { [keyVariable]: path.join(resultsFolder, keyName) },
    };
  }

  async parse(
    resultsFolder: string,
    detected: DetectedRunner,
    tree: string,
    key?: string,
  ): Promise<readonly TestResult[] | null> {
    const text = await readProvenBeside(resultsFolder, resultsName, key);
    return text === null ? null : parseUnittestResults(text, detected.root, tree);
  }
}

/** A test case, or tests that the file gathers itself; a file of plain functions is for others. */
const isUnittest = (text: string) => /\bunittest\b|\bTestCase\b|^def load_tests\b/m.test(text);

const line = z.object({
  file: z.string(),
  path: z.array(z.string()),
  status: z.enum(['passed', 'failed', 'skipped']),
  text: z.string(),
});
const end = z.strictObject({ end: z.literal(true) });

/** Results from the launcher's lines; null where the last does not say that the run came to its end. */
export function parseUnittestResults(text: string, root: string, tree: string): TestResult[] | null {
  try {
    const values = text
      .trimEnd()
      .split('\n')
      .map((row): unknown => JSON.parse(row));
    end.parse(values.pop());
    const context = { tree: root === '.' ? tree : `${tree}/${root}`, prefix: root === '.' ? '' : `${root}/` };
    return withUniqueIds(
      values.map((value) => {
        const { file, path: names, status, text: reason } = line.parse(value);
        const message =
          status === 'failed' ? pytestFailureMessage(reason, '', { tree: context.tree, testFile: file }) : '';
        return { file: context.prefix + file, path: names, status, message };
      }),
    );
  } catch {
    return null;
  }
}
