import type { Said } from '../../trajectory/said.js';

/** A folder made visible inside the sandbox. Where it does not remount, `target` is reached by a symbolic link. */
export interface Mount {
  readonly source: string;
  readonly target: string;
}

/** Why a sandbox does not work here, and how to get it. */
export interface SandboxProblem {
  readonly problem: Said;
  readonly remedy: Said;
}

/** What a command sees of the machine. */
export interface SandboxView {
  /** The episode's tree on this machine: the only writable place. */
  readonly worktree: string;
  /** A program with arguments that leads to where the worktree is seen, put in front of the command's. Most often none. */
  readonly enter?: readonly string[];
  /** Where the tree appears inside the sandbox: the repository's own path. Equals `worktree` where not confined. */
  readonly mountPath: string;
  readonly readOnly: readonly Mount[];
  readonly writable: readonly Mount[];
}

export interface SandboxCommand {
  /** Never through a shell string of ours; the agent's `run_command` passes ['/bin/sh', '-c', text] inside. */
  readonly argv: readonly string[];
  /** Relative to the worktree. */
  readonly cwd: string;
  /** Added to the allow-listed environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  readonly signal?: AbortSignal;
}

export interface SandboxResult {
  readonly outcome: 'exited' | 'timed-out' | 'cancelled';
  /** Null where a signal ended the process. */
  readonly exitCode: number | null;
  /** stdout and stderr as they came, cut in the middle at the limit. */
  readonly output: string;
  readonly outputTruncated: boolean;
  readonly durationMs: number;
}

export type SandboxKind = 'bubblewrap' | 'podman' | 'docker' | 'seatbelt' | 'unconfined';

/** One way of confining a command. A failure of the sandbox itself throws an `infrastructure` error. */
export interface Sandbox {
  readonly kind: SandboxKind;
  /** Does it show the worktree in the place of the user's repository, and mounts at their targets? Else all lies where it is. */
  readonly remounts: boolean;
  /** Runs the command to its end. Afterwards nothing of its process tree is left. */
  run(view: SandboxView, command: SandboxCommand): Promise<SandboxResult>;
}
