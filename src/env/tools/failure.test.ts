import { describe, expect, it } from 'vitest';
import { failureOf } from './failure.js';
import { renderNoEdit } from './edit.js';
import { renderCommand } from './runCommand.js';
import { renderTestReport } from './runTests.js';
import { renderMalformedCall, renderUnknownTool } from './tools.js';

const context = { roots: [], now: 0 };
const command = (exitCode: number | null, output: string, outcome: 'exited' | 'timed-out' = 'exited') =>
  failureOf({ name: 'run_command', content: renderCommand({ outcome, exitCode, output }, 1000, context) });
const tests = (...statuses: ('passed' | 'failed')[]) =>
  failureOf({
    name: 'run_tests',
    content: renderTestReport({
      outcome: 'completed',
      results: statuses.map((status, index) => ({ id: `t${index}`, file: 'a', name: 't', status, message: '' })),
      output: '',
    }),
  });

describe('the failure of a call', () => {
  it('is the ending of a command that did not end well', () => {
    expect(command(2, 'oops\nno')).toBe('exit code 2');
    expect(command(null, '')).toBe('ended by a signal');
    expect(command(0, 'x', 'timed-out')).toBe('timed out after 1 s');
    expect(command(0, 'all is well')).toBeNull();
    expect(command(0, 'exit code 1\nis what it said')).toBeNull();
  });

  it('is the count of tests where some failed', () => {
    expect(tests('passed', 'failed')).toBe('1 passed, 1 failed');
    expect(tests('passed')).toBeNull();
  });

  it('is the refusal of a tool', () => {
    expect(failureOf({ name: 'edit', content: renderNoEdit('a.js', 0) })).toMatch(/^Not edited/);
    expect(failureOf({ name: 'error', content: renderMalformedCall('no name') })).toMatch(/^Malformed/);
    expect(failureOf({ name: 'fly', content: renderUnknownTool('fly') })).toMatch(/^Unknown tool/);
    expect(failureOf({ name: 'open', content: 'open: missing argument "path".' })).toMatch(/^open: /);
    expect(failureOf({ name: 'open', content: 'No file "b.js".' })).toBe('No file "b.js".');
    expect(failureOf({ name: 'open', content: 'a.js (1 line)\n1: No file "b.js".' })).toBeNull();
    expect(failureOf({ name: 'search', content: 'No match for "x".' })).toBeNull();
  });

  it('is none of a change after which tests fail: that is what its answer is for', () => {
    expect(failureOf({ name: 'choose', content: '1 passed, 2 failed\na.js:3: < becomes <=' })).toBeNull();
    expect(failureOf({ name: 'choose', content: 'The tests timed out.\na.js:3: < becomes <=' })).toBeNull();
    expect(failureOf({ name: 'choose', content: 'No function 9: there are 3.' })).toBe('No function 9: there are 3.');
  });

  it('is none of a tool that is not known, whatever its name', () => {
    for (const name of ['constructor', '__proto__', 'toString']) expect(failureOf({ name, content: 'x' })).toBeNull();
  });
});
