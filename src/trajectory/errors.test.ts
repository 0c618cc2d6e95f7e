import { expect, it, vi } from 'vitest';
import { badInput, WhetstoneError } from './errors.js';
import { say } from './said.js';
import { saidSchema } from './saidSchema.js';

it('an error of another bundle is one of ours, and any other error is not', async () => {
  vi.resetModules();
  const other = await import('./errors.js');
  expect(other.WhetstoneError).not.toBe(WhetstoneError);
  expect(other.badInput('What.', 'Remedy.')).toBeInstanceOf(WhetstoneError);
  expect(badInput('What.', 'Remedy.')).toBeInstanceOf(WhetstoneError);
  for (const stranger of [new Error('x'), new TypeError('x'), { name: 'WhetstoneError' }, null]) {
    expect(stranger instanceof WhetstoneError).toBe(false);
  }
});

it('a line is one line, and short, whatever a message was made of', () => {
  expect(badInput('One\n  two.', 'Mend\nit.').line).toBe('One two. Mend it.');
  const { line } = badInput(' '.repeat(1e6) + '\n', 'Mend it.');
  expect(line).toMatch(/… Mend it\.$/);
  expect(badInput('long '.repeat(1e5), 'Mend it.').line.length).toBeLessThan(1600);
});

it('an error is said in English, and as what its translation is found by', () => {
  const error = badInput(say`${'a.txt'} is no file.`, 'Name a file.');
  expect(error.message).toBe('a.txt is no file.');
  expect(error.line).toBe('a.txt is no file. Name a file.');
  expect(error.said).toEqual({ ...say`${say`${'a.txt'} is no file.`} ${say`Name a file.`}`, message: error.line });
  expect(saidSchema.parse(JSON.parse(JSON.stringify(error.said)))).toEqual(error.said);
  expect(badInput('Every test is skipped.', '').said).toEqual({ message: 'Every test is skipped.' });
});

it('what is too long to be said again in another language is said once, and short', () => {
  const { said, line } = badInput(say`${'long '.repeat(1e5)} is no file.`, 'Name a file.');
  expect(said).toEqual({ message: line });
  expect(JSON.stringify(said).length).toBeLessThan(1700);
});
