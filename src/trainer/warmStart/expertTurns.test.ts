import { createTwoFilesPatch } from 'diff';
import { describe, expect, it } from 'vitest';
import { applySite } from '../../env/tasks/injection/operator.js';
import { OPERATORS } from '../../env/tasks/injection/operators/index.js';
import { parseSource } from '../../env/tasks/injection/parsing.js';
import { chosen } from '../../env/tools/choose.js';
import { replaceOnce } from '../../env/tools/edit.js';
import { renderSuggestions } from '../../env/tools/suggest.js';
import type { Task } from '../../trajectory/task.js';
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

const taskOf = (path: string, before: string, after: string, problem_statement = '') =>
  ({ patch: createTwoFilesPatch(`a/${path}`, `b/${path}`, before, after), problem_statement }) as Task;

const play = (before: string, after: string) =>
  expertTurns(
    taskOf('src/total.js', before, after),
    (path) => Promise.resolve(path === 'src/total.js' ? before : null),
    'edit',
  );

const choose = (before: string, after: string, statement = 'Failing: test/total.test.js > total sums') =>
  expertTurns(taskOf('src/total.js', before, after, statement), () => Promise.resolve(before), 'choose');

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
    expect(await expertTurns({ patch: one + two } as Task, () => Promise.resolve('1\n'), 'edit')).toBeNull();
  });

  it('are none where the oracle does not fit the tree or is no text, rather than an error', async () => {
    expect(
      await expertTurns(taskOf('src/total.js', 'other\n', 'text\n'), () => Promise.resolve(source), 'edit'),
    ).toBeNull();
    expect(await expertTurns(taskOf('src/gone.js', 'a\n', 'b\n'), () => Promise.resolve(null), 'edit')).toBeNull();
  });

  it('open a file at the edit itself where no definition is known', async () => {
    const before = `${'x;\n'.repeat(50)}let a = 1;\n`;
    const turns = (await play(before, before.replace('= 1', '= 2')))!;
    expect(turns.map((turn) => callOf(turn).name)).toEqual(['open', 'edit', 'run_tests', 'submit']);
    expect(callOf(turns[0]).arguments).toEqual({ path: 'src/total.js', line: 51 });
  });
});

describe('the turns of an expert who chooses', () => {
  /** Names and arguments of all calls. */
  const callsOf = (turns: readonly string[]) =>
    [...turns.join('\n').matchAll(/<tool_call>\n(.*)\n<\/tool_call>/g)].map(
      ([, json]) => JSON.parse(json) as { name: string; arguments: Record<string, string | number> },
    );

  it('search for the function that the tests name, choose what mends it, run the tests and submit', async () => {
    const buggy = source.replace('i < items', 'i <= items');
    const calls = callsOf((await choose(buggy, source))!);
    expect(calls.map(({ name }) => name)).toEqual(['search', 'suggest', 'choose', 'run_tests', 'submit']);
    expect(calls[0].arguments).toEqual({ query: 'total' });
    const { path, name, number } = calls[2].arguments as { path: string; name: string; number: number };
    expect(chosen(path, buggy, name, number)).toEqual({ text: source });
  });

  it('ask for the functions of the file where the tests name none', async () => {
    const calls = callsOf(
      (await choose(source.replace('<= LIMIT', '< LIMIT'), source, 'Failing: t.js > a > sums up'))!,
    );
    expect(calls[0]).toEqual({ name: 'suggest', arguments: { path: 'src/total.js', name: '?' } });
    expect(calls[1]).toEqual({ name: 'suggest', arguments: { path: 'src/total.js', name: 'total' } });
  });

  it('ask for the rest of a long list until it shows the change', async () => {
    const long = `function f(a, b) {\n${'  if (a < b) a += 1;\n'.repeat(30)}  return a > b;\n}\n`;
    const calls = callsOf((await choose(long.replace('a > b', 'a >= b'), long, 'f'))!);
    const lines = calls.filter(({ name }) => name === 'suggest').map(({ arguments: { line } }) => line);
    expect(lines.length).toBeGreaterThan(2);
    expect(lines[0]).toBeUndefined();
    expect(Number(lines.at(-1))).toBeLessThanOrEqual(32);
    const list = renderSuggestions('src/total.js', long.replace('a > b', 'a >= b'), 'f', Number(lines.at(-1)));
    expect(list).toContain(`(${calls.find(({ name }) => name === 'choose')!.arguments.number})`);
  });

  it('are none where no suggestion mends the bug, or it stands in no function', async () => {
    expect(await choose(source.replace('  return sum;\n', ''), source)).toBeNull();
    expect(await choose(source.replace('LIMIT = 10', 'LIMIT = 11'), source)).toBeNull();
  });
});
