import { tmpdir } from 'node:os';
import { WhetstoneError } from '../../trajectory/errors.js';
import { Janitor } from './janitorClient.js';
import { probeSandbox } from './probeSandbox.js';
import type { SandboxKind } from './sandbox.js';

/** For tests only: the sandboxes that this machine can run, found out as for a user. */
export async function usableKinds(): Promise<SandboxKind[]> {
  const options = { repoRoot: tmpdir(), stateFolder: tmpdir(), janitor: new Janitor() };
  const usable = async (kind: SandboxKind) => {
    try {
      await probeSandbox(kind, options);
      return [kind];
    } catch (error) {
      if (error instanceof WhetstoneError && error.kind === 'bad-input') return [];
      throw error;
    }
  };
  const kinds: SandboxKind[] = ['bubblewrap', 'seatbelt', 'podman', 'docker', 'unconfined'];
  return (await Promise.all(kinds.map(usable))).flat();
}
