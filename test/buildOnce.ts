import { execFileSync } from 'node:child_process';

/** The tests that start processes run the bundles, as users do. */
export default function buildOnce(): void {
  execFileSync(process.execPath, ['esbuild.mjs'], { stdio: 'inherit' });
}
