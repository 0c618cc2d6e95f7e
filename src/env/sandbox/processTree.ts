import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly residentBytes: number;
}

/** Name of the variable that marks every process of one unconfined command. */
export const markerVariable = 'WHETSTONE_COMMAND';

/** Resident memory, in bytes, of a process and all its descendants. 0 where it cannot be read. */
export async function residentBytes(pid: number): Promise<number> {
  const all = await processes();
  return descendants(pid, all).reduce((sum, entry) => sum + entry.residentBytes, 0);
}

/**
 * Kills the process group of `pid` (0 where it is not known), every descendant that can still be found, and (on Linux) every process that carries
 * the marker in its environment: those are the ones that left the group and were adopted by init. Best effort elsewhere.
 */
export async function killTree(pid: number, marker: string): Promise<void> {
  if (process.platform === 'win32') {
    if (pid !== 0) await run('taskkill', ['/T', '/F', '/PID', String(pid)]).catch(() => undefined);
    return;
  }
  if (pid !== 0) {
    const below = descendants(pid, await processes());
    kill(-pid);
    for (const entry of below) kill(entry.pid);
  }
  // A process may fork between the look and the kill, so look until nothing is left.
  for (let round = 0; round < 20; round += 1) {
    const marked = await processesWithMarker(marker);
    if (marked.length === 0) return;
    marked.forEach(kill);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has already ended.
  }
}

function descendants(root: number, all: readonly ProcessEntry[]): ProcessEntry[] {
  const found = all.filter((entry) => entry.pid === root);
  const known = new Set([root]);
  for (let grown = true; grown;) {
    grown = false;
    for (const entry of all) {
      if (known.has(entry.pid) || !known.has(entry.parent)) continue;
      known.add(entry.pid);
      found.push(entry);
      grown = true;
    }
  }
  return found;
}

async function processes(): Promise<ProcessEntry[]> {
  if (process.platform === 'linux') return linuxProcesses();
  if (process.platform === 'win32') return [];
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid=,rss=']).catch(() => ({ stdout: '' }));
  return stdout
    .trim()
    .split('\n')
    .map((row) => row.trim().split(/\s+/).map(Number))
    .map(([pid, parent, kilobytes]) => ({ pid, parent, residentBytes: kilobytes * 1024 }));
}

const linuxPageBytes = 4096;

async function linuxProcesses(): Promise<ProcessEntry[]> {
  const entries = await Promise.all(
    (await linuxPids()).map(async (pid) => {
      const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
      // The command's name stands in parentheses and may hold spaces; the fields after it are numbered from 3.
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
      return { pid, parent: Number(fields[1]), residentBytes: Number(fields[21]) * linuxPageBytes };
    }),
  );
  return entries.filter((entry) => Number.isFinite(entry.parent) && Number.isFinite(entry.residentBytes));
}

async function linuxPids(): Promise<number[]> {
  return (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
}

async function processesWithMarker(marker: string): Promise<number[]> {
  if (process.platform !== 'linux') return [];
  const needle = `${markerVariable}=${marker}`;
  const found = await Promise.all(
    (await linuxPids()).map(async (pid) => {
      const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
      return environment.split('\0').includes(needle) ? pid : 0;
    }),
  );
  return found.filter((pid) => pid !== 0 && pid !== process.pid);
}
