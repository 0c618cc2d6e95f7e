import { badInput } from '../../trajectory/errors.js';
import { Bubblewrap, bubblewrapProblem, hiddenFolders, supportsSize } from './bubblewrap.js';
import { Container } from './container.js';
import { probeContainer } from './containerProbe.js';
import { neighbours } from './neighbours.js';
import type { Janitor } from './janitorClient.js';
import type { Sandbox, SandboxKind, SandboxProblem } from './sandbox.js';
import { parseSandboxChoice, type SandboxChoice } from './sandboxChoice.js';
import { Seatbelt, seatbeltProblem } from './seatbelt.js';
import { findToolchain, type Toolchain } from './toolchain.js';
import { Unconfined } from './unconfined.js';

interface Probed {
  readonly sandbox: Sandbox;
  readonly toolchain: Toolchain;
}

/**
 * The sandbox that the user chose, tried out by running something in it. `auto` takes the system's own, else a container:
 * nothing ever falls back to the unconfined mode by itself. Throws `badInput` that says what is missing and how to get it.
 */
export async function probeSandbox(
  choice: SandboxChoice,
  options: { readonly repoRoot: string; readonly stateFolder: string; readonly janitor: Janitor },
): Promise<Probed> {
  const { janitor, stateFolder } = options;
  const { kind, image } = parseSandboxChoice(choice);
  const beside = await neighbours(options.repoRoot);
  const toolchain = await findToolchain(options.repoRoot, [...hiddenFolders(), ...beside]);
  const probes = {
    bubblewrap: async (): Promise<Probed | SandboxProblem> =>
      (await bubblewrapProblem()) ?? {
        sandbox: new Bubblewrap(toolchain, await supportsSize(), [stateFolder, ...beside], janitor),
        toolchain,
      },
    seatbelt: async (): Promise<Probed | SandboxProblem> =>
      (await seatbeltProblem()) ?? { sandbox: new Seatbelt(toolchain, janitor), toolchain },
    podman: () => container('podman'),
    docker: () => container('docker'),
    unconfined: (): Promise<Probed> => Promise.resolve({ sandbox: new Unconfined(toolchain, janitor), toolchain }),
  };
  const container = async (engine: 'podman' | 'docker'): Promise<Probed | SandboxProblem> => {
    const probed = await probeContainer(engine, image, toolchain);
    if ('problem' in probed) return probed;
    const sandbox = new Container(engine, probed.program, probed.image, probed.toolchain, janitor);
    return { sandbox, toolchain: probed.toolchain };
  };
  const own: SandboxKind = process.platform === 'darwin' ? 'seatbelt' : 'bubblewrap';
  const kinds: SandboxKind[] = kind === 'auto' ? [own, 'podman', 'docker'] : [kind];
  const problems: SandboxProblem[] = [];
  for (const candidate of kinds) {
    const probed = await probes[candidate]();
    if ('sandbox' in probed) return probed;
    problems.push(probed);
  }
  throw badInput(problems[0].problem, problems[0].remedy);
}
