import { build } from 'esbuild';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

// Bundles make.ts into .cache and runs it from the root of the repository.
const root = join(fileURLToPath(new URL('.', import.meta.url)), '..', '..');
const outfile = join(root, '.cache', 'embedded-policy', 'make.mjs');
await build({
  entryPoints: [join(root, 'scripts', 'embedded-policy', 'make.ts')],
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
  packages: 'external',
  logLevel: 'warning',
});
const { status } = spawnSync(process.execPath, [outfile, ...process.argv.slice(2)], { cwd: root, stdio: 'inherit' });
process.exitCode = status ?? 1;
