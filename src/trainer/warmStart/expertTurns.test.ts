import { createTwoFilesPatch } from 'diff';
import { describe, expect, it } from 'vitest';
import { applySite } from '../../env/tasks/injection/operator.js';
import { OPERATORS } from '../../env/tasks/injection/operators/index.js';
import { parseSource } from '../../env/tasks/injection/parsing.js';
import { makeTask } from '../../env/folderEnvironment.testing.js';
import type { StartTree } from '../../env/suspects/findSuspects.js';
import { fileFacts } from '../../env/suspects/fileFacts.js';
import { chosen } from '../../env/tools/choose.js';
import { replaceOnce } from '../../env/tools/edit.js';
import { expertTurns } from './expertTurns.js';

const source = `export const LIMIT = 10;

export function total(items, start = 0) {
  let sum = start;
  for (let i = 0; i < items.length; i += 1) {
    if (items[i] > 0 && items[i] <= LIMIT) sum += items[i];
  }
  return sum;
}
${'// far\n'.repeat(60)}
export function isEmpty(items) {
  return items.length === 0;
}
`;

const TEST = 'test/total.test.js';

const taskOf = (path: string, before: string, after: string, title = 'sums') =>
  makeTask(
    {
      patch: createTwoFilesPatch(`a/${path}`, `b/${path}`, before, after),
      FAIL_TO_PASS: [`${TEST} > ${title}`],
      problem_statement: '',
    },
    { test_files: [TEST] },
  );

const treeOf = (files: Readonly<Record<string, string>>): StartTree => ({
  paths: () => Promise.resolve(Object.keys(files)),
  read: (path) => Promise.resolve(files[path] ?? null),
});

const play = (before: string, after: string) =>
  expertTurns(taskOf('src/total.js', before, after), treeOf({ 'src/total.js': before }), 'edit');

const tests = "import '../src/total.js';\ntest('sums', () => total([1]));\ntest('empty', () => isEmpty([]));\n";
const choose = (before: string, after: string, title = 'sums') =>
  expertTurns(
    taskOf('src/total.js', before, after, title),
    treeOf({ 'src/total.js': before, [TEST]: tests }),
    'choose',
  );

interface EditArguments {
  readonly path: string;
  readonly line: number;
  readonly old: string;
  readonly new: string;
}

/** Name and arguments of a turn's call. */
function callOf(turn: string): { name: string; arguments: EditArguments } {
  return JSON.parse(/<tool_call>\n(.*)\n<\/tool_call>/s.exec(turn)![1]) as ReturnType<typeof callOf>;
}

describe("the expert's turns", () => {
  const parsed = parseSource(source, 'javascript');
  const bugs = OPERATORS.filter(({ languages }) => languages.includes('javascript')).flatMap((operator) =>
    operator.sites(parsed).map((site) => ({ name: operator.name, text: applySite(source, site) })),
  );

  it('mend what any operator breaks, in edits that the tool makes', async () => {
    expect(new Set(bugs.map(({ name }) => name)).size).toBeGreaterThan(5);
    for (const { text } of bugs) {
      const turns = (await play(text, source))!;
      const edits = turns.map(callOf).filter(({ name }) => name === 'edit');
      expect(edits).toHaveLength(1);
      const { path, line, old, new: replacement } = edits[0].arguments;
      expect(path).toBe('src/total.js');
      expect(replaceOnce(text, old, replacement, line)).toEqual({ text: source });
    }
  });

  it('open the file, edit, run the tests and submit', async () => {
    const turns = (await play(source.replace('i < items', 'i <= items'), source))!;
    expect(turns.map((turn) => callOf(turn).name)).toEqual(['open', 'edit', 'run_tests', 'submit']);
    expect(turns[1]).toContain(
      '<think>\ntotal\n3: export function total(items, start = 0) {\n4:   let sum = start;\n5:   for (let i = 0; i <= items.length; i += 1) {\n</think>',
    );
    expect(callOf(turns[1]).arguments).toMatchObject({ line: 5, old: ' <=', new: ' <' });
  });

  it('read the definition above the fault where a name is defined twice', async () => {
    const classOf = (name: string) => `class ${name} {\n  constructor(a) {\n    this.a = a;\n  }\n}\n`;
    const after = classOf('One') + classOf('Two');
    const before = classOf('One') + classOf('Two').replace('= a', '= b');
    expect((await play(before, after))![1]).toContain(
      '<think>\nconstructor\n7:   constructor(a) {\n8:     this.a = b;\n</think>',
    );
  });

  it('search for the function first where the bug is out of sight', async () => {
    const turns = (await play(source.replace('length === 0', 'length !== 0'), source))!;
    expect(turns.map((turn) => callOf(turn).name)).toEqual(['search', 'open', 'edit', 'run_tests', 'submit']);
    expect(callOf(turns[0]).arguments).toEqual({ query: 'isEmpty' });
    expect(callOf(turns[1]).arguments).toEqual({ path: 'src/total.js', line: 71 });
  });

  it('are none where the oracle changes several files, or too much', async () => {
    expect(await play(source, source.replace(/\/\/ far\n/g, ''))).toBeNull();
    const one = createTwoFilesPatch('a/one.js', 'b/one.js', '1\n', '2\n');
    const two = createTwoFilesPatch('a/two.js', 'b/two.js', '1\n', '2\n');
    expect(
      await expertTurns(makeTask({ patch: one + two }), treeOf({ 'one.js': '1\n', 'two.js': '1\n' }), 'edit'),
    ).toBeNull();
  });

  it('are none where the oracle does not fit the tree or is no text, rather than an error', async () => {
    expect(
      await expertTurns(taskOf('src/total.js', 'other\n', 'text\n'), treeOf({ 'src/total.js': source }), 'edit'),
    ).toBeNull();
    expect(await expertTurns(taskOf('src/gone.js', 'a\n', 'b\n'), treeOf({}), 'edit')).toBeNull();
  });

  it('open a file at the edit itself where no definition is known', async () => {
    const before = `${'x;\n'.repeat(50)}let a = 1;\n`;
    const turns = (await play(before, before.replace('= 1', '= 2')))!;
    expect(turns.map((turn) => callOf(turn).name)).toEqual(['open', 'edit', 'run_tests', 'submit']);
    expect(callOf(turns[0]).arguments).toEqual({ path: 'src/total.js', line: 51 });
  });
});

describe('the turns of an expert who chooses', () => {
  const suspectOf = (text: string, name: string) => ({
    path: 'src/total.js',
    changes: fileFacts('src/total.js', text)
      .functions.find((one) => one.name === name)!
      .parts.flatMap(({ changes }) => changes),
  });
  /** Names and arguments of all calls. */
  const callsOf = (turns: readonly string[]) =>
    [...turns.join('\n').matchAll(/<tool_call>\n(.*)\n<\/tool_call>/g)].map(
      ([, json]) => JSON.parse(json) as { name: string; arguments: Record<string, string | number> },
    );

  it('take the function from the list of suspects, choose what mends it and submit', async () => {
    const buggy = source.replace('i < items', 'i <= items');
    const calls = callsOf((await choose(buggy, source))!);
    expect(calls.slice(0, 2)).toEqual([
      { name: 'suspects', arguments: {} },
      { name: 'suggest', arguments: { function: 1 } },
    ]);
    expect(calls.slice(2).map(({ name }) => name)).toEqual(['choose', 'submit']);
    expect(calls[2].arguments.function).toBe(1);
    expect(chosen(suspectOf(buggy, 'total'), buggy, Number(calls[2].arguments.number))).toMatchObject({ text: source });
  });

  it('ask for the number of the function at fault, whatever its rank', async () => {
    const calls = callsOf((await choose(source.replace('=== 0', '!== 0'), source))!);
    expect(calls.map(({ name }) => name)).toEqual(['suspects', 'suggest', 'choose', 'submit']);
    expect(calls[1].arguments).toEqual({ function: 3 });
  });

  it('ask for the next suspects until the list shows the one at fault, but not for ever', async () => {
    const many = (count: number) =>
      source + Array.from({ length: count }, (_, i) => `function f${i}(a) {\n  return total(a) < ${i};\n}\n`).join('');
    const calledByNone = 'function last(a) {\n  return a < 1;\n}\n';
    const calls = callsOf((await choose(many(20) + calledByNone.replace('<', '<='), many(20) + calledByNone))!);
    expect(calls.filter(({ name }) => name === 'suspects').map(({ arguments: { from } }) => from)).toEqual([
      undefined,
      13,
    ]);
    expect(await choose(many(80) + calledByNone.replace('<', '<='), many(80) + calledByNone)).toBeNull();
  });

  it('name the part of a long function in which the change stands', async () => {
    const long = `function f(a, b) {\n${'  if (a < b) a += 1;\n'.repeat(18)}  return a > b;\n}\n`;
    const calls = callsOf((await choose(long.replace('a > b', 'a >= b'), long))!);
    expect(calls.map(({ name }) => name)).toEqual(['suspects', 'suggest', 'choose', 'submit']);
    expect(calls[2].arguments.function).toBe(calls[1].arguments.function);
    expect(Number(calls[1].arguments.function)).toBeGreaterThan(3);
  });

  it('are none where no suggestion mends the bug, or it stands in no function', async () => {
    expect(await choose(source.replace('  return sum;\n', ''), source)).toBeNull();
    expect(await choose(source.replace('LIMIT = 10', 'LIMIT = 11'), source)).toBeNull();
  });
});
