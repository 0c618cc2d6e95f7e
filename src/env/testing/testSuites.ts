import path from 'node:path';
import type { DetectedRunner, TestRunner } from './testRunner.js';

/** Some test files of one runner. */
export interface Selection {
  readonly detected: DetectedRunner;
  readonly files: readonly string[];
}

/** What drives the tests of a repository: one runner or several, each in one root or several. */
export class TestSuites {
  /** Of several that claim a file, the first has it. */
  readonly parts: readonly DetectedRunner[];

  /** `runners` look for tests in other trees of the repository. */
  constructor(
    detected: readonly DetectedRunner[],
    private readonly runners: readonly TestRunner[],
    /** One line for each runner whose tests are there and cannot be run. */
    readonly unusable: readonly string[] = [],
  ) {
    this.parts = withoutSharedFiles(detected);
  }

  /** Without the parts that cannot be run, for which `lines` give the reasons. */
  without(isLeftOut: (part: DetectedRunner) => boolean, lines: readonly string[]): TestSuites {
    const parts = this.parts.filter((part) => !isLeftOut(part));
    return new TestSuites(parts, this.runners, [...this.unusable, ...lines]);
  }

  /** Names of the runners, each once. */
  get name(): string {
    return [...new Set(this.parts.map(({ runner }) => runner.name))].join(', ');
  }

  /** The folder that the tests are started in, relative to the tree; `.` where there are several. */
  get root(): string {
    const roots = new Set(this.parts.map(({ root }) => root));
    return roots.size === 1 ? [...roots][0] : '.';
  }

  get testFiles(): readonly string[] {
    return this.parts.flatMap(({ testFiles }) => testFiles);
  }

  /** Is this path (relative to the tree) a test or a file that configures tests, which the policy may not change? */
  isTestFile(name: string): boolean {
    return this.parts.some(({ runner }) => runner.isTestFile(name));
  }

  /** Is this a test file that holds sources too, which the policy may change? */
  isMixed(name: string): boolean {
    const isIts = ({ runner, testFiles }: DetectedRunner) => runner.restoreTests && testFiles.includes(name);
    return this.parts.some(isIts) && !this.isTestFile(name);
  }

  /** The changed text of a source with the original's tests in it; null where it cannot be graded. */
  restoreTests(name: string, original: string, changed: string): string | null {
    if (this.parts.some(({ runner }) => runner.isGradable?.(name, original, changed) === false)) return null;
    let text: string | null = changed;
    for (const restore of new Set(this.parts.map(({ runner }) => runner.restoreTests))) {
      if (restore && text !== null) text = restore(name, original, text);
    }
    return text;
  }

  /** The files by the runner that runs them: the one that found them, else the first that takes them for its tests. */
  select(files: readonly string[]): Selection[] {
    const owner = (file: string) =>
      this.parts.find(({ testFiles }) => testFiles.includes(file)) ??
      this.parts.find(({ runner, root }) => isBelow(file, root) && runner.isTestFile(file)) ??
      this.parts[0];
    const owners = files.map(owner);
    return this.parts
      .map((detected) => ({ detected, files: files.filter((_, index) => owners[index] === detected) }))
      .filter((selection) => selection.files.length > 0);
  }

  /** The test files of another tree of the same repository. */
  async testFilesIn(tree: string): Promise<readonly string[]> {
    const detected = await Promise.all(this.runners.map((runner) => runner.detect(tree)));
    return withoutSharedFiles(detected.flat()).flatMap(({ testFiles }) => testFiles);
  }
}

function withoutSharedFiles(detected: readonly DetectedRunner[]): DetectedRunner[] {
  const taken = new Set<string>();
  return detected
    .map((part) => {
      const testFiles = part.testFiles.filter((file) => !taken.has(file));
      for (const file of testFiles) taken.add(file);
      return { ...part, testFiles };
    })
    .filter(({ testFiles }) => testFiles.length > 0);
}

const isBelow = (file: string, root: string) => root === '.' || !path.posix.relative(root, file).startsWith('..');
