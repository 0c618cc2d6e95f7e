/**
 * Runs the editor's tests in a real VS Code: the mocha suite inside the extension host, then the user-interface test,
 * whose screenshots go to test-artifacts/. Ends with `N passed, N failed`. `--ui` or `--suite` runs one of the two;
 * `--ui 'In the views'` one scenario of the workbench.
 */
import { build } from 'esbuild';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ensureInstalled, vscode } from './install.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const out = join(root, 'out', 'vscode');
process.chdir(root);

if (vscode.supported) ensureInstalled();
process.env.WHETSTONE_VSCODE_NODE = vscode.node;
process.env.WHETSTONE_CODE_SERVER = vscode.codeServer;

execFileSync(process.execPath, ['esbuild.mjs'], { stdio: 'inherit' });
rmSync(out, { recursive: true, force: true });
mkdirSync(join(root, 'test-artifacts'), { recursive: true });
const common = { bundle: true, platform: 'node', target: 'node20', sourcemap: true, logLevel: 'warning' };
await build({
  ...common,
  entryPoints: ['test/vscode/harness/code.ts', 'test/vscode/harness/main.ts'],
  outdir: out,
  format: 'esm',
  outExtension: { '.js': '.mjs' },
  packages: 'external',
});
await build({
  ...common,
  entryPoints: [
    { in: 'test/vscode/harness/mochaEntry.ts', out: 'mochaEntry' },
    ...readdirSync('test/vscode/suite')
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => ({ in: `test/vscode/suite/${name}`, out: `suite/${name.slice(0, -3)}` })),
  ],
  outdir: out,
  format: 'cjs',
  outExtension: { '.js': '.cjs' },
  packages: 'external',
  define: { 'import.meta.url': '__importMetaUrl' },
  inject: ['scripts/build/importMetaUrl.js'],
});
chmodSync(join(out, 'code.mjs'), 0o755);

const { main } = await import(pathToFileURL(join(out, 'main.mjs')).href);
const { passed, failed } = await main({
  root,
  out,
  emulated: vscode.supported,
  node: vscode.node,
  codeServer: vscode.codeServer,
  only: process.argv[2],
  scenario: process.argv[3],
});
// `npm test` adds these to its own counts.
writeFileSync(join(root, 'test-artifacts', 'vscode.json'), JSON.stringify({ passed, failed, skipped: 0 }));
console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed > 0 || passed === 0 ? 1 : 0);
