import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TestResult } from '../testing/testRunner.js';
import { renderEdit, renderNoEdit, replaceOnce } from './edit.js';
import { renderFolder, renderOpen } from './open.js';
import { systemPrompt } from './prompts.js';
import { renderTestReport } from './runTests.js';
import { findInText } from './search.js';
import { renderMalformedCall, toolSchemas } from './tools.js';

const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => `${from + i}: l${from + i}`).join('\n');
const text = (lines: number) => Array.from({ length: lines }, (_, i) => `l${i + 1}\n`).join('');

describe('open', () => {
  it('shows a window of 40 lines around the line, with markers for the rest', () => {
    expect(renderOpen('a', text(40))).toBe(`a (40 lines)\n${numbered(1, 40)}`);
    expect(renderOpen('a', text(160))).toBe(`a (160 lines)\n${numbered(1, 40)}\n... 120 more lines`);
    expect(renderOpen('a', text(160), 100)).toBe(
      `a (160 lines)\n... 79 lines above\n${numbered(80, 119)}\n... 41 more lines`,
    );
    expect(renderOpen('a', text(160), 9999)).toBe(`a (160 lines)\n... 120 lines above\n${numbered(121, 160)}`);
    expect(renderOpen('a', text(41), -3)).toBe(`a (41 lines)\n${numbered(1, 40)}\n... 1 more line`);
  });
  it('shows empty files, one line, CRLF and a missing last line feed', () => {
    expect(renderOpen('a', '')).toBe('a (0 lines)');
    expect(renderOpen('a', '\uFEFFx\r\n')).toBe('a (1 line)\n1: x');
    expect(renderOpen('a', 'x\n\ny')).toBe('a (3 lines)\n1: x\n2: \n3: y');
  });
  it('lists a folder sorted, without git', () => {
    expect(renderFolder('src', ['b.js', 'a/', '.git/'])).toBe('src/ (2 entries)\na/\nb.js');
  });
});

describe('edit', () => {
  it('shows only the lines that differ, at most six', () => {
    expect(renderEdit('a', 'x\ny\nz\n', 'x\nz\n')).toBe('Edited a:\n- 2: y');
    const shown = renderEdit('a', text(10), 'new\n').split('\n');
    expect(shown).toHaveLength(8);
    expect(shown.slice(5)).toEqual(['- 5: l5', '+ 1: new', '(+5 more lines)']);
  });
  it('replaces exactly one occurrence whatever the text', () => {
    const part = fc.string({ unit: fc.constantFrom('a', 'b', '\n', '\r\n', '$&', '\u{1F600}'), maxLength: 8 });
    fc.assert(
      fc.property(part, part, part, part, (head, old, tail, fresh) => {
        const whole = head + old + tail;
        const result = replaceOnce(whole, old, fresh);
        if (old === '' || whole.indexOf(old) !== whole.lastIndexOf(old)) expect(result).toHaveProperty('occurrences');
        else if (!whole.includes('\r\n')) expect(result).toEqual({ text: head + fresh + tail });
      }),
    );
  });
});

describe('edit of a line', () => {
  it('takes what begins on that line alone', () => {
    const whole = 'a = a;\nb = a;\na\n';
    expect(replaceOnce(whole, 'a', 'c', 2)).toEqual({ text: 'a = a;\nb = c;\na\n' });
    expect(replaceOnce(whole, 'a', 'c', 1)).toEqual({ occurrences: 2 });
    expect(replaceOnce(whole, 'b', 'c', 1)).toEqual({ occurrences: 0 });
    expect(replaceOnce(whole, 'a', 'c', 9)).toEqual({ occurrences: 0 });
    expect(replaceOnce(whole, 'a;\na', '', 2)).toEqual({ text: 'a = a;\nb = \n' });
    expect(renderNoEdit('x', 2, 1)).toBe(
      'Not edited: old occurs 2 times in line 1 of x; give more of the text around it.',
    );
  });
  it('numbers lines as open does, whatever ends them', () => {
    const line = fc.string({ unit: fc.constantFrom('a', 'b', ' '), maxLength: 4 });
    const ending = fc.constantFrom('\n', '\r\n', '\r');
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 6 }), ending, fc.nat(), (lines, end, pick) => {
        const number = (pick % lines.length) + 1;
        const marked = lines.map((text, i) => (i + 1 === number ? `${text}X${end}` : text + end)).join('');
        expect(renderOpen('f', marked).split('\n')[number]).toBe(`${number}: ${lines[number - 1]!}X`);
        expect(replaceOnce(`${marked}X`, 'X', 'Y', number)).toEqual({ text: `${marked.replace('X', 'Y')}X` });
      }),
    );
  });
});

describe('run_tests', () => {
  const result = (id: string, status: TestResult['status'], message = ''): TestResult => ({
    id,
    file: '',
    name: id,
    status,
    message,
  });

  it('shows counts, then three failures in a fixed order', () => {
    const results = [
      result('d', 'failed', 'why d'),
      result('b', 'failed', 'why b\n\nat x.js:1'),
      result('a', 'passed'),
      result('e', 'failed'),
      result('c', 'failed'),
      result('s', 'skipped'),
    ];
    const shown =
      '1 passed, 4 failed, 1 skipped\nFAIL b\n  why b\n  at x.js:1\nFAIL c\nFAIL d\n  why d\n(+1 more failed)';
    expect(renderTestReport({ outcome: 'completed', results, output: '' })).toBe(shown);
    expect(renderTestReport({ outcome: 'completed', results: results.reverse(), output: '' })).toBe(shown);
  });

  it('says where there are no results, with the end of the output', () => {
    const output = `${text(30)}took 12ms\n`;
    const report = renderTestReport({ outcome: 'timed-out', results: [], output });
    expect(report.split('\n')).toHaveLength(11);
    expect(report).toMatch(/^The tests timed out\.\nl22\n[^]*\ntook <duration>$/);
    expect(renderTestReport({ outcome: 'no-tests', results: [], output: '' })).toBe('No tests were found.');
  });
});

describe('search', () => {
  it('finds a text of several lines where it begins', () => {
    expect(findInText('a', 'x\r\nfoo(\r\n  1)\r\nfoo(\n 2)\n', 'foo(\n  1')).toEqual([
      { path: 'a', line: 2, text: 'foo(' },
    ]);
  });
  it('does not take the query for a pattern', () => {
    expect(findInText('a', 'a.b\naxb\n', 'a.b')).toHaveLength(1);
  });
});

describe('what models are told', () => {
  it('is a system prompt below 60 words that names every tool', () => {
    const prompt = systemPrompt(toolSchemas);
    expect(prompt.split(/\s+/).length).toBeLessThan(60);
    for (const { function: tool } of toolSchemas) expect(prompt).toContain(tool.name);
  });
  it('is plain JSON schema', () => {
    expect(toolSchemas.map((schema) => schema.function.parameters)).toMatchSnapshot();
  });
  it('explains a malformed call on one line', () => {
    expect(renderMalformedCall('no closing tag')).toBe(
      'Malformed tool call: no closing tag. Write <tool_call>{"name": ..., "arguments": {...}}</tool_call>.',
    );
  });
});
