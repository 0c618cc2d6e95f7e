import { cp, mkdtemp, rm } from 'node:fs/promises';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEnvironment } from '../../src/env/openEnvironment.js';
import { buildTasks, defaultBuildOptions } from '../../src/env/tasks/buildTasks.js';
import { evaluate } from '../../src/trainer/evaluate.js';
import { loadPolicy } from '../../src/trainer/loadPolicy.js';
import { environmentArena } from '../../src/trainer/rollout/environmentArena.js';
import type { Schedule } from '../../src/trainer/rollout/playGroups.js';
import { settingsSchema } from '../../src/trainer/run/settings.js';
import type { Trajectory } from '../../src/trajectory/trajectory.js';

/**
 * Plays a policy on a repository's tasks, as the product does, and prints what came of it.
 *
 *   node .cache/embedded-policy/evaluate.mjs [model folder] [repository] [samples] [limit]
 */
const SHOWN = 6;
const [model = 'embedded', repo = 'test-fixtures/embedded-repo', samples = '1', limit = '40'] = process.argv.slice(2);
const root = await mkdtemp(join(tmpdir(), 'whetstone-evaluate-'));
await cp(repo, root, { recursive: true });
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: root, stdio: 'pipe' });
git('init', '-q');
git('add', '-A');
git('commit', '-qm', 'All');
const environment = await openEnvironment({
  path: root,
  sandbox: 'auto',
  janitorScript: join('.cache', 'embedded-policy', 'janitor.cjs'),
});
const settings = settingsSchema.parse({ model, device: 'cpu', evaluationSamples: Number(samples), concurrency: 16 });
const built = await buildTasks(environment, {
  ...defaultBuildOptions,
  sources: ['injection'],
  limit: Number(limit),
  validationRuns: 1,
});
const policy = await loadPolicy(settings, process.cwd());
const shown: Trajectory[] = [];
const schedule: Schedule = {
  concurrency: settings.concurrency,
  signal: new AbortController().signal,
  gate: () => Promise.resolve(),
  onTrajectory: (trajectory) => {
    if (shown.push(trajectory) <= SHOWN) show(trajectory);
  },
};
for (const split of ['heldout', 'train'] as const) {
  const started = Date.now();
  const player = { generator: policy.generator, codec: policy.codec, policyStep: 0 };
  const result = await evaluate(
    player,
    environmentArena(environment, settings),
    built.tasks,
    split,
    settings,
    schedule,
  );
  console.log(
    split,
    JSON.stringify({ ...result, trajectoryIds: undefined }),
    `${Math.round((Date.now() - started) / 1000)} s`,
  );
}
await policy.dispose();
await environment.dispose();
await rm(root, { recursive: true, force: true });
const operatorOf = new Map(built.tasks.map((task) => [task.instance_id, task.whetstone.operator ?? '']));
const byOperator = new Map<string, [number, number]>();
for (const { taskId, grade } of shown) {
  const count = byOperator.get(operatorOf.get(taskId)!) ?? [0, 0];
  byOperator.set(operatorOf.get(taskId)!, [count[0] + (grade?.resolved ? 1 : 0), count[1] + 1]);
}
for (const [operator, [resolved, all]] of [...byOperator].sort()) console.log(`${operator}: ${resolved} of ${all}`);

function show({ taskId, stopReason, grade, statistics, nodes }: Trajectory): void {
  console.log(
    `=== ${taskId} ${stopReason} ${grade?.resolved ? 'resolved' : 'not resolved'}, ${statistics.totalTokens} tokens`,
  );
  for (const { message } of nodes.slice(1)) {
    console.log(`[${message.role}] ${'raw' in message ? message.raw : message.content}`);
  }
}
