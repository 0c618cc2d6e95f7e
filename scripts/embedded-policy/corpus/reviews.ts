import { countSyntaxErrors, languageOf, type Language, parseSource } from '../../../src/env/tasks/injection/parsing.js';
import { namedFunctions } from '../../../src/env/tasks/injection/repairs.js';
import type { TestResult } from '../../../src/env/testing/testRunner.js';
import type { ExpertEpisode } from '../episodes/episode.js';
import { playExpert } from '../episodes/expert.js';
import { randomMutation } from '../episodes/variants.js';
import { invented, NOUNS } from '../programs/names.js';
import type { Rng } from '../programs/rng.js';
import { madeUpTests, type Messages } from './madeUpTests.js';
import type { CorpusFile } from './permissive.js';

/** Characters; finding the functions of a longer file takes a while. */
const longestFile = 40_000;
const mostLines = 60;
/** A few packages are large: their style is not to be all that is learned. */
const mostOfFile = 6;

/**
 * Episodes on code that people wrote: a function of a real file with a bug by the product's operators, told by tests that
 * are made up. They teach what code mostly looks like, and which of the suggested changes mends it. `seen` holds the
 * functions of other files, which come once.
 */
export function reviewEpisodes(
  rng: Rng,
  file: CorpusFile,
  perFunction: number,
  seen: Set<string>,
  messages: Messages,
): ExpertEpisode[] {
  const language = languageOf(file.path);
  if (language === null || file.text.length > longestFile) return [];
  const functions = functionsOf(file.text, language).filter(({ text }) => !seen.has(text));
  for (const { text } of functions) seen.add(text);
  const episodes: ExpertEpisode[] = [];
  const wanted = Math.min(mostOfFile, Math.ceil(functions.length * perFunction));
  for (let attempt = 0; attempt < wanted * 2 && episodes.length < wanted; attempt += 1) {
    const source = rng.chance(0.25) ? file.text : selection(rng, functions);
    const target = rng.pick(functions.filter(({ text }) => source.includes(text)));
    const episode = reviewEpisode(rng, language, /\.\w+$/.exec(file.path)![0], source, target, messages);
    if (episode !== null) episodes.push(episode);
  }
  return episodes;
}

/** A function and the lines it takes. */
interface ShortFunction {
  readonly name: string;
  readonly text: string;
}

/** A file of some of the functions alone. */
function selection(rng: Rng, functions: readonly ShortFunction[]): string {
  const whole = functions.filter(({ text }) => !/^\s/.test(text));
  const chosen = rng.shuffle(whole.length === 0 ? functions : whole).slice(0, rng.int(1, 8));
  return `${chosen.map(({ text }) => text).join('\n\n')}\n`;
}

function reviewEpisode(
  rng: Rng,
  language: Language,
  extension: string,
  source: string,
  target: ShortFunction,
  messages: Messages,
): ExpertEpisode | null {
  if (countSyntaxErrors(parseSource(source, language).root) > 0) return null;
  const first = source.slice(0, source.indexOf(target.text)).split('\n').length;
  const near = { first, last: first + target.text.split('\n').length - 1 };
  const stem = rng.chance(0.4) ? invented(rng) : rng.pick(NOUNS);
  const python = language === 'python';
  const folder = rng.pick(python ? ['src/', '', `${invented(rng)}/`] : ['src/', 'src/', 'src/', 'lib/', '']);
  const path = `${folder}${stem}${extension}`;
  const bug = randomMutation(rng, path, source, near);
  if (bug === null) return null;
  const tested = rng.chance(0.8) ? stem : rng.pick(NOUNS);
  const testPath = python
    ? `tests/test_${tested}.py`
    : `${rng.pick(['test', 'test', 'tests'])}/${tested}.test${extension}`;
  // The bug of a function that another one calls, whose tests fail with it.
  const callers = namedFunctions(parseSource(source, language)).filter(
    ({ name, node }) =>
      name !== target.name &&
      name.length > 2 &&
      node.text.includes(`${target.name}(`) &&
      !node.text.includes(target.text),
  );
  const name = callers.length > 0 && rng.chance(0.5) ? rng.pick(callers).name : target.name;
  const { results, named } = madeUpTests(rng, { name, testPath, language: python ? 'python' : 'javascript' }, messages);
  const others = results.map((result) => ({
    ...result,
    id: `${result.id} too`,
    status: 'passed' as const,
    message: '',
  }));
  return playExpert(rng, {
    language,
    operator: 'review',
    repo: rng.chance(0.4) ? invented(rng) : rng.pick(NOUNS),
    path,
    testPath,
    buggy: bug.source,
    fixed: source,
    suspect: named ? name : null,
    results: [...results, ...others],
    stillFailing: () => failsStill(rng, results),
    passing: [...results.map((result) => ({ ...result, status: 'passed' as const, message: '' })), ...others],
    files: [[path, bug.source], ...decoys(rng, folder, extension)],
  });
}

/** Other files of the folder, of which nothing is seen but their names. */
const decoys = (rng: Rng, folder: string, extension: string) =>
  Array.from({ length: rng.int(1, 6) }, () => [`${folder}${rng.pick(NOUNS)}${extension}`, ''] as const);

/** What the tests say after a change that mended nothing, or not all. */
const failsStill = (rng: Rng, results: readonly TestResult[]) =>
  results.length > 1 && rng.chance(0.2)
    ? results.map((result, i) => (i === 0 ? { ...result, status: 'passed' as const, message: '' } : result))
    : results;

/** Functions and methods of 3 to 60 lines that have a name, with their indentation. */
function functionsOf(text: string, language: Language): ShortFunction[] {
  const source = parseSource(text, language);
  if (source.root.hasError) return [];
  const lines = text.split('\n');
  return namedFunctions(source).flatMap(({ name, node }) => {
    const [first, last] = [node.startPosition.row, node.endPosition.row];
    const own = lines.slice(first, last + 1);
    if (name.length < 2 || own.length < 3 || own.length > mostLines || own.some((line) => line.length > 160)) return [];
    return [{ name, text: own.join('\n') }];
  });
}
