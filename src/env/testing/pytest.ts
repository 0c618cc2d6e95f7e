import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { XMLParser } from 'fast-xml-parser';
import { z } from 'zod';
import { say } from '../../trajectory/said.js';
import { pytestFailureMessage, withoutColours } from './failureMessage.js';
import { globToRegExp } from './glob.js';
import { listFiles } from './listFiles.js';
import { pytestLauncher } from './pytestLauncher.js';
import { packageRoots } from './packageRoots.js';
import { keyName, keyVariable, readProvenBeside } from './resultsProof.js';
import type { DetectedRunner, RunnerCheck, TestResult, TestRunner } from './testRunner.js';
import { withUniqueIds, type NamedResult } from './uniqueIds.js';

const resultsName = 'junit.xml';
/** pytest's own choice, and the names that unittest's users give; files named to it are run whatever they are called. */
const usualNames = ['test_*.py', '*_test.py', 'test.py', 'tests.py'];
const configurationNames = [
  'pytest.toml',
  '.pytest.toml',
  'pytest.ini',
  '.pytest.ini',
  'pyproject.toml',
  'tox.ini',
  'setup.cfg',
];
const testFolder = /(^|\/)(tests?|testing)\//;
/** Also what a package is said to bring: pytest loads plugins that are named there. */
const configuration =
  /(^|\/)(conftest\.py|\.?pytest\.(?:ini|toml)|pyproject\.toml|tox\.ini|setup\.cfg|\.coveragerc|\.env[^/]*|sitecustomize\.py|usercustomize\.py)$|\.(dist|egg)-info(\/|$)|\.pth$/;

/**
 * pytest, started by `pytestLauncher`. `python` is an absolute path, or a path relative to the tree where the repository
 * has a virtual environment of its own.
 */
export class Pytest implements TestRunner {
  readonly name = 'pytest';

  constructor(
    private readonly python: string,
    private readonly detectedFiles: ReadonlySet<string> = new Set(),
    /** Folder of the sources, relative to where pytest is started; empty where they lie beside the tests. */
    private readonly sources = '',
  ) {}

  get check(): RunnerCheck {
    return {
      argv: [this.python, '-m', 'pytest', '--version'],
      problem: say`The tests run with pytest, and ${this.python} does not have it.`,
      remedy: say`Install it: ${this.python} -m pip install pytest (with the packages that the tests need).`,
    };
  }

  async detect(tree: string): Promise<readonly DetectedRunner[]> {
    const files = await listFiles(tree);
    const found: DetectedRunner[] = [];
    // The innermost first: a package's tests run in its own folder, with its own settings.
    for (const root of packageRoots(files, configurationNames).reverse()) {
      const taken = new Set(found.flatMap(({ testFiles }) => testFiles));
      const testFiles = (await this.testFiles(tree, root, files)).filter((file) => !taken.has(file));
      if (testFiles.length === 0) continue;
      // Else an installed release of the same package would be tested in the place of the tree.
      const sources = root === '.' ? 'src/' : `${root}/src/`;
      const hasSources = files.some((file) => file.startsWith(sources) && file.endsWith('.py'));
      found.push({ runner: new Pytest(this.python, new Set(testFiles), hasSources ? 'src' : ''), root, testFiles });
    }
    return found.reverse();
  }

  private async testFiles(tree: string, root: string, files: readonly string[]): Promise<string[]> {
    const settings = await settingsOf(path.join(tree, root));
    const prefix = root === '.' ? '' : `${root}/`;
    const patterns = settings.pythonFiles.map((pattern) => globToRegExp(pattern));
    const folders = settings.testPaths.map((folder) => prefix + folder.replace(/\/$/, ''));
    return files.filter(
      (file) =>
        file.endsWith('.py') &&
        file.startsWith(prefix) &&
        patterns.some((pattern) => pattern.test(path.posix.basename(file))) &&
        (folders.length === 0 || folders.some((folder) => file === folder || file.startsWith(`${folder}/`))),
    );
  }

  isTestFile(name: string): boolean {
    const base = path.posix.basename(name);
    return (
      this.detectedFiles.has(name) ||
      /^test_.*\.py$|_test\.py$|^tests?\.py$/.test(base) ||
      testFolder.test(name) ||
      configuration.test(name)
    );
  }

  command(detected: DetectedRunner, files: readonly string[], resultsFolder: string) {
    const chosen = files.length > 0 ? files : detected.testFiles;
    const python = path.isAbsolute(this.python)
      ? this.python
      : path.join(path.relative(detected.root, '.'), this.python);
    const results = path.join(resultsFolder, resultsName);
    return {
      argv: [
        python,
        '-c',
        pytestLauncher,
        results,
        this.sources,
        '-q',
        '--tb=short',
        '--color=no',
        '--rootdir=.',
        '--continue-on-collection-errors',
        '-p',
        'no:cacheprovider',
        '-p',
        'no:randomly',
        `--junitxml=${results}`,
        '-o',
        'junit_family=xunit1',
        '--',
        ...chosen.map((file) => path.posix.relative(detected.root, file)),
      ],
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
    return text === null ? null : parseJunit(text, { root: detected.root, testFiles: detected.testFiles, tree });
  }
}

const outcome = z.union([
  z.string(),
  z.looseObject({ '@message': z.string().optional(), '#text': z.string().optional() }),
]);
const testCase = z.looseObject({
  '@classname': z.string().default(''),
  '@name': z.string().default(''),
  '@file': z.string().optional(),
  failure: z.array(outcome).optional(),
  error: z.array(outcome).optional(),
  skipped: z.array(outcome).optional(),
});
const document = z.object({
  testsuites: z.object({ testsuite: z.array(z.object({ testcase: z.array(testCase).default([]) })) }),
});

/** Results from pytest's JUnit XML (family xunit1); null where the document is missing or cut off. */
export function parseJunit(
  text: string,
  context: { readonly root: string; readonly testFiles: readonly string[]; readonly tree: string },
): TestResult[] | null {
  if (!text.includes('</testsuites>')) return null;
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: '@',
    parseAttributeValue: false,
    parseTagValue: false,
    trimValues: false,
    isArray: (name) => ['testsuite', 'testcase', 'failure', 'error', 'skipped'].includes(name),
  });
  let parsed: z.infer<typeof document>;
  try {
    parsed = document.parse(withoutWhitespaceSuites(parser.parse(text)));
  } catch {
    return null;
  }
  return withUniqueIds(
    parsed.testsuites.testsuite.flatMap((suite) => suite.testcase).map((entry) => namedResult(entry, context)),
  );
}

/** A suite without tests comes out as text between its tags. */
function withoutWhitespaceSuites(parsed: unknown): unknown {
  const found = z.looseObject({ testsuites: z.looseObject({ testsuite: z.array(z.unknown()) }) }).safeParse(parsed);
  if (!found.success) return parsed;
  const suites = found.data.testsuites.testsuite.filter((suite) => typeof suite === 'object');
  return { testsuites: { testsuite: suites } };
}

function namedResult(
  entry: z.infer<typeof testCase>,
  context: { root: string; testFiles: readonly string[]; tree: string },
): NamedResult {
  const prefix = context.root === '.' ? '' : `${context.root}/`;
  const dotted = [entry['@classname'], entry['@name']].filter((part) => part !== '').join('.');
  const file =
    entry['@file'] === undefined
      ? fileOf(dotted, context.testFiles, prefix)
      : prefix + entry['@file'].replaceAll('\\', '/');
  const module = file.slice(prefix.length).replace(/\.py$/, '').replaceAll('/', '.');
  const classes = entry['@classname'] === module ? '' : entry['@classname'].replace(`${module}.`, '');
  const isCollection = entry['@classname'] === '';
  const names = isCollection ? [] : [...classes.split('.').filter((part) => part !== ''), entry['@name']];
  const failures = [...(entry.failure ?? []), ...(entry.error ?? [])];
  if (failures.length > 0) {
    const texts = failures.map((failure) => (typeof failure === 'string' ? failure : (failure['#text'] ?? '')));
    const first = failures[0];
    const fallback = typeof first === 'string' ? '' : withoutColours(first['@message'] ?? '');
    const message = pytestFailureMessage(texts[0], fallback, { tree: context.tree, testFile: file });
    return { file, path: names, status: 'failed', message };
  }
  return { file, path: names, status: entry.skipped ? 'skipped' : 'passed', message: '' };
}

/** pytest gives a file that could not be collected by its dotted name alone. */
function fileOf(dotted: string, testFiles: readonly string[], prefix: string): string {
  const asModule = (file: string) => file.slice(prefix.length).replace(/\.py$/, '').replaceAll('/', '.');
  const matches = testFiles.filter((file) => dotted === asModule(file) || dotted.startsWith(`${asModule(file)}.`));
  const longest = matches.sort((a, b) => b.length - a.length)[0];
  return longest ?? `${prefix}${dotted.replaceAll('.', '/')}.py`;
}

interface PytestSettings {
  readonly pythonFiles: readonly string[];
  readonly testPaths: readonly string[];
}

/** `python_files` and `testpaths` of the first configuration file that has a section for pytest. */
async function settingsOf(folder: string): Promise<PytestSettings> {
  for (const name of configurationNames) {
    const text = await readFile(path.join(folder, name), 'utf8').catch(() => '');
    const section =
      /^\[(?:pytest|tool:pytest|tool\.pytest\.ini_options|tool\.pytest)\]\s*$([\s\S]*?)(?=^\[|(?![\s\S]))/m.exec(text);
    if (!section) continue;
    const pythonFiles = listSetting(section[1], 'python_files');
    return {
      pythonFiles: pythonFiles.length > 0 ? pythonFiles : usualNames,
      testPaths: listSetting(section[1], 'testpaths'),
    };
  }
  return { pythonFiles: usualNames, testPaths: [] };
}

/** A value of an ini or TOML section: words, quoted words, or a list over several lines. */
function listSetting(section: string, name: string): string[] {
  const match = new RegExp(`^${name}[ \\t]*=[ \\t]*(\\[[\\s\\S]*?\\]|.*(?:\\n[ \\t]+.*)*)`, 'm').exec(section);
  return match ? match[1].split(/[\s,"'[\]]+/).filter((word) => word !== '') : [];
}
