import type { TestResult } from '../testing/testRunner.js';
import type { FileChange } from '../workspace/workspace.js';
import { withoutOracle } from './withoutOracle.js';

const SHOWN_TESTS = 3;
const MESSAGE_CHARACTERS = 140;
const INTENT_CHARACTERS = 600;
const failingMark = 'Failing: ';

type FailedTest = Pick<TestResult, 'id' | 'message'>;

/**
 * What the policy is told of injected bugs: the failing tests and their messages, shortened. Where the bugs are and how
 * they are mended is left to find: `changes`, which put them in, leave no trace in the messages.
 */
export function injectionStatement(
  repo: string,
  failing: readonly FailedTest[],
  changes: readonly FileChange[],
): string {
  const told = failing.map(({ id, message }) => ({ id, message: withoutOracle(message, changes) }));
  return [`Tests fail in ${repo}. Find the bug in the source and fix it.`, ...failingLines(told)].join('\n');
}

/** What the policy is told of a task from history: what the commit set out to do, then the failing tests. */
export function historyStatement(message: string, failing: readonly FailedTest[]): string {
  const intent = commitIntent(message);
  return [
    ...(intent === '' ? [] : [intent]),
    'Change the source so that the failing tests pass.',
    ...failingLines(failing),
  ].join('\n');
}

function failingLines(failing: readonly FailedTest[]): string[] {
  const shown = failing.slice(0, SHOWN_TESTS).flatMap(({ id, message }) => {
    const reason = shortMessage(message);
    return [`${failingMark}${id}`, ...(reason === '' ? [] : [`  ${reason}`])];
  });
  const hidden = failing.length - SHOWN_TESTS;
  return hidden > 0 ? [...shown, `(+${hidden} more)`] : shown;
}

/**
 * A statement that tells only of some failing tests: what it says of others is left out, and those that it had no room for
 * are named without a message. Whatever else it says stays.
 */
export function narrowedStatement(statement: string, goal: readonly string[]): string {
  const wanted = new Set(goal);
  const told = new Set<string>();
  let keeps = true;
  const lines = statement.split('\n').filter((line) => {
    if (/^\(\+\d+ more\)$/.test(line)) return false;
    const id = line.startsWith(failingMark) ? line.slice(failingMark.length) : null;
    if (id !== null) {
      keeps = wanted.has(id);
      if (keeps) told.add(id);
    } else if (!line.startsWith('  ')) {
      keeps = true;
    }
    return keeps;
  });
  const untold = goal.filter((id) => !told.has(id));
  const added = untold.slice(0, Math.max(0, SHOWN_TESTS - told.size)).map((id) => `${failingMark}${id}`);
  const hidden = untold.length - added.length;
  return [...lines, ...added, ...(hidden > 0 ? [`(+${hidden} more)`] : [])].join('\n');
}

/** The telling lines of a failure's message on one line; stack traces are left out. */
export function shortMessage(message: string): string {
  const lines = message.split('\n').map((line) => line.trim());
  const stack = lines.findIndex((line) => /^(at |File "|Traceback )/.test(line));
  const told = (stack === -1 ? lines : lines.slice(0, stack)).filter((line) => line !== '').join(' ');
  return cut(told.replace(/\s+/g, ' '), MESSAGE_CHARACTERS);
}

const TRAILER = /^\s*[\w-]+-(by|id|to)\s*:/i;
const REFERENCE =
  /^\s*(fix(es|ed)?|close[sd]?|resolve[sd]?|refs?|see( also)?|pr|issue)\b[\s:]*(\S*#\d+|https?:\/\/\S+)[\s.]*$/i;

/** A commit's message without what leads to the answer or to nowhere: hashes, issue numbers, trailers, links. */
function commitIntent(message: string): string {
  const told = message
    .split(/\r?\n/)
    .filter((line) => !TRAILER.test(line) && !REFERENCE.test(line))
    .join('\n')
    .replace(/https?:\/\/\S+/g, '')
    .replace(/\(?\S*#\d+\)?/g, '')
    .replace(/\b(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b/g, '')
    .replace(/[ \t]+/g, ' ')
    .replace(/ *\n */g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
  return cut(told, INTENT_CHARACTERS);
}

function cut(text: string, characters: number): string {
  const points = [...text];
  return points.length <= characters ? text : `${points.slice(0, characters - 1).join('')}…`;
}
