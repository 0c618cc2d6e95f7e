import { describe, expect, it } from 'vitest';
import { makeTask } from '../folderEnvironment.testing.js';
import { narrowTask } from './narrowTask.js';
import { historyStatement, injectionStatement } from './statement.js';

const failing = ['a > one', 'b', 'c', 'd', 'e'].map((id) => ({ id, message: `${id} is wrong` }));
const ids = failing.map(({ id }) => id);
const task = makeTask({
  FAIL_TO_PASS: ids,
  PASS_TO_PASS: ['p'],
  problem_statement: injectionStatement('repo', failing, []),
});

describe('a narrowed task', () => {
  it('is the task that would have been told of the other tests alone', () => {
    const narrowed = narrowTask(task, ['b', 'a > one']);
    expect(narrowed.problem_statement).toBe(injectionStatement('repo', failing.slice(0, 2), []));
    expect(narrowed).toMatchObject({ FAIL_TO_PASS: ['a > one', 'b'], PASS_TO_PASS: ['p'], patch: task.patch });
    expect(narrowed.instance_id).toBe(narrowTask(task, ['a > one', 'b']).instance_id);
    expect(narrowed.instance_id).not.toBe(narrowTask(task, ['b']).instance_id);
  });

  it('names tests that there was no room for, without their messages, as many as are shown', () => {
    const told = (goal: string[]) => narrowTask(task, goal).problem_statement.split('\n').slice(1);
    expect(told(['d'])).toEqual(['Failing: d']);
    expect(told(['b', 'd', 'e'])).toEqual(['Failing: b', '  b is wrong', 'Failing: d', 'Failing: e']);
    expect(told(['a > one', 'b', 'c', 'e']).at(-1)).toBe('(+1 more)');
  });

  it('keeps what a commit set out to do', () => {
    const history = { ...task, problem_statement: historyStatement('Round up\n\n  indented\nplain', failing) };
    expect(narrowTask(history, ['c']).problem_statement.split('\n')).toEqual([
      'Round up',
      '',
      'indented',
      'plain',
      'Change the source so that the failing tests pass.',
      'Failing: c',
      '  c is wrong',
    ]);
  });

  it.each([[[]], [['z']], [['a > one', 'z']]])('has a goal that is part of the task’s own: %j', (goal) => {
    expect(() => narrowTask(task, goal)).toThrow(/internal: .* is no goal of/);
  });
});
