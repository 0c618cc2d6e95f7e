// Bundles a benchmark of this folder, named by the first argument (the learner's where it names none), and runs it with the others.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { native } from '../../esbuild.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '..', '..');
const given = process.argv.slice(2);
const isNamed = /^[a-z]+$/.test(given[0] ?? '') && existsSync(join(here, `${given[0]}.ts`));
const [name, ...options] = isNamed ? given : ['learner', ...given];

const folder = mkdtempSync(join(tmpdir(), 'bench-'));
try {
  const outfile = join(folder, `${name}.cjs`);
  await build({
    entryPoints: [join(here, `${name}.ts`)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    define: { 'import.meta.url': '__importMetaUrl' },
    inject: [join(root, 'scripts/build/importMetaUrl.js')],
    target: 'node20',
    external: native,
    logLevel: 'warning',
  });
  // The bundle lies outside of the project, where its native packages would not be found.
  const env = { ...process.env, NODE_PATH: join(root, 'node_modules'), BENCH_FOLDER: here };
  process.exitCode = spawnSync(process.execPath, [outfile, ...options], { stdio: 'inherit', env }).status;
} finally {
  rmSync(folder, { recursive: true });
}
