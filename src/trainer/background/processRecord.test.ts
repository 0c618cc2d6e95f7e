import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { processIdentity } from '../run/processIdentity.js';
import { runPaths } from '../run/runDirectory.js';
import { cleanUpAfterKilled } from './processRecord.js';

let stateFolder: string;
beforeEach(() => (stateFolder = mkdtempSync(path.join(os.tmpdir(), "whetstone 'räcord' "))));
afterEach(() => rmSync(stateFolder, { recursive: true }));

const lock = () => path.join(stateFolder, 'train.lock');
function leaveLock(pid: number, identity: string | null): void {
  writeFileSync(lock(), JSON.stringify({ pid, identity, runId: 'r1', nonce: 'old' }));
}
function leaveRecord(runId: string, socket: string): void {
  const { folder, process } = runPaths(path.join(stateFolder, 'runs', runId));
  mkdirSync(folder, { recursive: true });
  writeFileSync(process, JSON.stringify({ pid: 1, startedAt: '', socket, token: '' }));
}

/** A socket whose process was killed. */
async function deadSocket(name: string): Promise<string> {
  const socket = path.join(stateFolder, name);
  const script = `require('node:net').createServer().listen(${JSON.stringify(socket)}, () => process.kill(process.pid, 'SIGKILL'))`;
  const child = spawn(process.execPath, ['-e', script]);
  await new Promise((resolve) => child.once('exit', resolve));
  expect(existsSync(socket)).toBe(true);
  return socket;
}

describe.skipIf(process.platform === 'win32')('what killed trainings left behind', () => {
  it('is removed by whoever looks next', async () => {
    const socket = await deadSocket('whetstone-0123456789ab.sock');
    leaveRecord('r1', socket);
    leaveLock(process.pid, 'started at another time');
    await cleanUpAfterKilled(stateFolder);
    expect([existsSync(socket), existsSync(lock())]).toEqual([false, false]);
  });

  it('stays while a training lives, which takes care of it', async () => {
    const socket = await deadSocket('whetstone-0123456789ab.sock');
    leaveRecord('r1', socket);
    leaveLock(process.pid, await processIdentity(process.pid));
    await cleanUpAfterKilled(stateFolder);
    expect([existsSync(socket), existsSync(lock())]).toEqual([true, true]);
  });

  it('is not what else a record may name', async () => {
    const other = await deadSocket('other.sock');
    const file = path.join(stateFolder, 'whetstone-0123456789ab.sock');
    writeFileSync(file, 'no socket');
    leaveRecord('r1', other);
    leaveRecord('r2', file);
    await cleanUpAfterKilled(stateFolder);
    expect([existsSync(other), existsSync(file)]).toEqual([true, true]);
  });

  it('is nothing where nothing was ever trained', async () => {
    await cleanUpAfterKilled(path.join(stateFolder, 'none'));
  });
});
