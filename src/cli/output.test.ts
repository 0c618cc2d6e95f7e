import { afterEach, expect, it, vi } from 'vitest';
import { saidSchema, say } from '../trajectory/said.js';
import { ProgressLine } from './output.js';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

function progressOf(setting: string | undefined): string {
  vi.stubEnv('WHETSTONE_PROGRESS', setting);
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  new ProgressLine().update(say`${1} of ${'a\u001b[2Jb'}`);
  return written.mock.calls.map(([text]) => String(text)).join('');
}

it('progress is a line for people, in which nothing moves the cursor', () => {
  expect(progressOf(undefined)).toBe('1 of a\ufffd[2Jb\n');
});

it('progress is a line of JSON for those who say it in their own language', () => {
  const text = progressOf('json');
  expect(saidSchema.parse(JSON.parse(text))).toEqual(say`${1} of ${'a\u001b[2Jb'}`);
  expect(text).not.toContain('\u001b');
});
