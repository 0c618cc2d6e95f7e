import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['test/vscode/**', 'node_modules/**', 'test-fixtures/**'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    globalSetup: 'test/buildOnce.ts',
    pool: 'forks',
    maxWorkers: 2,
  },
});
