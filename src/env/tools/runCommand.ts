import { z } from 'zod';
import type { SandboxResult } from '../sandbox/sandbox.js';
import { normalizeOutput, type VolatileContext } from './normalize.js';
import { defineTool } from './tool.js';

/** Bytes of output kept by the sandbox, well above any observation's budget. */
const MAX_OUTPUT_BYTES = 256 * 1024;

export const runCommand = defineTool({
  name: 'run_command',
  description: 'Run a shell command in the repository root.',
  arguments: z.strictObject({ command: z.string().min(1) }),
  async execute({ command }, { workspace, limits, signal }) {
    const result = await workspace.run({
      argv: ['/bin/sh', '-c', command],
      timeoutMs: limits.commandTimeoutMs,
      maxOutputBytes: MAX_OUTPUT_BYTES,
      signal,
    });
    const roots = [workspace.mountPath, workspace.root];
    return renderCommand(result, limits.commandTimeoutMs, { roots, now: Date.now() });
  },
});

/** The output, then a line where the command did not end well. */
export function renderCommand(
  result: Pick<SandboxResult, 'outcome' | 'exitCode' | 'output'>,
  timeoutMs: number,
  context: VolatileContext,
): string {
  const output = normalizeOutput(result.output, context);
  const ending = describeEnding(result, timeoutMs);
  return [output, ending].filter(Boolean).join('\n') || '(no output)';
}

function describeEnding({ outcome, exitCode }: Pick<SandboxResult, 'outcome' | 'exitCode'>, timeoutMs: number): string {
  if (outcome === 'timed-out') return `timed out after ${timeoutMs / 1000} s`;
  if (outcome === 'cancelled') return 'cancelled';
  if (exitCode === null) return 'ended by a signal';
  return exitCode === 0 ? '' : `exit code ${exitCode}`;
}
