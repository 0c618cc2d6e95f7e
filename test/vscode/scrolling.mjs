/**
 * Scrolls through a trajectory of about 200,000 tokens in a real VS Code and prints the frames a second:
 * node test/vscode/scrolling.mjs [TURNS=360]. Needs what the editor's tests need, and a machine that does nothing else.
 */
import { build } from 'esbuild';
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ensureInstalled, vscode } from './install.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
process.chdir(root);
if (!vscode.supported) throw new Error('Scrolling is measured on Linux on x64.');
ensureInstalled();
mkdirSync('test-artifacts', { recursive: true });
execFileSync(process.execPath, ['esbuild.mjs'], { stdio: 'inherit' });
const outfile = join(root, 'out', 'vscode', 'scrolling.mjs');
await build({
  entryPoints: ['test/vscode/scrolling/measureScrolling.ts'],
  outfile,
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  packages: 'external',
  logLevel: 'warning',
});
const { measureScrolling } = await import(pathToFileURL(outfile).href);
const turns = Number(process.argv[2] ?? 360);
await measureScrolling({ root, node: vscode.node, codeServer: vscode.codeServer, turns });
