import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { say } from './said.js';
import { saidSchema } from './saidSchema.js';

describe('what is said', () => {
  it('is English, and a template beside the values where there are some', () => {
    expect(say`Stopped.`).toEqual({ message: 'Stopped.' });
    expect(say`${1} of ${'a'} files`).toEqual({
      message: '1 of a files',
      phrase: { template: '{0} of {1} files', values: [1, 'a'] },
    });
  });

  it('may hold what is said itself, also where that holds more', () => {
    const reason = Object.assign(new Error(), say`${'a'} is missing`);
    const said = say`Cannot read ${'b'}: ${reason}.`;
    expect(said.message).toBe('Cannot read b: a is missing.');
    expect(saidSchema.parse(JSON.parse(JSON.stringify(said)))).toEqual(said);
    expect(said.phrase?.values).toEqual(['b', say`${'a'} is missing`]);
  });

  it('comes out of its record as it went in, whatever the values hold', () => {
    fc.assert(
      fc.property(fc.string(), fc.double(), (name, value) => {
        const said = say`${name} is ${value}`;
        expect(said.message).toBe(`${name} is ${value}`);
        const { message, phrase } = saidSchema.parse(JSON.parse(JSON.stringify(said)));
        const filled = phrase!.template.replace(/\{(\d)\}/g, (_, at: string) => String(phrase!.values[Number(at)]));
        expect(filled).toBe(message);
      }),
    );
  });
});
