import { execFile } from 'node:child_process';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** How long to wait for processes that were killed: on a machine that is busy it can take seconds. */
const endingMs = 10_000;

interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly residentBytes: number;
}

/** Name of the variable that marks every process of one unconfined command. */
export const markerVariable = 'WHETSTONE_COMMAND';

export interface TreeUsage {
  readonly processes: number;
  /** Resident memory. */
  readonly bytes: number;
}

/** What a process takes together with its descendants and its process group. Zeros where it cannot be read. */
export async function treeUsage(pid: number): Promise<TreeUsage> {
  const all = await processes();
  const below = new Set(descendants(pid, all));
  // A child whose parent ended belongs to the group still.
  const found = all.filter((entry) => below.has(entry) || entry.group === pid);
  return { processes: found.length, bytes: found.reduce((sum, entry) => sum + entry.residentBytes, 0) };
}

/**
 * Kills the process group of `pid` (0 where it is not known), every descendant that can still be found, and (on Linux) every process that carries
 * the marker in its environment, or is at work in `folder` without a terminal: those are the ones that left the group and
 * were adopted by init. Best effort elsewhere.
 */
export async function killTree(pid: number, marker: string, folder?: string): Promise<void> {
  if (process.platform === 'win32') {
    if (pid !== 0) await run('taskkill', ['/T', '/F', '/PID', String(pid)]).catch(() => undefined);
    return;
  }
  if (pid !== 0) {
    const below = descendants(pid, await processes());
    kill(-pid);
    for (const entry of below) kill(entry.pid);
  }
  // A process may fork between the look and the kill, and ends only when it next runs: look until nothing is left.
  for (const deadline = performance.now() + endingMs; performance.now() < deadline;) {
    const left = [...(await processesWithMarker(marker)), ...(folder ? await processesAtWorkIn(folder) : [])];
    if (left.length === 0) return;
    left.forEach(kill);
    await setTimeout(2);
  }
}

/** Kills what is at work in a folder that only an episode's commands have, so that a cleared environment hides nothing. */
export async function killAtWorkIn(folder: string): Promise<void> {
  (await processesAtWorkIn(folder)).forEach(kill);
}

/** Waits until a process has ended, for a bounded time; a process that only waits to be reaped has. Linux only. */
export async function waitForEnd(pid: number): Promise<void> {
  for (const deadline = performance.now() + endingMs; performance.now() < deadline;) {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    if (text === '' || text.slice(text.lastIndexOf(')') + 2).startsWith('Z')) return;
    await setTimeout(2);
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
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid=,pgid=,rss=']).catch(() => ({ stdout: '' }));
  return stdout
    .trim()
    .split('\n')
    .map((row) => row.trim().split(/\s+/).map(Number))
    .map(([pid, parent, group, kilobytes]) => ({ pid, parent, group, residentBytes: kilobytes * 1024 }));
}

const linuxPageBytes = 4096;

async function linuxProcesses(): Promise<ProcessEntry[]> {
  const entries = await ofEach(await linuxPids(), async (pid) => {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    // The command's name stands in parentheses and may hold spaces; the fields after it are numbered from 3.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return {
      pid,
      parent: Number(fields[1]),
      group: Number(fields[2]),
      residentBytes: Number(fields[21]) * linuxPageBytes,
    };
  });
  return entries.filter((entry) => Number.isFinite(entry.parent) && Number.isFinite(entry.residentBytes));
}

async function linuxPids(): Promise<number[]> {
  return (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
}

/** A fork bomb has more processes than this one may have open files. */
async function ofEach<T>(pids: readonly number[], look: (pid: number) => Promise<T>): Promise<T[]> {
  const found: T[] = [];
  for (let start = 0; start < pids.length; start += 64) {
    found.push(...(await Promise.all(pids.slice(start, start + 64).map(look))));
  }
  return found;
}

/** Field 7 of `/proc/<pid>/stat`, counted from the field after the name; 0 where there is no terminal. */
const terminalField = 4;

/** A person's shell in the folder has a terminal; what a command left behind has none. */
async function processesAtWorkIn(folder: string): Promise<number[]> {
  if (process.platform !== 'linux') return [];
  const found = await ofEach(await linuxPids(), async (pid) => {
    const place = await readlink(`/proc/${pid}/cwd`).catch(() => '');
    if (place !== folder && !place.startsWith(`${folder}/`)) return 0;
    const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return fields[0] !== 'Z' && fields[terminalField] === '0' ? pid : 0;
  });
  return found.filter((pid) => pid !== 0 && pid !== process.pid);
}

async function processesWithMarker(marker: string): Promise<number[]> {
  if (process.platform !== 'linux') return [];
  const needle = `${markerVariable}=${marker}`;
  const found = await ofEach(await linuxPids(), async (pid) => {
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    return environment.split('\0').includes(needle) ? pid : 0;
  });
  return found.filter((pid) => pid !== 0 && pid !== process.pid);
}
