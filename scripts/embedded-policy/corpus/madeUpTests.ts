import type { TestResult } from '../../../src/env/testing/testRunner.js';
import type { ExpertEpisode } from '../episodes/episode.js';
import { capital, NOUNS } from '../programs/names.js';
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
 * Failing tests of a function, whose names mostly hold the function's. Nobody wrote them: their names are made up, and their
 * messages are those of other tests. They teach to find the function from a test's name, in code that people wrote.
 */
export function madeUpTests(
  rng: Rng,
  { name, testPath, language }: { readonly name: string; readonly testPath: string; readonly language: string },
  messages: Messages,
): { readonly results: readonly TestResult[]; readonly named: boolean } {
  const pool = messages.get(language) ?? messages.get('javascript')!;
  const isNamed = rng.chance(0.75);
  const title = () => {
    if (language === 'python') return isNamed ? pythonTest(rng, name) : `test_${snake(phrase(rng))}`;
    return isNamed ? javascriptTest(rng, name) : rng.pick([phrase(rng), `${rng.pick(NOUNS)} ${phrase(rng)}`]);
  };
  const titles = Array.from({ length: rng.pick([1, 1, 1, 2, 2, 3, 4, 8, 20]) }, title);
  const ids = [...new Set(titles.map((title) => `${testPath} > ${title}`))];
  const results = ids.map((id) => ({
    id,
    file: testPath,
    name: id,
    status: 'failed' as const,
    message: rng.pick(pool),
  }));
  const stem = name.replace(/^_+/, '');
  return { results, named: ids[0]!.slice(testPath.length).includes(stem) };
}

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

const snake = (text: string) => text.replaceAll(/\W+/g, '_');

function pythonTest(rng: Rng, name: string): string {
  const own = name.replace(/^_+/, '');
  const does = snake(phrase(rng));
  const form = rng.next();
  if (form < 0.2) return `test_${own}`;
  if (form < 0.7) return `test_${own}_${does}`;
  if (form < 0.78) return `Test${capital(rng.pick(NOUNS))} > test_${own}`;
  if (form < 0.88) return `test_${does}_${own}`;
  return `test_${does}`;
}
