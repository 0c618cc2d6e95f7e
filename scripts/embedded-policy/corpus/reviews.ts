import {
  countSyntaxErrors,
  languageOf,
  type Language,
  parseSource,
  type SyntaxNode,
} from '../../../src/env/tasks/injection/parsing.js';
import { renderOpen, WINDOW_LINES } from '../../../src/env/tools/open.js';
import { systemPrompt } from '../../../src/env/tools/prompts.js';
import { SUBMITTED } from '../../../src/env/tools/submit.js';
import { toolSchemas } from '../../../src/env/tools/tools.js';
import { attemptTurn, editSteps } from '../episodes/attempt.js';
import type { EpisodeTurn, ExpertEpisode } from '../episodes/episode.js';
import { toolCall } from '../../../src/trainer/warmStart/turnText.js';
import { HARD, randomMutation } from '../episodes/variants.js';
import { invented, NOUNS } from '../programs/names.js';
import type { Rng } from '../programs/rng.js';
import type { CorpusFile } from './permissive.js';

/** Part of the single bugs that are not found at the first attempt; and of those, at the second; and so on. */
const PART_THAT_FAILS = 0.4;

/** What follows on an attempt that fails; whoever tells the review by tests writes what they say. */
const TESTS_FAIL_STILL: EpisodeTurn = {
  raw: toolCall('run_tests', {}),
  train: true,
  observations: [{ name: 'run_tests', content: '' }],
};

/** Characters; finding the functions of a longer file takes a while. */
const longestFile = 40_000;

/**
 * Episodes without tests on code that people wrote: functions of a real file, most with one bug by the product's
 * operators, and the request to mend them by name. They teach what code mostly looks like, and to quote it; several
 * bugs to a file, so that what is read teaches several edits. `seen` holds the functions of other files, which come once.
 */
export function reviewEpisodes(rng: Rng, file: CorpusFile, perFunction: number, seen: Set<string>): ExpertEpisode[] {
  const language = languageOf(file.path);
  if (language === null || file.text.length > longestFile) return [];
  const functions = functionsOf(file.text, language).filter(({ text }) => !seen.has(text));
  for (const { text } of functions) seen.add(text);
  const episodes: ExpertEpisode[] = [];
  const wanted = Math.min(40, Math.ceil(functions.length * perFunction));
  for (let attempt = 0; attempt < wanted * 2 && episodes.length < wanted; attempt += 1) {
    const scene = rng.chance(0.5) ? excerpt(rng, file.text, functions) : selection(rng, functions);
    const episode = scene === null ? null : reviewEpisode(rng, language, /\.\w+$/.exec(file.path)![0], scene);
    if (episode !== null) episodes.push(episode);
  }
  return episodes;
}

/** A function and the lines it takes, counted from 1. */
interface NamedFunction {
  readonly name: string;
  readonly text: string;
  readonly first: number;
  readonly last: number;
}

/** A file, the line it is opened at, and the functions that are then wholly in view, first to last. */
interface Scene {
  readonly lines: readonly string[];
  readonly openAt: number | undefined;
  readonly functions: readonly NamedFunction[];
}

/** The whole file, opened near one of its functions. */
function excerpt(rng: Rng, text: string, functions: readonly NamedFunction[]): Scene | null {
  const lines = text.split('\n');
  if (lines.length > 600) return null;
  const { first } = rng.pick(functions);
  const openAt = rng.chance(0.5) ? first : Math.max(1, first + rng.int(0, 16));
  const start = Math.min(Math.max(0, lines.length - 1 - WINDOW_LINES), Math.max(0, openAt - 1 - WINDOW_LINES / 2));
  const inView = functions.filter((candidate) => candidate.first > start && candidate.last <= start + WINDOW_LINES);
  const apart = inView.filter((candidate, i) => i === 0 || candidate.first > inView[i - 1]!.last);
  return { lines, openAt: start === 0 ? undefined : openAt, functions: apart };
}

/** A file of some of the functions alone. */
function selection(rng: Rng, functions: readonly NamedFunction[]): Scene | null {
  const chosen = rng
    .shuffle(functions.filter(({ text }) => !/^\s/.test(text)))
    .slice(0, rng.pick([1, 2, 2, 3, 3, 4, 5]));
  let next = 1;
  const placed = chosen.map(({ name, text }) => {
    const first = next;
    const last = first + text.split('\n').length - 1;
    next = last + 2;
    return { name, text, first, last };
  });
  const lines = `${placed.map(({ text }) => text).join('\n\n')}\n`.split('\n');
  return lines.length > WINDOW_LINES + 1 ? null : { lines, openAt: undefined, functions: placed };
}

function reviewEpisode(rng: Rng, language: Language, extension: string, scene: Scene): ExpertEpisode | null {
  const { lines, functions } = scene;
  const path = `${rng.pick(['src/', 'lib/', 'src/', '', 'source/'])}${rng.chance(0.4) ? invented(rng) : rng.pick(NOUNS)}${extension}`;
  const source = lines.join('\n');
  if (countSyntaxErrors(parseSource(source, language).root) > 0) return null;
  const bugs = new Map<NamedFunction, readonly string[]>();
  for (const target of rng.shuffle(functions)) {
    if (bugs.size === 4 || (bugs.size > 0 && rng.chance(0.25))) break;
    const bug = randomMutation(rng, path, source, target);
    if (bug === null || HARD.has(bug.operator)) continue;
    const mutated = bug.source.split('\n');
    if (mutated.length === lines.length) bugs.set(target, mutated.slice(target.first - 1, target.last));
  }
  if (bugs.size === 0) return null;
  const withBugs = (left: ReadonlyMap<NamedFunction, readonly string[]>) => {
    const now = [...lines];
    for (const [{ first, last }, text] of left) now.splice(first - 1, last - first + 1, ...text);
    return now.join('\n');
  };
  const shown = withBugs(bugs);
  const names = [...bugs.keys()].map(({ name }) => name);
  const turns: EpisodeTurn[] = [];
  for (const target of [...bugs.keys()]) {
    const before = withBugs(bugs);
    bugs.delete(target);
    const after = withBugs(bugs);
    let current = before;
    while (names.length === 1 && rng.chance(PART_THAT_FAILS)) {
      const wrong = randomMutation(rng, path, before, target)?.source;
      const attempt = wrong === undefined || wrong === after ? null : editSteps(current, wrong, before);
      if (attempt === null || wrong!.split('\n').length !== lines.length) break;
      turns.push(attemptTurn(target.name, path, attempt, false), TESTS_FAIL_STILL);
      current = wrong!;
    }
    const repair = editSteps(current, after, before);
    if (repair === null) return null;
    turns.push(attemptTurn(target.name, path, repair, true));
  }
  const place = scene.openAt === undefined ? path : `${path}, line ${scene.openAt}`;
  return {
    language,
    operator: 'review',
    system: systemPrompt(toolSchemas),
    user: request(rng, place, names),
    turns: [
      {
        raw: toolCall('open', scene.openAt === undefined ? { path } : { path, line: scene.openAt }),
        train: true,
        observations: [{ name: 'open', content: renderOpen(path, shown, scene.openAt) }],
      },
      ...turns,
      { raw: toolCall('submit', {}), train: true, observations: [{ name: 'submit', content: SUBMITTED }] },
    ],
  };
}

function request(rng: Rng, place: string, names: readonly string[]): string {
  if (names.length > 1) return `Fix ${names.join(', ')} in ${place}: one bug each.`;
  const [name] = names;
  return rng.pick([
    `Review ${name} in ${place}: it has a bug. Fix it.`,
    `There is a bug in ${place}, in ${name}. Find it and fix it.`,
  ]);
}

/** Functions and methods of 4 to 24 lines that are not inside another function. */
function functionsOf(text: string, language: Language): NamedFunction[] {
  const { root } = parseSource(text, language);
  if (root.hasError) return [];
  const lines = text.split('\n');
  const nodes = root.descendantsOfType([
    'function_declaration',
    'function_definition',
    'lexical_declaration',
    'method_definition',
  ]);
  return nodes.flatMap((node: SyntaxNode) => {
    const name =
      node.childForFieldName('name')?.text ??
      /^(?:const|let) (\w+) = (?:async )?(?:\(|\w+ =>|function)/.exec(node.text)?.[1];
    const whole = node.parent?.type === 'export_statement' ? node.parent : node;
    const [first, last] = [whole.startPosition.row + 1, whole.endPosition.row + 1];
    const own = lines.slice(first - 1, last);
    if (name === undefined || name.length < 2 || !isOutermost(node) || own.length < 4 || own.length > 24) return [];
    if (own.some((line) => line.length > 110)) return [];
    return [{ name, text: own.join('\n'), first, last }];
  });
}

function isOutermost(node: SyntaxNode): boolean {
  for (let above = node.parent; above !== null; above = above.parent) {
    if (/function|method|arrow/.test(above.type)) return false;
  }
  return true;
}

/** Whether its tests were run: such a review can only be told by them. */
export const hasAttempts = ({ turns }: ExpertEpisode) => turns.includes(TESTS_FAIL_STILL);
