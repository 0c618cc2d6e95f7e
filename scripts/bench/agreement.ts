/**
 * Whether rewards agree between an episode here, OpenEnv's contract, and Harbor's tests, on a repository that has tasks:
 * node scripts/bench/run.mjs agreement REPO [TRAJECTORIES=100] [LANES=2], with the command line built (`node esbuild.mjs`)
 */
import path from 'node:path';
import { compareRewards } from '../../test/support/rewardAgreement.js';

async function main() {
  const [repo, count = '100', lanes = '2'] = process.argv.slice(2);
  const cli = path.join(process.env.BENCH_FOLDER!, '../../dist/cli.cjs');
  const started = performance.now();
  const agreement = await compareRewards(path.resolve(repo), cli, Number(count), Number(lanes));
  console.log(JSON.stringify({ ...agreement, seconds: Math.round((performance.now() - started) / 1000) }));
  process.exitCode = agreement.differences.length === 0 ? 0 : 1;
}

void main();
