/** The arrows of the house run one way: extension, cli, interop -> trainer -> env -> trajectory. */
module.exports = {
  forbidden: [
    {
      name: 'trajectory-is-the-ground-floor',
      severity: 'error',
      from: { path: '^src/trajectory' },
      to: { path: '^src/(?!trajectory)' },
    },
    {
      name: 'env-knows-no-trainer',
      severity: 'error',
      from: { path: '^src/env' },
      to: { path: '^src/(?!env|trajectory)' },
    },
    {
      name: 'trainer-knows-no-user-interface',
      severity: 'error',
      from: { path: '^src/trainer' },
      to: { path: '^src/(?!trainer|env|trajectory)' },
    },
    {
      name: 'upper-rooms-are-apart',
      severity: 'error',
      from: { path: '^src/(cli|extension)/' },
      to: { path: '^src/(cli|extension)/', pathNot: '^src/$1/' },
    },
    {
      name: 'interop-knows-no-user-interface',
      severity: 'error',
      from: { path: '^src/interop' },
      to: { path: '^src/(cli|extension)/' },
    },
    {
      name: 'readers-of-foreign-files-are-light',
      severity: 'error',
      comment: 'The editor opens foreign files with them, and with nothing else of interop.',
      from: { path: '^src/interop/readers' },
      to: { path: '^src/(?!interop/readers|trajectory)' },
    },
    {
      name: 'extension-only-reads-foreign-files',
      severity: 'error',
      from: { path: '^src/extension' },
      to: { path: '^src/interop/(?!readers)' },
    },
    {
      name: 'extension-stays-out-of-the-engine',
      severity: 'error',
      comment: "The extension reaches training through the background process's protocol and the run directory.",
      from: { path: '^src/extension' },
      to: { path: '^src/trainer/(graph|model|rollout|algorithm|data)' },
    },
    {
      name: 'only-the-extension-imports-vscode',
      severity: 'error',
      from: { path: '^src', pathNot: '^src/extension' },
      to: { path: '^vscode$' },
    },
    {
      name: 'one-door-to-onnxruntime',
      severity: 'error',
      comment: 'Its usage reports are switched off before it is loaded, by the module that loads it.',
      from: { path: '^src', pathNot: '^src/trainer/model/onnxRuntime.ts$' },
      to: { path: 'onnxruntime-node' },
    },
    { name: 'no-circles', severity: 'error', from: { path: '^src' }, to: { circular: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
  },
};
