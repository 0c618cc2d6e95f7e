import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { processIdentity } from './processIdentity.js';
import { acquireTrainLock } from './trainLock.js';
import { removeDeadLock } from './trainLockFile.js';
import { trainLockHolder } from './trainLockHolder.js';

let root: string;
beforeEach(() => (root = mkdtempSync(path.join(os.tmpdir(), 'whetstone-lock-'))));
afterEach(() => rmSync(root, { recursive: true }));
const file = () => path.join(root, 'train.lock');
const leave = (pid: number, identity: string) =>
  writeFileSync(file(), JSON.stringify({ pid, identity, runId: 'old', nonce: 'old' }));

describe('the lock of a training', () => {
  it('refuses a second training, naming the first and how to stop it', async () => {
    const lock = await acquireTrainLock(root, 'r1');
    await expect(acquireTrainLock(root, 'r2')).rejects.toMatchObject({
      kind: 'bad-input',
      line: expect.stringMatching(new RegExp(`run r1, pid ${process.pid}.*whetstone runs stop r1`)) as string,
    });
    expect(await trainLockHolder(root)).toEqual({ pid: process.pid, runId: 'r1' });
    await lock.release();
    await (await acquireTrainLock(root, 'r2')).release();
    expect(readdirSync(root)).toEqual(['.gitignore']);
  });

  it('is taken over from a process that is gone', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    const identity = await processIdentity(child.pid!);
    expect(identity).not.toBeNull();
    leave(child.pid!, identity!);
    await expect(acquireTrainLock(root, 'r1')).rejects.toThrow(/already runs/);
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
    const lock = await acquireTrainLock(root, 'r1');
    expect((await trainLockHolder(root))?.runId).toBe('r1');
    await lock.release();
  });

  it('is taken over where the pid belongs to another process by now', async () => {
    leave(process.pid, 'started at another time');
    expect(await trainLockHolder(root)).toBeNull();
    await (await acquireTrainLock(root, 'r1')).release();
    expect(existsSync(file())).toBe(false);
  });

  it('is taken over where what is written in it is no lock', async () => {
    mkdirSync(root, { recursive: true });
    writeFileSync(file(), 'torn');
    await (await acquireTrainLock(root, 'r1')).release();
  });

  it('is removed on its own where its process is gone, and left where it lives', async () => {
    await removeDeadLock(root);
    expect(existsSync(root) && readdirSync(root)).toEqual([]);
    leave(process.pid, (await processIdentity(process.pid))!);
    await removeDeadLock(root);
    expect(readdirSync(root)).toEqual(['train.lock']);
    leave(process.pid, 'started at another time');
    await removeDeadLock(root);
    expect(readdirSync(root)).toEqual([]);
  });

  it('goes to exactly one of many that want it at once, also over a stale one', async () => {
    leave(process.pid, 'started at another time');
    const wishes = await Promise.allSettled(
      Array.from({ length: 8 }, (_, index) => acquireTrainLock(root, `r${index}`)),
    );
    expect(wishes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(readdirSync(root).sort()).toEqual(['.gitignore', 'train.lock']);
  });
});
