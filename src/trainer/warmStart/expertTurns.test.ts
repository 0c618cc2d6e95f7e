import { createTwoFilesPatch } from 'diff';
import { describe, expect, it } from 'vitest';
import { applySite } from '../../env/tasks/injection/operator.js';
import { OPERATORS } from '../../env/tasks/injection/operators/index.js';
import { parseSource } from '../../env/tasks/injection/parsing.js';
import { replaceOnce } from '../../env/tools/edit.js';
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

const taskOf = (path: string, before: string, after: string) =>
  ({ patch: createTwoFilesPatch(`a/${path}`, `b/${path}`, before, after) }) as Task;

const play = (before: string, after: string) =>
  expertTurns(taskOf('src/total.js', before, after), (path) =>
    Promise.resolve(path === 'src/total.js' ? before : null),
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
    expect(await expertTurns({ patch: one + two } as Task, () => Promise.resolve('1\n'))).toBeNull();
  });

  it('are none where the oracle does not fit the tree or is no text, rather than an error', async () => {
    expect(await expertTurns(taskOf('src/total.js', 'other\n', 'text\n'), () => Promise.resolve(source))).toBeNull();
    expect(await expertTurns(taskOf('src/gone.js', 'a\n', 'b\n'), () => Promise.resolve(null))).toBeNull();
  });

  it('open a file at the edit itself where no definition is known', async () => {
    const before = `${'x;\n'.repeat(50)}let a = 1;\n`;
    const turns = (await play(before, before.replace('= 1', '= 2')))!;
    expect(turns.map((turn) => callOf(turn).name)).toEqual(['open', 'edit', 'run_tests', 'submit']);
    expect(callOf(turns[0]).arguments).toEqual({ path: 'src/total.js', line: 51 });
  });
});
