import { badInput } from '../../trajectory/errors.js';
import { Bubblewrap, bubblewrapProblem, hiddenFolders, supportsSize } from './bubblewrap.js';
import type { Janitor } from './janitorClient.js';
import type { Sandbox, SandboxKind } from './sandbox.js';
import { findToolchain, type Toolchain } from './toolchain.js';
import { Unconfined } from './unconfined.js';

export type SandboxChoice = 'auto' | SandboxKind;

/**
 * The sandbox that the user chose, tried out. `auto` means bubblewrap: nothing ever falls back to the unconfined mode by
 * itself. Throws `badInput` that says what is missing and how to get it.
 */
export async function probeSandbox(
  choice: SandboxChoice,
  options: { readonly repoRoot: string; readonly stateFolder: string; readonly janitor: Janitor },
): Promise<{ readonly sandbox: Sandbox; readonly toolchain: Toolchain }> {
  const toolchain = await findToolchain(options.repoRoot, hiddenFolders());
  if (choice === 'unconfined') return { sandbox: new Unconfined(toolchain, options.janitor), toolchain };
  const missing = await bubblewrapProblem();
  if (missing) throw badInput(missing.problem, missing.remedy);
  return { sandbox: new Bubblewrap(toolchain, await supportsSize(), options.stateFolder, options.janitor), toolchain };
}
