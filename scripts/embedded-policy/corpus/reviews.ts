import { suggestedFix } from '../../../src/trainer/warmStart/suggestedFix.js';
import { fileFacts, type FunctionFacts } from '../../../src/env/suspects/fileFacts.js';
import type { Suspect } from '../../../src/env/suspects/rankSuspects.js';
import { countSyntaxErrors, languageOf, type Language, parseSource } from '../../../src/env/tasks/injection/parsing.js';
import { namedFunctions } from '../../../src/env/tasks/injection/repairs.js';
import type { ExpertEpisode } from '../episodes/episode.js';
import { playExpert } from '../episodes/expert.js';
import { randomMutation } from '../episodes/variants.js';
import { capital, invented, NOUNS } from '../programs/names.js';
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
  const functions = fileFacts(path, bug.source).functions.filter(({ parts }) => parts.length > 0);
  // The bug of a function that another one calls, whose tests fail with it.
  const callers = functions.filter(
    ({ name, names }) => name !== target.name && name.length > 2 && names.has(target.name),
  );
  const name = callers.length > 0 && rng.chance(0.5) ? rng.pick(callers).name : target.name;
  const { results, named } = madeUpTests(rng, { name, testPath, language: python ? 'python' : 'javascript' }, messages);
  return playExpert(rng, {
    language,
    operator: 'review',
    repo: rng.chance(0.4) ? invented(rng) : rng.pick(NOUNS),
    path,
    fixed: source,
    failing: results,
    passed: Math.floor(Math.exp(rng.next() * 5)),
    suspects: suspectsAmong(rng, functions, {
      path,
      extension,
      folder,
      buggy: bug.source,
      fixed: source,
      named: named ? name : null,
    }),
    texts: new Map([[path, bug.source]]),
  });
}

/** Ranks of the function at fault, as measured on repositories, where a test names it and where none does. */
const RANKS = {
  named: [1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 4, 5, 8, 15],
  unnamed: [1, 1, 1, 2, 2, 3, 4, 5, 6, 8, 10, 12, 16, 22],
} as const;

/** A list as the ranking of suspects gives it: the function at fault somewhere, others of the file, others of other files. */
function suspectsAmong(
  rng: Rng,
  functions: readonly FunctionFacts[],
  where: {
    readonly path: string;
    readonly extension: string;
    readonly folder: string;
    readonly buggy: string;
    readonly fixed: string;
    readonly named: string | null;
  },
): readonly Suspect[] {
  const { path, named } = where;
  const own = functions.flatMap(({ name, start, end, parts }) =>
    parts.map((part) => ({ path, name, start, end, ...part })),
  );
  const fix = suggestedFix(own, path, where.buggy, where.fixed);
  if (fix === null) return [];
  const guilty = own[fix.suspect - 1]!;
  const files = Array.from({ length: rng.int(1, 6) }, () => `${where.folder}${rng.pick(NOUNS)}${where.extension}`);
  const strangers = Array.from({ length: rng.pick([0, 2, 5, 10, 20, 40]) }, () => {
    const name = rng.chance(0.5) ? invented(rng) : `${rng.pick(VERBS)}${capital(rng.pick(NOUNS))}`;
    return {
      path: rng.pick(files),
      name: where.extension === '.py' ? name.replace(/([A-Z])/g, (letter) => `_${letter.toLowerCase()}`) : name,
      line: rng.int(1, 400),
      start: 0,
      end: 0,
      changes: [],
    };
  });
  const innocent = rng.shuffle([...own.filter((one) => one !== guilty), ...strangers]);
  const first = innocent.filter(({ name }) => name === named && rng.chance(0.8));
  const list = [...first, ...innocent.filter((one) => !first.includes(one))];
  const rank = rng.pick(RANKS[named === null ? 'unnamed' : 'named']);
  list.splice(Math.min(rank - 1, list.length), 0, guilty);
  return list;
}

const VERBS =
  'get set make is has find parse read write to from add remove update check build create format load'.split(' ');

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
