import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nodeFailureMessage, nodeFrames, normalizeText } from './failureMessage.js';

const context = { tree: '/home/ada/it is "ours"', testFile: 'test/a.test.js' };

describe('a failure message', () => {
  it('is at most six short lines, whatever was thrown', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 3000 }), fc.string({ maxLength: 3000 }), (message, stack) => {
        const lines = nodeFailureMessage({ message, stack }, context).split('\n');
        expect(lines.length).toBeLessThanOrEqual(6);
        for (const line of lines) expect(line.length).toBeLessThanOrEqual(240);
      }),
    );
  });

  it('is the same wherever the tree lies', () => {
    const inTree = (tree: string) =>
      nodeFailureMessage(
        {
          name: 'Error',
          message: `ENOENT: no such file, open '${tree}/data.json'`,
          stack: `Error: x\n    at read (file://${encodeURI(tree)}/src/read.js:3:9)\n    at Object.<anonymous> (${tree}/test/a.test.js:7:1)\n    at node:internal/x:1:1`,
        },
        { ...context, tree },
      );
    expect(inTree('/a')).toBe("ENOENT: no such file, open 'data.json'\nat src/read.js:3\nat test/a.test.js:7");
    expect(inTree('/tmp/b c/ünï')).toBe(inTree('/a'));
  });

  it('holds no temporary path, address or colour', () => {
    const red = `${String.fromCharCode(27)}[31m`;
    expect(normalizeText(`${red}<X at 0x7f3a2b1c> in /tmp/pytest-of-ada/pytest-3/a.txt`, '/a')).toBe(
      '<X at 0x…> in <tmp>',
    );
    expect(normalizeText('0xff00ff is not 20ms', '/a')).toBe('0xff00ff is not 20ms');
  });

  it('names no place in an installed dependency', () => {
    const stack =
      'Error\n    at a (/r/node_modules/x/a.js:1:1)\n    at new B (/r/src/b.js:2:2)\n    at async /r/src/c.js:3:3';
    expect(nodeFrames(stack, '/r')).toEqual([
      { file: 'src/b.js', line: 2 },
      { file: 'src/c.js', line: 3 },
    ]);
  });
});
