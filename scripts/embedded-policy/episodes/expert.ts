import { languageOf, parseSource } from '../../../src/env/tasks/injection/parsing.js';
import { applySite } from '../../../src/env/tasks/injection/operator.js';
import { namedFunctions, smallChanges, type NamedFunction } from '../../../src/env/tasks/injection/repairs.js';
import { injectionStatement } from '../../../src/env/tasks/statement.js';
import { chosen } from '../../../src/env/tools/choose.js';
import { renderEdit } from '../../../src/env/tools/edit.js';
import { renderFolder } from '../../../src/env/tools/open.js';
import { systemPrompt } from '../../../src/env/tools/prompts.js';
import { renderTestReport } from '../../../src/env/tools/runTests.js';
import { findInText, renderSearch } from '../../../src/env/tools/search.js';
import { SUBMITTED } from '../../../src/env/tools/submit.js';
import { nextLine, renderSuggestions, suggestionsOf } from '../../../src/env/tools/suggest.js';
import { toolSchemas } from '../../../src/env/tools/tools.js';
import type { TestResult } from '../../../src/env/testing/testRunner.js';
import { isSameCode } from '../../../src/trainer/warmStart/suggestedFix.js';
import { toolCall } from '../../../src/trainer/warmStart/turnText.js';
import type { Rng } from '../programs/rng.js';
import type { EpisodeTurn, ExpertEpisode } from './episode.js';

/** A bug in a file of a small repository, and what its tests say of it. */
export interface Situation {
  readonly repo: string;
  readonly language: string;
  readonly operator: string;
  readonly path: string;
  readonly testPath: string;
  readonly buggy: string;
  readonly fixed: string;
  /** The function that a failing test names; null where none does. */
  readonly suspect: string | null;
  readonly results: readonly TestResult[];
  /** What the tests say after a change that does not mend the bug. */
  readonly stillFailing: () => readonly TestResult[];
  readonly passing: readonly TestResult[];
  /** The texts of the repository's files, by path. */
  readonly files: readonly (readonly [path: string, text: string])[];
}

/** Part of the episodes in which the change that mends the bug is not the first; and of those, the second; and so on. */
const PART_THAT_FAILS = 0.6;
const MOST_ATTEMPTS = 7;
/** No function has this name, so `suggest` lists those that there are. */
const NO_FUNCTION = '?';

/**
 * Plays an expert's episode against what the tools would have answered: to the function that the tests name, through the
 * changes that are suggested for it. What is tried in vain is seen, and not learned. Null where no small change mends the bug.
 */
export function playExpert(rng: Rng, situation: Situation): ExpertEpisode | null {
  const { path, buggy, fixed, suspect } = situation;
  const source = parseSource(buggy, languageOf(path)!);
  const mending = smallChanges(source).find(({ site }) => isSameCode(applySite(buggy, site), fixed));
  if (mending === undefined) return null;
  const around = namedFunctions(source).filter(
    ({ node, name }) => node.startIndex <= mending.site.start && mending.site.end <= node.endIndex && name.length > 1,
  );
  if (around.length === 0) return null;
  const atFault = functionAtFault(rng, around, suspect);

  const scene = new Scene(rng, situation);
  if (rng.chance(0.08)) scene.runTests(situation.results);
  if (suspect === null) {
    scene.findFile();
    scene.suggest(NO_FUNCTION);
    const others = namedFunctions(source).filter(({ name }) => name !== atFault && name.length > 1);
    if (others.length > 0 && rng.chance(0.4))
      scene.tryInVain(scene.suggestInVain(rng.pick(others).name), rng.int(1, 3), null);
  } else {
    scene.find(suspect);
    if (suspect !== atFault) {
      if (scene.suggest(suspect)) scene.tryInVain(suspect, rng.int(1, 4), null);
      if (!scene.hasShown(atFault)) scene.suggest(NO_FUNCTION);
    }
  }
  const right = numberOf(path, buggy, atFault, fixed);
  if (right === null || !scene.suggest(atFault)) return null;
  scene.lookFurther(atFault, right.line);
  let failures = 0;
  while (failures < MOST_ATTEMPTS && rng.chance(PART_THAT_FAILS)) failures += 1;
  scene.tryInVain(atFault, failures, right.number);
  scene.choose(atFault, right.number, situation.passing, true);
  scene.call('submit', {}, SUBMITTED);
  return {
    language: situation.language,
    operator: situation.operator,
    system: systemPrompt(toolSchemas),
    user: injectionStatement(
      situation.repo,
      situation.results.filter(({ status }) => status === 'failed'),
      [],
    ),
    turns: scene.turns,
  };
}

/** The name that the change is asked for by: the test's where that function holds it, else mostly the innermost one's. */
function functionAtFault(rng: Rng, around: readonly NamedFunction[], suspect: string | null): string {
  if (around.some(({ name }) => name === suspect)) return suspect!;
  return (rng.chance(0.8) ? around.at(-1)! : around[0]!).name;
}

/** Number and line of the change that gives the mended text. */
function numberOf(path: string, buggy: string, name: string, fixed: string) {
  const changes = suggestionsOf(path, buggy, name);
  if ('problem' in changes) return null;
  const index = changes.findIndex(({ site }) => isSameCode(applySite(buggy, site), fixed));
  return index < 0 ? null : { number: index + 1, line: changes[index]!.line };
}

/** Where a test's subject mostly stands. */
export function likelySource(testPath: string): string {
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
  private readonly tried = new Map<string, Set<number>>();
  /** Lines that suggestions were asked for, by function. */
  private readonly from = new Map<string, number>();

  constructor(
    private readonly rng: Rng,
    private readonly situation: Situation,
  ) {}

  call(name: string, args: Readonly<Record<string, unknown>>, content: string, train = true): void {
    this.turns.push({ raw: toolCall(name, args), train, observations: [{ name, content }] });
  }

  /** Whether a name stands in what was told or shown so far. */
  hasShown(name: string): boolean {
    const failing = this.situation.results.filter(({ status }) => status === 'failed');
    const told = [
      ...failing.map(({ id }) => id),
      ...this.turns.flatMap(({ observations }) => observations.map(({ content }) => content)),
    ];
    return told.some((text) => text.includes(name));
  }

  runTests(results: readonly TestResult[]): void {
    this.call('run_tests', {}, report(results));
  }

  /** Up to the path: mostly read off the test's, or by a search for the function. */
  find(name: string): void {
    const { path, testPath } = this.situation;
    const guess = likelySource(testPath);
    if (guess === path && this.rng.chance(0.75)) return;
    if (guess !== path && this.rng.chance(0.1))
      this.call('suggest', { path: guess, name }, `No file "${guess}".`, false);
    this.search(name);
  }

  /** Up to the path where no test names a function: read off the test's, or found in its folder. */
  findFile(): void {
    const { path, testPath } = this.situation;
    if (likelySource(testPath) === path && this.rng.chance(0.8)) return;
    const folder = path.includes('/') ? path.split('/').slice(0, -1).join('/') : '.';
    if (folder !== '.' && this.rng.chance(0.4)) this.openFolder('.');
    this.openFolder(folder);
  }

  private openFolder(path: string): void {
    const prefix = path === '.' ? '' : `${path}/`;
    const extra =
      path === '.' ? ['README.md', this.situation.language === 'python' ? 'pyproject.toml' : 'package.json'] : [];
    const names = [...this.situation.files.map(([file]) => file), this.situation.testPath, ...extra]
      .filter((file) => file.startsWith(prefix))
      .map((file) => file.slice(prefix.length))
      .map((rest) => (rest.includes('/') ? `${rest.split('/')[0]!}/` : rest));
    this.call('open', { path }, renderFolder(path, [...new Set(names)]));
  }

  private search(query: string): void {
    const hits = this.situation.files.flatMap(([path, text]) => findInText(path, text, query));
    const isTest = (path: string) => /test/.test(path);
    const sorted = [...hits.filter(({ path }) => !isTest(path)), ...hits.filter(({ path }) => isTest(path))];
    this.call('search', { query }, renderSearch(query, sorted));
  }

  /** False where the file has no function of that name, which lists those that it has. */
  suggest(name: string, line?: number, train = true): boolean {
    const { path, buggy } = this.situation;
    if (line !== undefined) this.from.set(name, line);
    this.call(
      'suggest',
      line === undefined ? { path, name } : { path, name, line },
      renderSuggestions(path, buggy, name, line),
      train,
    );
    return !('problem' in suggestionsOf(path, buggy, name));
  }

  /** Of a function that is not at fault. */
  suggestInVain(name: string): string {
    this.suggest(name, undefined, false);
    return name;
  }

  /** Asks on until the line is among those listed. */
  lookFurther(name: string, line: number): void {
    for (let calls = 0; calls < 3; calls += 1) {
      const next = nextLine(this.shown(name));
      if (next === null || line < next) return;
      this.suggest(name, next);
    }
  }

  private shown(name: string): string {
    const { path, buggy } = this.situation;
    return renderSuggestions(path, buggy, name, this.from.get(name));
  }

  /** Other changes of those that are listed, none twice. */
  tryInVain(name: string, attempts: number, right: number | null): void {
    const tried = this.tried.get(name) ?? new Set<number>();
    this.tried.set(name, tried);
    const numbers = [...this.shown(name).matchAll(/^ {2}.*\((\d+)\)$/gm)].map(([, number]) => Number(number));
    const others = this.rng.shuffle(numbers.filter((number) => number !== right && !tried.has(number)));
    for (const number of others.slice(0, attempts)) {
      tried.add(number);
      this.choose(name, number, this.situation.stillFailing(), false);
    }
  }

  /** A change and what the tests say of it, in one turn. */
  choose(name: string, number: number, results: readonly TestResult[], train: boolean): void {
    const { path, buggy } = this.situation;
    const changed = chosen(path, buggy, name, number);
    if ('problem' in changed) throw new Error(changed.problem);
    this.turns.push({
      raw: `${toolCall('choose', { path, name, number })}\n${toolCall('run_tests', {})}`,
      train,
      observations: [
        { name: 'choose', content: renderEdit(path, buggy, changed.text) },
        { name: 'run_tests', content: report(results) },
      ],
    });
  }
}

const report = (results: readonly TestResult[]) => renderTestReport({ outcome: 'completed', results, output: '' });
