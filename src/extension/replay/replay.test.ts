import { describe, expect, it } from 'vitest';
import { replayArguments } from './replayProcess.js';
import { replayText } from './replayText.js';

describe('the call of a replay', () => {
  it('passes names that look like options or hold quotes as they are', () => {
    const request = { cli: '/x/cli.cjs', repoRoot: "/it's a repo", runId: 'run', trajectoryId: '--help', until: 2 };
    expect(replayArguments(request)).toEqual([...['--repo', "/it's a repo", '--until', '2', '--', 'run', '--help']]);
  });
});

describe('the text of a replay', () => {
  const same = { turn: 1, same: true, call: 'open {}', recorded: ['a'], observed: ['a'], diff: '' };
  const other = {
    turn: 2,
    same: false,
    call: 'run\u202e',
    recorded: ['b'],
    observed: ['c'],
    diff: '@@ -1 +1 @@\n-b\n+c',
  };

  it('says what differs, and on which line it stands', () => {
    const { text, diverging } = replayText('one', { turns: [same, other] });
    const lines = text.split('\n');
    expect(lines[1]).toBe('1 of 2 replayed turns differ from the record.');
    expect(lines[diverging.get(2)!]).toBe('── turn 2 · DIFFERS · run\\u{202e} ──');
    expect(lines).toContain('+c');
    expect([...diverging.keys()]).toEqual([2]);
  });

  it('says so where nothing differs', () => {
    expect(replayText('one', { turns: [same] }).text).toContain('All 1 replayed turns gave the recorded observations.');
  });
});
