import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BoundedOutput } from './boundedOutput.js';

const feed = (limit: number, chunks: readonly Buffer[]) => {
  const output = new BoundedOutput(limit);
  chunks.forEach((chunk) => output.add(chunk));
  return output;
};

/** A text's bytes in pieces that may split a character. */
const pieces = fc
  .tuple(fc.string({ unit: 'grapheme', maxLength: 400 }), fc.array(fc.nat(40), { maxLength: 60 }))
  .map(([text, cuts]) => {
    const bytes = Buffer.from(text);
    const chunks: Buffer[] = [];
    let at = 0;
    for (const cut of cuts) {
      chunks.push(bytes.subarray(at, at + cut));
      at += cut;
    }
    return { text, chunks: [...chunks, bytes.subarray(at)] };
  });

describe('bounded output', () => {
  it('is the text itself up to the limit, however it came in', () => {
    fc.assert(
      fc.property(pieces, ({ text, chunks }) => {
        const output = feed(Buffer.byteLength(text), chunks);
        expect(output.toString()).toBe(text);
        expect(output.truncated).toBe(false);
      }),
    );
  });

  it('beyond the limit is a beginning and an end of the text, with no broken character', () => {
    fc.assert(
      fc.property(pieces, fc.nat(200), ({ text, chunks }, limit) => {
        fc.pre(Buffer.byteLength(text) > limit && !text.includes('\uFFFD'));
        const output = feed(limit, chunks);
        expect(output.truncated).toBe(true);
        const match = /^([^]*)\n\[… (\d+) bytes cut …\]\n([^]*)$/.exec(output.toString());
        expect(match).not.toBeNull();
        const [, head, cut, tail] = match!;
        expect(text.startsWith(head)).toBe(true);
        expect(text.endsWith(tail)).toBe(true);
        expect(Number(cut)).toBe(Buffer.byteLength(text) - limit);
        expect(Buffer.byteLength(head) + Buffer.byteLength(tail)).toBeGreaterThan(limit - 8);
      }),
    );
  });
});
