import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it, onTestFinished, vi } from 'vitest';
import { bubblewrapProblem } from '../../src/env/sandbox/bubblewrap.js';
import { canMakeHosts, makeHosts, type Host } from '../support/networkHosts.js';
import { repositoryWithTasks } from './repositoryWithTasks.js';
import { runCli, temporaryFolder } from './runCli.js';

const cli = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url));
const canRun = canMakeHosts() && (await bubblewrapProblem()) === null;
const env = { ...process.env, WHETSTONE_TOKEN: 'geheim' };

/** A copy of the repository, served on the host. */
async function serveOn({ on: [program, ...prefix], address }: Host, repo: string) {
  const copy = path.join(temporaryFolder(), 'copy');
  cpSync(repo, copy, { recursive: true });
  const args = [
    process.execPath,
    cli,
    'serve',
    '--openenv',
    '--repo',
    copy,
    '--host',
    address,
    '--sessions',
    '2',
    '--json',
  ];
  const child = spawn(program, [...prefix, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(async () => {
    child.kill();
    await once(child, 'exit');
  });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const worktrees = path.join(copy, '.whetstone/worktrees');
  return {
    url: (JSON.parse(line) as { url: string }).url,
    /** Whether an episode is played there right now. */
    plays: () => existsSync(worktrees) && readdirSync(worktrees).length > 0,
  };
}

it.skipIf(!canRun)(
  'a run on two hosts loses one of them in the middle, and no rollout',
  async () => {
    const { repo } = await repositoryWithTasks();
    const { middle, around } = makeHosts(2);
    const [first, second] = await Promise.all(around.map((host) => serveOn(host, repo)));
    const options = [
      '--json',
      '--steps',
      '1',
      '--tasks-per-step',
      '1',
      '--group-size',
      '4',
      '--max-turns',
      '3',
      '--device',
      'cpu',
    ];
    const [program, ...prefix] = middle.on;
    const train = [
      process.execPath,
      cli,
      'train',
      '--repo',
      repo,
      '--workers',
      `${first.url},${second.url}`,
      ...options,
    ];
    const training = promisify(execFile)(program, [...prefix, ...train], { env });
    await vi.waitFor(() => expect(first.plays()).toBe(true), { timeout: 120_000, interval: 20 });
    around[0].cut();
    const { stderr, stdout } = await training;
    expect(stderr).toContain(`The worker ${first.url} is lost`);
    const { id, status } = JSON.parse(stdout) as { id: string; status: string };
    expect(status).toBe('completed');

    const shown = await runCli(['runs', 'show', id, '--repo', repo, '--json']);
    const { trajectories } = JSON.parse(shown.stdout) as { trajectories: { kind: string; reward: number | null }[] };
    const rewards = (kind: string) =>
      trajectories.filter((one) => one.kind === kind).map(({ reward }) => typeof reward);
    expect(rewards('rollout')).toEqual(['number', 'number', 'number', 'number']);
    expect(rewards('evaluation')).toEqual(['number', 'number']);

    const evaluate = [process.execPath, cli, 'eval', '--repo', repo, '--device', 'cpu', '--json'];
    const evaluation = await promisify(execFile)(program, [...prefix, ...evaluate, '--workers', second.url], { env });
    expect(JSON.parse(evaluation.stdout)).toMatchObject({ success: { n: 1 }, sandbox: 'bubblewrap' });
    const played = JSON.parse(evaluation.stdout) as { metrics: Record<string, number> };
    expect(played.metrics['steps/mean']).toBeGreaterThan(0);
  },
  400_000,
);
