import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/**
 * What tells a living process from a later one with the same pid: its start time where the platform gives it (Linux in
 * clock ticks since boot, macOS as a date), `alive` elsewhere. Null where no such process runs.
 */
export async function processIdentity(pid: number): Promise<string | null> {
  if (!isAlive(pid)) return null;
  if (process.platform === 'linux') return linuxStartTime(pid);
  if (process.platform === 'darwin') return macStartTime(pid);
  return 'alive';
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function linuxStartTime(pid: number): Promise<string | null> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold anything; behind its last `)` come state (field 3) and, 19 on, the start time.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? null : fields[19];
  } catch {
    return null;
  }
}

async function macStartTime(pid: number): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)('ps', ['-o', 'lstart=', '-p', String(pid)], { timeout: 5000 });
    return stdout.trim() || null;
  } catch {
    return null;
  }
}
