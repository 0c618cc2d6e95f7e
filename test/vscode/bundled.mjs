import { build } from 'esbuild';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ensureInstalled, vscode } from './install.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What a script that plays in the installed VS Code is given: the project, which is built, and what starts VS Code. */
export const stage = { root, node: vscode.node, codeServer: vscode.codeServer };

/** Installs VS Code, builds the extension, and gives the module of such a script, written in TypeScript. Goes to the project's root. */
export async function bundled(script) {
  process.chdir(root);
  if (!vscode.supported) throw new Error('This is done on Linux on x64, where VS Code is installed from packages.');
  ensureInstalled();
  execFileSync(process.execPath, ['esbuild.mjs'], { stdio: 'inherit' });
  const outfile = join(root, 'out', 'vscode', `${script.replace(/^.*\/|\.ts$/g, '')}.mjs`);
  await build({
    entryPoints: [script],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    packages: 'external',
    logLevel: 'warning',
  });
  return import(pathToFileURL(outfile).href);
}
