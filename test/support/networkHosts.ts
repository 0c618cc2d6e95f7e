import { execFileSync } from 'node:child_process';
import { onTestFinished } from 'vitest';

const ip = (...args: string[]) => execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] });

/** Whether this machine lets one make network namespaces with cables between them (root, and a kernel that allows it). */
export function canMakeHosts(): boolean {
  const name = `wt${process.pid}probe`;
  try {
    ip('netns', 'add', name);
    try {
      ip('-n', name, 'link', 'add', 'left', 'type', 'veth', 'peer', 'name', 'right');
      return true;
    } finally {
      ip('netns', 'delete', name);
    }
  } catch {
    return false;
  }
}

export interface Host {
  readonly address: string;
  /** The command line that runs something on this host. */
  readonly on: readonly [string, ...string[]];
  /** Pulls the cable: nothing comes through any more, and nobody is told. */
  cut(): void;
}

/**
 * A network of its own: a middle host and some around it, each a namespace with a cable to the middle, none with a way out.
 * All are gone with the test.
 */
export function makeHosts(count: number): { middle: Pick<Host, 'on'>; around: readonly Host[] } {
  const nameOf = (part: string) => `wt${process.pid}${part}`;
  const add = (name: string) => {
    ip('netns', 'add', name);
    onTestFinished(() => void ip('netns', 'delete', name));
    ip('-n', name, 'link', 'set', 'lo', 'up');
    return ['ip', 'netns', 'exec', name] as const;
  };
  const middle = nameOf('m');
  const onMiddle = add(middle);
  const around = Array.from({ length: count }, (_, index): Host => {
    const [name, here, there] = [nameOf(`h${index}`), `m${index}`, 'up0'];
    const on = add(name);
    ip('link', 'add', here, 'netns', middle, 'type', 'veth', 'peer', 'name', there, 'netns', name);
    // 198.18.0.0/15 is set apart for tests of networks (RFC 2544).
    ip('-n', middle, 'address', 'add', `198.18.${index}.1/24`, 'dev', here);
    ip('-n', name, 'address', 'add', `198.18.${index}.2/24`, 'dev', there);
    ip('-n', middle, 'link', 'set', here, 'up');
    ip('-n', name, 'link', 'set', there, 'up');
    return {
      address: `198.18.${index}.2`,
      on,
      cut: () => void ip('-n', name, 'link', 'set', there, 'down'),
    };
  });
  return { middle: { on: onMiddle }, around };
}
