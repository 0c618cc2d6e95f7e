import { expect, it } from 'vitest';
import { z } from 'zod';
import { saidOfIssue } from './saidOfIssue.js';

const schema = z.strictObject({
  count: z.int().positive().max(9).optional(),
  kind: z.enum(['a', 'b']).optional(),
  names: z.array(z.string().min(2)).min(1).max(2).optional(),
});

it.each([
  [{ count: 'x' }, 'Invalid input: expected {0}, received {1}', ['int', 'string']],
  [{ count: 0 }, 'Too small: expected {0} to be {1}', ['number', '>0']],
  [{ count: 10 }, 'Too big: expected {0} to be {1}', ['number', '<=9']],
  [{ kind: 'c' }, 'Invalid option: expected one of {0}', ['"a"|"b"']],
  [{ names: [] }, 'Too small: expected {0} to have {1}', ['array', '>=1 items']],
  [{ names: ['ab', 'cd', 'ef'] }, 'Too big: expected {0} to have {1}', ['array', '<=2 items']],
])('what zod says of %j is taken apart and says the same', (value, template, values) => {
  const [issue] = schema.safeParse(value).error!.issues;
  const said = saidOfIssue(issue);
  expect(said.phrase?.template).toBe(template);
  expect(said.message).toBe(issue.message);
  if (template.includes('received')) expect(said.phrase?.values[1]).toBe(values[1]);
  else expect(said.phrase?.values).toEqual(values);
});

it('a message of our own stands as it is', () => {
  const refused = z.string().refine(() => false, { message: 'it must be another' });
  expect(saidOfIssue(refused.safeParse('x').error!.issues[0])).toEqual({ message: 'it must be another' });
});
