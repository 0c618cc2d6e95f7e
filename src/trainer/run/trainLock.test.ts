import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
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
    expect(await trainLockHolder(root)).toEqual({ pid: process.pid, runId: 'r1', activity: 'training' });
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

  it.each([
    ['a free one', () => undefined],
    ['a stale one', () => leave(process.pid, 'started at another time')],
    ['a torn one', () => writeFileSync(file(), 'torn')],
    [
      'a stale one that a killed process was taking over',
      () => {
        leave(process.pid, 'started at another time');
        const claim = createHash('sha256').update(readFileSync(file())).digest('hex').slice(0, 16);
        writeFileSync(`${file()}.${claim}`, readFileSync(file(), 'utf8').replaceAll('"old"', '"older"'));
      },
    ],
  ])('goes to exactly one of many that want it at once: %s', async (_, prepare) => {
    prepare();
    const wishes = await Promise.allSettled(
      Array.from({ length: 8 }, (_, index) => acquireTrainLock(root, `r${index}`)),
    );
    expect(wishes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(readdirSync(root).sort()).toEqual(['.gitignore', 'train.lock']);
  });

  it('is never held by two, however often it is taken, released and left behind', async () => {
    let holders = 0;
    let taken = 0;
    const contend = async (runId: string) => {
      for (let round = 0; round < 20; round++) {
        const lock = await acquireTrainLock(root, runId).catch((error: Error) => {
          expect(error.message).toMatch(/already runs/);
        });
        if (lock) {
          expect(++holders).toBe(1);
          taken++;
          await setTimeout(1);
          holders--;
          // Some die holding it: the same lock, of a process that is gone.
          if (round % 3 === 0) leave(process.pid, 'started at another time');
          else await lock.release();
        }
        await removeDeadLock(root);
      }
    };
    await Promise.all(Array.from({ length: 6 }, (_, index) => contend(`r${index}`)));
    expect(taken).toBeGreaterThan(6);
  });
});
