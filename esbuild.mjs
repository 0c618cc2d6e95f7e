import { build } from 'esbuild';
import { fileURLToPath } from 'node:url';
import { dirname } from 'node:path';

/** Packages with native parts or data files stay outside of the bundles. */
export const native = [
  'onnxruntime-node',
  'tree-sitter',
  'tree-sitter-javascript',
  'tree-sitter-typescript',
  'tree-sitter-python',
  'tree-sitter-go',
  'tree-sitter-rust',
  'tree-sitter-java',
];

/** The extension's engine is a bundle of its own, beside the extension's, which activates without it. */
const engineApart = {
  name: 'engine apart',
  setup: ({ onResolve }) =>
    onResolve({ filter: /\/engine\.js$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: './engine.cjs', external: true } : undefined,
    ),
};

const root = dirname(fileURLToPath(import.meta.url));

export const options = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  sourcemap: true,
  external: ['vscode', ...native],
  define: { 'import.meta.url': '__importMetaUrl' },
  inject: ['scripts/build/importMetaUrl.js'],
  logLevel: 'warning',
  plugins: [engineApart],
  // A dynamic import becomes a call of `require`, which knows neither URLs nor another kind of module.
  supported: { 'dynamic-import': false },
};

/** What runs in the editor's webviews: a script and a style each. */
const pages = {
  absWorkingDir: root,
  bundle: true,
  platform: 'browser',
  format: 'iife',
  target: 'chrome120',
  sourcemap: false,
  logLevel: 'warning',
  entryPoints: {
    dashboard: 'src/extension/dashboard/page/main.ts',
    reward: 'src/extension/reward/page/main.ts',
    tree: 'src/extension/tree/page/main.ts',
  },
  outdir: 'dist/pages',
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await build({
    ...options,
    entryPoints: {
      cli: 'src/cli/main.ts',
      background: 'src/trainer/background/main.ts',
      janitor: 'src/env/sandbox/janitor.ts',
      extension: 'src/extension/extension.ts',
      engine: 'src/extension/engine.ts',
    },
    outdir: 'dist',
    outExtension: { '.js': '.cjs' },
    minify: process.argv.includes('--minify'),
  });
  await build({
    ...pages,
    minify: process.argv.includes('--minify'),
  });
}
