import { badInput } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import { isObject, listOf, parseJsonOrLines, textOf, wrong, type JsonObject } from './json.js';

/** A task of another system, as its file has it. */
export interface ForeignTask {
  readonly format: 'swebench' | 'swesmith';
  readonly instanceId: string;
  readonly repo: string;
  /** Null where the file names none: SWE-smith's own repositories are meant at their main branch. */
  readonly baseCommit: string | null;
  readonly createdAt: string;
  readonly problemStatement: string;
  readonly hintsText: string;
  readonly version: string;
  /** SWE-bench: the oracle. SWE-smith: the bug. */
  readonly patch: string;
  readonly testPatch: string;
  readonly failToPass: readonly string[];
  readonly passToPass: readonly string[];
}

/** Rows of SWE-bench or SWE-smith: JSON, a JSON array, or JSON lines. Throws bad-input, one line that says where. */
export function readForeignTasks(text: string, name: string): ForeignTask[] {
  const values = parseJsonOrLines(text, name);
  const rows = values.flatMap((value) => (Array.isArray(value) ? (value as unknown[]) : [value]));
  return rows.map((row, index) => readRow(row, rows.length === 1 ? name : `${name}: row ${index + 1}`));
}

function readRow(value: unknown, where: string): ForeignTask {
  if (!isObject(value)) throw wrong(where, say`it is no object`);
  const isSweSmith = 'image_name' in value && !('test_patch' in value && textOf(value.test_patch) !== '');
  const failToPass = testsOf(value, 'FAIL_TO_PASS', where);
  const instanceId = textOf(value.instance_id);
  if (!/^[A-Za-z0-9._-]+$/.test(instanceId))
    throw wrong(where, say`its instance_id is none that a file could be named after`);
  if (failToPass.length === 0) throw wrong(where, say`its FAIL_TO_PASS names no test`);
  if (textOf(value.patch).trim() === '') throw wrong(where, say`it has no patch`);
  return {
    format: isSweSmith ? 'swesmith' : 'swebench',
    instanceId,
    repo: textOf(value.repo),
    baseCommit: textOf(value.base_commit) || null,
    createdAt: textOf(value.created_at),
    problemStatement: textOf(value.problem_statement),
    hintsText: textOf(value.hints_text),
    version: textOf(value.version),
    patch: textOf(value.patch),
    testPatch: textOf(value.test_patch),
    failToPass,
    passToPass: testsOf(value, 'PASS_TO_PASS', where),
  };
}

/** The list, which may be JSON text. A test as pytest names it becomes one as Whetstone does. */
function testsOf(row: JsonObject, field: string, where: string): string[] {
  const given = row[field];
  const values = typeof given === 'string' ? parseJsonOrLines(given || '[]', `${where}: ${field}`)[0] : given;
  const tests = listOf(values);
  if (!tests.every((test): test is string => typeof test === 'string'))
    throw badInput(
      say`${where}: ${field} holds something that is no text.`,
      'Give a file as the other system wrote it.',
    );
  return tests.map(testId);
}

/** `file.py::Class::test[a::b]` as `file.py > Class > test[a::b]`. */
export function testId(name: string): string {
  const bracket = name.indexOf('[');
  const [head, tail] = bracket < 0 ? [name, ''] : [name.slice(0, bracket), name.slice(bracket)];
  return /^[^>]+\.py::/.test(head) ? head.split('::').join(' > ') + tail : name;
}
