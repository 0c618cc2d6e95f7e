import { expect, it, vi } from 'vitest';
import { badInput, WhetstoneError } from './errors.js';

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
