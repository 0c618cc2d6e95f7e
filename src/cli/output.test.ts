import { afterEach, expect, it, vi } from 'vitest';
import { badInput } from '../trajectory/errors.js';
import { say } from '../trajectory/said.js';
import { saidSchema } from '../trajectory/saidSchema.js';
import { complain, describeError, ProgressLine } from './output.js';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/** What is written to standard error. */
function written(setting: string | undefined, write: () => void): string {
  vi.stubEnv('WHETSTONE_PROGRESS', setting);
  const spy = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  write();
  return spy.mock.calls.map(([text]) => String(text)).join('');
}
const progressOf = (setting: string | undefined) =>
  written(setting, () => new ProgressLine().update(say`${1} of ${'a\u001b[2Jb'}`));

it('progress is a line for people, in which nothing moves the cursor', () => {
  expect(progressOf(undefined)).toBe('1 of a\ufffd[2Jb\n');
});

it('progress is a line of JSON for those who say it in their own language', () => {
  const text = progressOf('json');
  expect(saidSchema.parse(JSON.parse(text))).toEqual(say`${1} of ${'a\u001b[2Jb'}`);
  expect(text).not.toContain('\u001b');
});

it('why a command failed is a line for people, and both languages for those who read JSON', () => {
  const { said, exitCode } = describeError(badInput(say`${'a\u001b[2Jb'} is no file.`, 'Name a file.'));
  expect(exitCode).toBe(2);
  expect(written(undefined, () => complain(said))).toBe('whetstone: a\ufffd[2Jb is no file. Name a file.\n');
  vi.restoreAllMocks();
  expect(JSON.parse(written('json', () => complain(said)))).toEqual({ error: said });
});

it.each([
  ['ENOSPC', undefined, 'The disk is full. Free some space and run the command again.'],
  ['ENOSPC', '/a', 'The disk is full (/a). Free some space and run the command again.'],
  ['EROFS', undefined, 'Permission denied. Check the permissions and run the command again.'],
  ['EACCES', '/a', 'Permission denied for /a. Check the permissions and run the command again.'],
])('%s of %s is what the user can mend', (code, path, message) => {
  expect(describeError(Object.assign(new Error('x'), { code, path }))).toMatchObject({
    said: { message },
    exitCode: 2,
  });
});
