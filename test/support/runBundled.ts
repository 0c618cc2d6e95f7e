import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '..', '..');

/** Bundles a TypeScript program and runs it in a process of its own; gives what it wrote to standard output. */
export async function runBundled(
  entry: string,
  args: readonly string[],
  options: { readonly env?: NodeJS.ProcessEnv; readonly timeoutMs: number },
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'bundled '));
  try {
    const outfile = join(folder, 'program.cjs');
    await build({
      absWorkingDir: root,
      entryPoints: [entry],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'cjs',
      target: 'node20',
      external: ['onnxruntime-node'],
      define: { 'import.meta.dirname': JSON.stringify(join(root, 'test', 'support')) },
      logLevel: 'warning',
    });
    // The bundle lies outside of the project, where its native packages would not be found.
    const env = { ...process.env, NODE_PATH: join(root, 'node_modules'), ...options.env };
    const { stdout } = await promisify(execFile)(process.execPath, [outfile, ...args], {
      env,
      timeout: options.timeoutMs,
      killSignal: 'SIGKILL',
      maxBuffer: 1 << 26,
    });
    return stdout;
  } finally {
    await rm(folder, { recursive: true });
  }
}
