import type { Janitor } from './janitorClient.js';
import { runOnHost } from './runOnHost.js';
import type { Sandbox, SandboxCommand, SandboxResult, SandboxView } from './sandbox.js';
import type { Toolchain } from './toolchain.js';

/**
 * No confinement: the commands run as the user, with the user's network and files in reach. For repositories that the
 * user trusts.
 */
export class Unconfined implements Sandbox {
  readonly kind = 'unconfined';
  readonly remounts = false;

  constructor(
    readonly toolchain: Toolchain,
    readonly janitor: Janitor,
  ) {}

  run(view: SandboxView, command: SandboxCommand): Promise<SandboxResult> {
    return runOnHost(this, view, command, () => []);
  }
}
