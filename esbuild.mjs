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
];

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
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await build({
    ...options,
    entryPoints: {
      cli: 'src/cli/main.ts',
      background: 'src/trainer/background/main.ts',
      janitor: 'src/env/sandbox/janitor.ts',
      extension: 'src/extension/extension.ts',
    },
    outdir: 'dist',
    outExtension: { '.js': '.cjs' },
    minify: process.argv.includes('--minify'),
  });
}
