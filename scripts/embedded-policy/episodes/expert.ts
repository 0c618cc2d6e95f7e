import { injectionStatement } from '../../../src/env/tasks/statement.js';
import type { TestResult } from '../../../src/env/testing/testRunner.js';
import { NOTHING_CHANGED, renderNoEdit, replaceOnce } from '../../../src/env/tools/edit.js';
import { renderFolder, renderOpen } from '../../../src/env/tools/open.js';
import { systemPrompt } from '../../../src/env/tools/prompts.js';
import { renderTestReport } from '../../../src/env/tools/runTests.js';
import { findInText, renderSearch } from '../../../src/env/tools/search.js';
import { SUBMITTED } from '../../../src/env/tools/submit.js';
import { toolSchemas } from '../../../src/env/tools/tools.js';
import type { Program } from '../programs/program.js';
import type { Rng } from '../programs/rng.js';
import { attemptTurn, editSteps } from './attempt.js';
import type { EpisodeTurn, ExpertEpisode } from './episode.js';
import { lineEdit, type LineEdit } from '../../../src/trainer/warmStart/lineEdit.js';
import { definitionLine, editCall, toolCall } from '../../../src/trainer/warmStart/turnText.js';

/** A state of the module and what its tests said of it. */
export interface Attempt {
  readonly source: string;
  readonly results: readonly TestResult[];
}

export interface Situation {
  readonly program: Program;
  readonly operator: string;
  readonly buggy: Attempt;
  /** What is tried before the bug is found: each starts from the buggy source again. */
  readonly wrong: readonly Attempt[];
  readonly fixed: Attempt;
  /** Other modules of the same small repository. */
  readonly others: readonly Program[];
  readonly repo: string;
}

/** Plays an expert's episode against what the tools would have answered. Null where the bug has no single edit. */
export function playExpert(rng: Rng, situation: Situation): ExpertEpisode | null {
  const { program, buggy, fixed } = situation;
  const repair = lineEdit(buggy.source, fixed.source);
  if (repair === null) return null;
  const failing = buggy.results.filter(({ status }) => status === 'failed');
  const scene = new Scene(rng, situation);
  if (rng.chance(0.15)) scene.runTests(buggy.results);
  const suspect = suspectOf(program, failing[0]!);
  find(rng, scene, situation, suspect, repair);

  let current = buggy.source;
  if (rng.chance(0.08)) scene.clumsyEdit(current, repair);
  for (const attempt of situation.wrong) {
    if (!scene.edit(current, attempt.source, buggy.source, suspect, false)) return null;
    scene.runTests(attempt.results);
    current = attempt.source;
  }
  if (!scene.edit(current, fixed.source, buggy.source, suspect, true)) return null;
  scene.runTests(fixed.results);
  scene.call('submit', {}, SUBMITTED);
  return {
    language: program.language,
    operator: situation.operator,
    system: systemPrompt(toolSchemas),
    user: injectionStatement(situation.repo, failing, []),
    turns: scene.turns,
  };
}

/** The function that a failing test names, as far as its title or message shows it; null where they do not. */
function suspectOf(program: Program, failure: TestResult): string | null {
  const title = failure.id.slice(failure.file.length);
  const found = [...program.source.matchAll(/[A-Za-z_$][\w$]*/g)]
    .map(([word]) => word)
    .filter((word) => word.length > 2 && program.test.includes(word));
  const words = new Set(title.split(/[^\w$]+/));
  const named = found.find((word) => words.has(word) && definitionLine(program.source, word) > 0);
  if (named !== undefined) return named;
  return (
    program.names
      .filter((name) => new RegExp(`\\btest_${name}(_|\\b)`).test(title))
      .sort((a, b) => b.length - a.length)[0] ?? null
  );
}

/** From the statement to the sight of the faulty line. */
function find(rng: Rng, scene: Scene, { program, buggy }: Situation, suspect: string | null, repair: LineEdit): void {
  const { sourcePath, testPath } = program;
  const guess = likelySource(testPath);
  const plan = rng.next();
  let line: number | undefined;
  if (suspect === null && plan < 0.5) {
    scene.open(testPath, program.test);
  } else if (plan < 0.06) {
    scene.open(testPath, program.test);
  } else if (plan < 0.1) {
    scene.openFolder(sourcePath.includes('/') ? sourcePath.split('/').slice(0, -1).join('/') : '.');
  } else if (guess === sourcePath && plan < 0.75) {
    // The path can be read off the test's.
  } else {
    if (guess !== sourcePath && plan > 0.85) scene.openNothing(guess);
    const query = suspect ?? stemOf(sourcePath);
    const hits = scene.search(query);
    const hit = hits.find(({ path }) => path === sourcePath);
    if (hit === undefined)
      scene.openFolder(sourcePath.includes('/') ? sourcePath.split('/').slice(0, -1).join('/') : '.');
    line = hit !== undefined && hit.line > 20 ? hit.line : undefined;
  }
  if (rng.chance(0.04)) scene.openOther();
  const lines = buggy.source.split('\n').length - 1;
  scene.open(sourcePath, buggy.source, line);
  const first = line === undefined ? 1 : Math.max(1, Math.min(lines - 39, line - 20));
  if (repair.line < first) scene.open(sourcePath, buggy.source);
  else if (repair.line >= first + 40) scene.open(sourcePath, buggy.source, first + 60);
}

const stemOf = (path: string) =>
  path
    .split('/')
    .at(-1)!
    .replace(/\.\w+$/, '');

/** Where a test's subject mostly stands. */
function likelySource(testPath: string): string {
  const parts = testPath.split('/');
  const file = parts
    .pop()!
    .replace(/\.test\.(\w+)$/, '.$1')
    .replace(/^test_/, '');
  const folders = parts.map((part) => (part === 'test' || part === 'tests' ? 'src' : part));
  return [...folders, file].join('/');
}

class Scene {
  readonly turns: EpisodeTurn[] = [];

  constructor(
    private readonly rng: Rng,
    private readonly situation: Situation,
  ) {}

  call(name: string, args: Readonly<Record<string, unknown>>, content: string, train = true): void {
    this.turns.push({ raw: toolCall(name, args), train, observations: [{ name, content }] });
  }

  runTests(results: readonly TestResult[]): void {
    const own = this.rng.chance(0.15);
    this.call(
      'run_tests',
      own ? { files: [this.situation.program.testPath] } : {},
      renderTestReport({ outcome: 'completed', results, output: '' }),
    );
  }

  open(path: string, text: string, line?: number, train = true): void {
    this.call('open', line === undefined ? { path } : { path, line }, renderOpen(path, text, line), train);
  }

  openNothing(path: string): void {
    this.call('open', { path }, `No file "${path}".`, false);
  }

  openOther(): void {
    const other = this.rng.pick(this.situation.others);
    this.open(other.sourcePath, other.source, undefined, false);
  }

  openFolder(path: string): void {
    const prefix = path === '.' ? '' : `${path}/`;
    const files = this.files().map(([file]) => file);
    const extra =
      path === '.'
        ? ['README.md', this.situation.program.language === 'python' ? 'pyproject.toml' : 'package.json']
        : [];
    const names = [...files, ...extra]
      .filter((file) => file.startsWith(prefix))
      .map((file) => file.slice(prefix.length))
      .map((rest) => (rest.includes('/') ? `${rest.split('/')[0]!}/` : rest));
    this.call('open', { path }, renderFolder(path, [...new Set(names)]));
  }

  search(query: string): { path: string; line: number }[] {
    const hits = this.files().flatMap(([path, text]) => findInText(path, text, query));
    const isTest = (path: string) => /test/.test(path);
    const sorted = [...hits.filter(({ path }) => !isTest(path)), ...hits.filter(({ path }) => isTest(path))];
    this.call('search', { query }, renderSearch(query, sorted));
    return sorted;
  }

  /**
   * From `current` to `wanted`; where the current text holds an attempt that failed on another line, it is first put
   * back. False where that can not be said in edits.
   */
  edit(current: string, wanted: string, buggy: string, suspect: string | null, train: boolean): boolean {
    const path = this.situation.program.sourcePath;
    const steps = editSteps(current, wanted, buggy);
    if (steps === null) return false;
    this.turns.push(attemptTurn(suspect, path, steps, train));
    return true;
  }

  /** An edit that the tool refuses: of a neighbouring line, misquoted, or of nothing. */
  clumsyEdit(current: string, repair: LineEdit): void {
    const path = this.situation.program.sourcePath;
    const clumsy = this.rng.pick<Partial<LineEdit>>([
      { line: Math.max(1, repair.line + this.rng.pick([-1, 1])) },
      { old: repair.old.replace(/\w+/, (word) => `${word}s`) },
      { new: repair.old },
    ]);
    const edit = { ...repair, ...clumsy };
    const result = replaceOnce(current, edit.old, edit.new, edit.line);
    const isRefused = 'occurrences' in result;
    if (!isRefused && result.text !== current) return;
    this.turns.push({
      raw: editCall(path, edit),
      train: false,
      observations: [
        { name: 'edit', content: isRefused ? renderNoEdit(path, result.occurrences, edit.line) : NOTHING_CHANGED },
      ],
    });
  }

  private files(): [string, string][] {
    const { program, buggy, others } = this.situation;
    const all: [string, string][] = [
      [program.sourcePath, buggy.source],
      [program.testPath, program.test],
      ...others.flatMap((other): [string, string][] => [
        [other.sourcePath, other.source],
        [other.testPath, other.test],
      ]),
    ];
    return all.sort(([a], [b]) => (a < b ? -1 : 1));
  }
}
