import { applyUnifiedDiff, FormatError } from '../../env/reward/unifiedPatch.js';
import { WINDOW_LINES } from '../../env/tools/open.js';
import { nextLine, renderSuggestions } from '../../env/tools/suggest.js';
import type { FileChange } from '../../env/workspace/workspace.js';
import type { Task } from '../../trajectory/task.js';
import type { Expert } from './experts.js';
import { lineEdit } from './lineEdit.js';
import { suggestedFix } from './suggestedFix.js';
import { definitionLine, editTurn, toolCall } from './turnText.js';

/** A longer edit is not worth imitating: it does not fit a turn. */
const editCharacters = 320;

/**
 * The turns of an expert who knows the oracle, which mends, runs the tests and submits. Null where the oracle is no suggestion,
 * or not one short edit of one file.
 * @param read a file of the task's start tree, by its path in the repository; null where there is none
 */
export async function expertTurns(
  task: Task,
  read: (path: string) => Promise<string | null>,
  expert: Expert,
): Promise<readonly string[] | null> {
  const changes = await oracleChanges(task, read);
  if (changes.length !== 1) return null;
  const [{ path, before, after }] = changes;
  if (before === null || after === null) return null;
  return expert === 'choose'
    ? choosingTurns(task.problem_statement, path, before, after)
    : editingTurns(path, before, after);
}

/**
 * To the function that the tests name, by a search; to another one by the list of the file's functions, which a name that is
 * none gives. Then to the suggestion that is the oracle.
 */
function choosingTurns(statement: string, path: string, before: string, after: string): readonly string[] | null {
  const fix = suggestedFix(path, before, after);
  if (fix === null) return null;
  const { name, number, line } = fix;
  const further = linesAskedFor(path, before, name, line);
  return [
    statement.includes(name) ? toolCall('search', { query: name }) : toolCall('suggest', { path, name: '?' }),
    toolCall('suggest', { path, name }),
    ...further.map((from) => toolCall('suggest', { path, name, line: from })),
    `${toolCall('choose', { path, name, number })}\n${toolCall('run_tests', {})}`,
    toolCall('submit', {}),
  ];
}

/** Lines from which on the list has to be asked for again, until it shows the wanted one. */
function linesAskedFor(path: string, text: string, name: string, wanted: number): readonly number[] {
  const asked: number[] = [];
  for (;;) {
    const next = nextLine(renderSuggestions(path, text, name, asked.at(-1)));
    if (next === null || wanted < next || next === asked.at(-1)) return asked;
    asked.push(next);
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
