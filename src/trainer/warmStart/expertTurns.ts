import { applyUnifiedDiff, FormatError } from '../../env/reward/unifiedPatch.js';
import { WINDOW_LINES } from '../../env/tools/open.js';
import { findSuspects, type StartTree } from '../../env/suspects/findSuspects.js';
import type { Suspect } from '../../env/suspects/rankSuspects.js';
import { nextSuspect, renderSuspects } from '../../env/tools/suspects.js';
import type { FileChange } from '../../env/workspace/workspace.js';
import type { Task } from '../../trajectory/task.js';
import type { Expert } from './experts.js';
import { lineEdit } from './lineEdit.js';
import { suggestedFix } from './suggestedFix.js';
import { definitionLine, editTurn, toolCall } from './turnText.js';

/** A longer edit is not worth imitating: it does not fit a turn. */
const editCharacters = 320;
/** What lies further down is not worth looking for. */
const mostPages = 3;

/**
 * The turns of an expert who knows the oracle, which mends, runs the tests and submits. Null where the oracle is no suggestion,
 * or not one short edit of one file.
 * @param tree the task's start tree
 */
export async function expertTurns(task: Task, tree: StartTree, expert: Expert): Promise<readonly string[] | null> {
  const changes = await oracleChanges(task, tree.read);
  if (changes.length !== 1) return null;
  const [{ path, before, after }] = changes;
  if (before === null || after === null) return null;
  return expert === 'choose'
    ? choosingTurns(await findSuspects(task, tree), path, before, after)
    : editingTurns(path, before, after);
}

/** To the function among those that the failing tests may run, and to the suggestion for it that is the oracle. */
function choosingTurns(
  suspects: readonly Suspect[],
  path: string,
  before: string,
  after: string,
): readonly string[] | null {
  const fix = suggestedFix(suspects, path, before, after);
  if (fix === null) return null;
  const { suspect, number } = fix;
  const pages = pagesTo(suspect, (from) => nextSuspect(renderSuspects(suspects, from)));
  if (pages.length > mostPages) return null;
  return [
    toolCall('suspects', {}),
    ...pages.map((from) => toolCall('suspects', { from })),
    toolCall('suggest', { function: suspect }),
    toolCall('choose', { function: suspect, number }),
    toolCall('submit', {}),
  ];
}

/** Where a list has to be asked for again from, until it shows the wanted one. `next`: where a list goes on. */
function pagesTo(wanted: number, next: (from: number | undefined) => number | null): readonly number[] {
  const asked: number[] = [];
  for (;;) {
    const from = next(asked.at(-1));
    if (from === null || wanted < from || from === asked.at(-1)) return asked;
    asked.push(from);
  }
}

/** To the file (by its name, or by a search for the function), and the edit with what is wrong said before it. */
function editingTurns(path: string, before: string, after: string): readonly string[] | null {
  const edit = lineEdit(before, after);
  if (edit === null || edit.old.length + edit.new.length > editCharacters) return null;
  const suspect = functionAround(before, edit.line);
  const definition = suspect === null ? 0 : definitionLine(before, suspect);
  const far = edit.line > WINDOW_LINES;
  return [
    ...(far && suspect !== null ? [toolCall('search', { query: suspect })] : []),
    toolCall('open', far ? { path, line: definition === 0 ? edit.line : definition } : { path }),
    editTurn(suspect, before, path, edit),
    toolCall('run_tests', {}),
    toolCall('submit', {}),
  ];
}

/** What the oracle changes. None where it is no patch of texts that could be said: it changes a binary file, for example. */
export async function oracleChanges(
  task: Task,
  read: (path: string) => Promise<string | null>,
): Promise<readonly FileChange[]> {
  try {
    return await applyUnifiedDiff(task.patch, read);
  } catch (error) {
    if (error instanceof FormatError) return [];
    throw error;
  }
}

/** Functions, classes, constants that hold a function, and methods. */
const definitions =
  /^\s*(?:export\s+)?(?:default\s+)?(?:async\s+)?(?:function\s*\*?|class|def)\s+([\w$]+)|^\s*(?:export\s+)?const\s+([\w$]+)\s*=\s*(?:async\s*)?(?:function|\(|\w+\s*=>)|^\s+(?:static\s+)?(?:async\s+)?(?:get\s+|set\s+)?(?!(?:if|for|while|switch|catch|with)\b)([\w$]+)\s*\([^)]*\)\s*\{\s*$/;

/** Name of the function, method or class whose definition stands last above a line (or on it), as far as its form tells. */
function functionAround(source: string, line: number): string | null {
  const above = source.split('\n').slice(0, line).reverse();
  for (const text of above) {
    const match = definitions.exec(text);
    if (match) return match[1] ?? match[2] ?? match[3];
  }
  return null;
}
