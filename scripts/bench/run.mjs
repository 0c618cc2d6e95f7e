// Bundles scripts/bench/learner.ts and runs it with the arguments given.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'bench-'));
try {
  const outfile = join(folder, 'learner.cjs');
  await build({
    entryPoints: [join(root, 'scripts', 'bench', 'learner.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    external: ['onnxruntime-node'],
    logLevel: 'warning',
  });
  // The bundle lies outside of the project, where its native packages would not be found.
  const env = { ...process.env, NODE_PATH: join(root, 'node_modules') };
  process.exitCode = spawnSync(process.execPath, [outfile, ...process.argv.slice(2)], { stdio: 'inherit', env }).status;
} finally {
  rmSync(folder, { recursive: true });
}
