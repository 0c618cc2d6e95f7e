/**
 * Records the README's demonstration: `npm run demo` plays a real training in a real VS Code and writes media/demo.gif.
 * Needs what the editor's tests need; takes some minutes.
 */
import { build } from 'esbuild';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ensureInstalled, vscode } from './install.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
process.chdir(root);
if (!vscode.supported) throw new Error('The demonstration is recorded on Linux on x64.');
ensureInstalled();
execFileSync(process.execPath, ['esbuild.mjs'], { stdio: 'inherit' });
const outfile = join(root, 'out', 'vscode', 'demo.mjs');
await build({
  entryPoints: ['test/vscode/demo/recordDemo.ts'],
  outfile,
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  packages: 'external',
  logLevel: 'warning',
});
const { recordDemo } = await import(pathToFileURL(outfile).href);
await recordDemo({ root, node: vscode.node, codeServer: vscode.codeServer, target: 'media/demo.gif' });
