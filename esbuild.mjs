import { build } from 'esbuild';

/** Packages with native parts or data files stay outside of the bundles. */
const external = [
  'vscode',
  'onnxruntime-node',
  'tree-sitter',
  'tree-sitter-javascript',
  'tree-sitter-typescript',
  'tree-sitter-python',
];

await build({
  entryPoints: {
    cli: 'src/cli/main.ts',
    background: 'src/trainer/background/main.ts',
    janitor: 'src/env/sandbox/janitor.ts',
    extension: 'src/extension/extension.ts',
  },
  outdir: 'dist',
  outExtension: { '.js': '.cjs' },
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  sourcemap: true,
  external,
  banner: { js: '/* Whetstone, MIT */' },
  define: { 'import.meta.url': '__importMetaUrl' },
  inject: ['scripts/build/importMetaUrl.js'],
  logLevel: 'warning',
});
