import { describe, expect, it } from 'vitest';
import { fileTree } from './replayFileTree.js';
import { ScriptedReplay } from './scripted.testing.js';
import { Snapshots } from './snapshots.js';

describe('snapshots of a replay', () => {
  it('play each turn once, also when it is asked for many times at once', async () => {
    const replay = new ScriptedReplay();
    const snapshots = new Snapshots(replay);
    const [third, second, again] = await Promise.all([snapshots.turn(3), snapshots.turn(2), snapshots.turn(3)]);
    expect([third?.turn, second?.turn, again?.turn, replay.played]).toEqual([3, 2, 3, 3]);
    expect(await snapshots.turn(9)).toBeUndefined();
    expect((await snapshots.turn(1))?.turn).toBe(1);
    expect(snapshots.known(0)).toBeUndefined();
  });

  it('tell the files of every turn', async () => {
    const snapshots = new Snapshots(new ScriptedReplay());
    await snapshots.turn(4);
    expect(snapshots.files(0)).toEqual(['a.js', 'src/b.js', 'src/old.js']);
    expect(snapshots.files(2)).toEqual(['a.js', 'new.js', 'src/b.js', 'src/old.js']);
    expect(snapshots.files(3)).toEqual(['a.js', 'src/b.js']);
    expect(await snapshots.text(1, 'a.js')).toBe('a\n');
    expect(await snapshots.text(2, 'a.js')).toBe('A\n');
    expect(await snapshots.text(3, 'src/old.js')).toBeNull();
    expect(await snapshots.text(2, 'src/old.js')).toBe('old\n');
    expect(await snapshots.text(3, 'new.js')).toBeNull();
    expect(await snapshots.text('oracle', 'src/b.js')).toBe('B\n');
  });

  it('tell what differs from the start, the turn before and the oracle', async () => {
    const snapshots = new Snapshots(new ScriptedReplay());
    await snapshots.turn(4);
    expect(snapshots.differences(0, 2)).toEqual([
      { path: 'a.js', from: 'a\n', to: 'A\n' },
      { path: 'new.js', from: null, to: 'n\n' },
    ]);
    expect(snapshots.differences(2, 3)).toEqual([
      { path: 'new.js', from: 'n\n', to: null },
      { path: 'src/old.js', from: 'old\n', to: null },
    ]);
    expect(snapshots.differences(3, 4)).toEqual([]);
    expect(snapshots.differences('oracle', 2)).toEqual([
      { path: 'new.js', from: null, to: 'n\n' },
      { path: 'src/b.js', from: 'B\n', to: 'b\n' },
    ]);
  });

  it('make a tree in which a folder counts its changes, and a removed file is still there', async () => {
    const snapshots = new Snapshots(new ScriptedReplay());
    await snapshots.turn(3);
    expect(fileTree(snapshots, 3)).toMatchObject({
      changes: 2,
      children: [
        {
          name: 'src',
          changes: 1,
          children: [
            { path: 'src/b.js', change: undefined },
            { path: 'src/old.js', change: 'removed' },
          ],
        },
        { path: 'a.js', change: 'changed' },
      ],
    });
  });
});
