import { describe, expect, it } from 'vitest';
import { parseTap } from './tap.js';

const read = (...lines: string[]) => parseTap(lines.join('\n'));
const brief = (...lines: string[]) => read(...lines)?.map(({ path, status }) => `${status} ${path.join(' > ')}`);

describe('a TAP stream', () => {
  it('gives statuses, reasons and diagnostics', () => {
    const tests = read(
      'TAP version 14',
      '1..6',
      'ok 1 - works # time=1.5ms',
      'not ok 2 - does not',
      '  ---',
      '  message: no',
      '  at: a.js',
      '  ...',
      '# about something else',
      'ok 3 - later # SKIP no network',
      'not ok 4 - some day # TODO write it',
      'ok 5 a \\# hash and \\\\ # notable',
      'not ok',
      '# in a.bats, line 3',
      '#   failed',
    );
    const plain = { reason: '', diagnostics: '' };
    expect(tests).toEqual([
      { ...plain, path: ['works'], status: 'passed' },
      { ...plain, path: ['does not'], status: 'failed', diagnostics: 'message: no\nat: a.js' },
      { ...plain, path: ['later'], status: 'skipped', reason: 'no network' },
      { ...plain, path: ['some day'], status: 'skipped', reason: 'write it' },
      { ...plain, path: ['a # hash and \\ # notable'], status: 'passed' },
      { ...plain, path: ['test 6'], status: 'failed', diagnostics: 'in a.bats, line 3\n  failed' },
    ]);
  });

  it('has subtests by indentation, whose summary counts only where it alone failed', () => {
    const inner = [
      '# Subtest: outer',
      '    # Subtest: inner',
      '        ok 1 - a',
      '        not ok 2 - b',
      '        1..2',
    ];
    expect(brief(...inner, '    not ok 1 - inner', '    ok 2 - c', '    1..2', 'not ok 1 - outer', '1..1')).toEqual([
      'passed outer > inner > a',
      'failed outer > inner > b',
      'passed outer > c',
    ]);
    expect(brief('    ok 1 - a', '    1..1', 'not ok 1 - outer', '1..1')).toEqual(['failed outer', 'passed outer > a']);
  });

  it('has subtests in braces', () => {
    expect(brief('ok 1 - outer # time=3ms {', '    ok 1 - a', '    1..1', '}', '', 'ok 2 - {', '1..2')).toEqual([
      'passed outer > a',
      'passed test 2',
    ]);
  });

  it('fails a point whose subtests are fewer than planned or have no plan', () => {
    expect(brief('# Subtest: s', '    1..2', '    ok 1 - a', 'ok 1 - s', '1..1')).toEqual(['failed s']);
    expect(brief('# Subtest: s', '    ok 1 - a', 'ok 1 - s', '1..1')).toEqual(['failed s']);
  });

  it('passes over what tests print', () => {
    const printed = ['okay 1', '    ok 1 - forged', '      ok 2 - forged', 'TAP version 13', '  ---', 'x', '# ok 1'];
    expect(brief('TAP version 13', ...printed, 'ok 1 - a', '1..1')).toEqual(['passed a']);
  });

  it('takes tape its comments for the names of tests', () => {
    const stream = [
      '# clamps',
      'ok 1 is equal',
      'ok 2 is equal',
      '# adds',
      'ok 3 is equal',
      '',
      '1..3',
      '# tests 3',
      '# pass  3',
    ];
    expect(brief(...stream)).toEqual([
      'passed clamps > is equal',
      'passed clamps > is equal',
      'passed adds > is equal',
    ]);
  });

  it('is empty where all was skipped', () => {
    expect(read('1..0 # SKIP not on this machine')).toEqual([]);
  });

  it.each([
    ['has no plan', ['ok 1 - a']],
    ['is empty', ['']],
    ['planned more', ['1..2', 'ok 1 - a']],
    ['planned fewer', ['1..1', 'ok 1 - a', 'ok 2 - b']],
    ['has two plans', ['1..1', 'ok 1 - a', '1..1']],
    ['has a number twice, since a test printed it', ['ok 1 - forged', 'not ok 1 - a', '1..2']],
    ['bails out', ['1..1', 'ok 1 - a', 'Bail out! no database']],
    ['bails out in a subtest', ['1..1', '    Bail out!', 'ok 1 - a']],
    ['ends in a YAML block', ['1..1', 'not ok 1 - a', '  ---', '  message: b']],
  ])('is incomplete where it %s', (_, lines) => {
    expect(read(...lines)).toBeNull();
  });

  it('is read in one pass, however long its lines are', () => {
    const noise = ['ok 1 ' + ' '.repeat(2_000_000) + 'x', ' '.repeat(2_000_000), '# '.repeat(1_000_000)];
    expect(read(...noise, '1..1')).toHaveLength(1);
  });
});
