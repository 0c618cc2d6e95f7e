/** For tests only. */
import { readdirSync, readFileSync } from 'node:fs';

/** Arguments of this machine's processes (not this one) that hold `words`. */
export function runningWith(words: string): string[][] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return [];
    try {
      const commandLine = readFileSync(`/proc/${name}/cmdline`, 'utf8');
      return commandLine.includes(words) ? [commandLine.split('\0').slice(0, -1)] : [];
    } catch {
      return [];
    }
  });
}
