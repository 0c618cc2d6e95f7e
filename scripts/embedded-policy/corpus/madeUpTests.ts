import { injectionStatement } from '../../../src/env/tasks/statement.js';
import type { TestResult } from '../../../src/env/testing/testRunner.js';
import { renderTestReport } from '../../../src/env/tools/runTests.js';
import { findInText, renderSearch } from '../../../src/env/tools/search.js';
import { toolCall } from '../../../src/trainer/warmStart/turnText.js';
import type { EpisodeTurn, ExpertEpisode } from '../episodes/episode.js';
import { capital, invented, NOUNS } from '../programs/names.js';
import type { Rng } from '../programs/rng.js';

/** What failing tests said in real runs, by language. */
export type Messages = ReadonlyMap<string, readonly string[]>;

/** The messages in the statements of episodes whose tests ran. */
export function messagesOf(episodes: readonly ExpertEpisode[]): Messages {
  const messages = new Map<string, string[]>();
  for (const { language, user } of episodes) {
    const own = messages.get(language) ?? [];
    messages.set(language, own);
    own.push(...[...user.matchAll(/^ {2}(.+)$/gm)].map(([, message]) => message!));
  }
  return messages;
}

/**
 * A review told as tasks tell their bugs: by failing tests, whose names mostly hold the function's. Nobody wrote these tests:
 * their names are made up, their messages are those of other tests, and the last run, in which all pass, did not take place.
 * They teach to find the function from a test's name, in code that people wrote. Null for reviews that do not fit.
 */
export function toldByTests(rng: Rng, review: ExpertEpisode, messages: Messages): ExpertEpisode | null {
  const told = /^(?:Fix (.+) in|Review (.+) in|There is a bug in) (\S+?)(?:, line (\d+))?(?:: |, in (.+)\. )/.exec(
    review.user,
  );
  const names = (told?.[1] ?? told?.[2] ?? told?.[5])?.split(', ');
  if (told === null || names === undefined || names.length > 3) return null;
  const [opening, ...rest] = review.turns;
  const opened = opening!.observations[0]!.content;
  const oldPath = told[3]!;
  const openAt = told[4] === undefined ? undefined : Number(told[4]);
  const python = review.language === 'python';
  const [stem, extension] = /([^/]+)(\.\w+)$/.exec(oldPath)!.slice(1) as [string, string];
  const folder = rng.pick(python ? ['src/', '', `${invented(rng)}/`] : ['src/', 'src/', 'src/', 'lib/', '']);
  const path = `${folder}${stem}${extension}`;
  const tests = rng.pick(['test', 'test', 'tests']);
  const testPath = python ? `tests/test_${stem}.py` : `${tests}/${stem}.test${extension}`;
  const hits = shownLines(opened).flatMap(({ number, text }) =>
    findInText(path, text, names[0]!).map((hit) => ({ ...hit, line: number })),
  );
  if (openAt !== undefined && hits[0]?.line !== openAt) return null;

  const pool = messages.get(review.language) ?? messages.get('javascript')!;
  const failing = names.flatMap((name) =>
    Array.from({ length: names.length === 1 ? rng.int(1, 3) : 1 }, () => ({
      id: `${testPath} > ${python ? pythonTest(rng, name) : javascriptTest(rng, name)}`,
      message: rng.pick(pool),
    })),
  );
  const isGuessed = openAt === undefined && folder === 'src/' && !python && rng.chance(0.7);
  const moved = (text: string) => text.replaceAll(oldPath, path);
  const turns: EpisodeTurn[] = [
    ...(isGuessed
      ? []
      : [
          {
            raw: toolCall('search', { query: names[0]! }),
            train: true,
            observations: [{ name: 'search', content: renderSearch(names[0]!, hits) }],
          },
        ]),
    ...[opening!, ...rest].map((turn) => ({
      ...turn,
      raw: moved(turn.raw),
      observations: turn.observations.map(({ name, content }) => ({
        name,
        content: name === 'run_tests' ? failsStill(rng, failing) : moved(content),
      })),
    })),
  ];
  const passed = [...failing, ...failing]
    .slice(0, rng.int(failing.length, 2 * failing.length))
    .map(({ id }) => result(id, 'passed', ''));
  turns.splice(-1, 0, {
    raw: toolCall('run_tests', {}),
    train: true,
    observations: [
      { name: 'run_tests', content: renderTestReport({ outcome: 'completed', results: passed, output: '' }) },
    ],
  });
  const repo = rng.chance(0.4) ? invented(rng) : rng.pick(NOUNS);
  return { ...review, user: injectionStatement(repo, failing, []), turns };
}

const result = (id: string, status: TestResult['status'], message: string): TestResult => ({
  id,
  file: id.split(' > ')[0]!,
  name: id,
  status,
  message,
});

/** What the tests say after an attempt that mended nothing, or not all. */
function failsStill(rng: Rng, failing: readonly { readonly id: string; readonly message: string }[]): string {
  const left = failing.length > 1 && rng.chance(0.2) ? failing.slice(1) : failing;
  const results = left.map(({ id, message }) => result(id, 'failed', message));
  return renderTestReport({ outcome: 'completed', results, output: '' });
}

/** The numbered lines of what `open` shows. */
const shownLines = (content: string) =>
  [...content.matchAll(/^(\d+): (.*)$/gm)].map(([, number, text]) => ({ number: Number(number), text: text! }));

const split = (text: string) => text.trim().split(/\s+/);
const DOES = split(
  'returns gives handles accepts refuses keeps ignores drops adds removes supports converts parses counts leaves respects is rounds formats joins finds takes reads needs allows rejects sets clears copies matches wraps',
);
const WHAT = [
  ...['an empty list', 'an empty string', 'null', 'undefined', 'zero', 'negative numbers', 'one item', 'two items'],
  ...['nested values', 'the default', 'the last item', 'the first match', 'duplicates', 'a missing key', 'a range'],
  ...['invalid input', 'unicode', 'whitespace', 'the limit', 'all values', 'the original', 'true', 'false', 'options'],
  ...[
    'the order',
    'a copy',
    'the product',
    'the sum',
    'the length',
    'other types',
    'the same value',
    'the oldest item',
  ],
  ...['several arguments', 'an error', 'the bounds', 'a value that is too high', 'what it was given', 'the capacity'],
];

/** What a test says of its subject: mostly a verb and an object, sometimes with nouns of no meaning. */
function phrase(rng: Rng): string {
  const object = rng.chance(0.7) ? rng.pick(WHAT) : `${rng.pick(['a', 'the', 'each'])} ${rng.pick(NOUNS)}`;
  return `${rng.pick(DOES)} ${object}${rng.chance(0.2) ? ` ${rng.pick(['of', 'for', 'with', 'at'])} ${rng.pick(WHAT)}` : ''}`;
}

const wordsOf = (name: string) =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .trim();

function javascriptTest(rng: Rng, name: string): string {
  const does = phrase(rng);
  const form = rng.next();
  if (form < 0.46) return `${name} ${does}`;
  if (form < 0.52) return `${name}: ${does}`;
  if (form < 0.58) return `${name}() ${does}`;
  if (form < 0.7) return `${name} > ${does}`;
  if (form < 0.75) return `${capital(rng.pick(NOUNS))} > ${name} > ${does}`;
  if (form < 0.8) return `${does} (${name})`;
  if (form < 0.88) return `${wordsOf(name).toLowerCase()} ${does}`;
  return `a ${rng.pick(NOUNS)} ${does}`;
}

function pythonTest(rng: Rng, name: string): string {
  const snake = (text: string) => text.replaceAll(/\W+/g, '_');
  const own = name.replace(/^_+/, '');
  const does = snake(phrase(rng));
  const form = rng.next();
  if (form < 0.2) return `test_${own}`;
  if (form < 0.7) return `test_${own}_${does}`;
  if (form < 0.78) return `Test${capital(rng.pick(NOUNS))} > test_${own}`;
  if (form < 0.88) return `test_${does}_${own}`;
  return `test_${does}`;
}
