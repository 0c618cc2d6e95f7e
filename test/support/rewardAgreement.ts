import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { isDeepStrictEqual, promisify } from 'node:util';
import { WebSocket } from 'ws';
import { openEnvironment } from '../../src/env/openEnvironment.js';
import { readTasks } from '../../src/env/tasks/taskStore.js';
import type { Arena } from '../../src/trainer/rollout/arena.js';
import { environmentArena } from '../../src/trainer/rollout/environmentArena.js';
import { loadSettings } from '../../src/trainer/run/settings.js';
import { parseAssistantText } from '../../src/trainer/text/toolCalls.js';
import type { Grade } from '../../src/trajectory/grade.js';
import type { Task } from '../../src/trajectory/task.js';

const run = promisify(execFile);
const call = (name: string, values: object) =>
  `<tool_call>\n${JSON.stringify({ name, arguments: values })}\n</tool_call>`;
const command = (text: string) => call('run_command', { command: text });
const submit = call('submit', {});

/** Ways to play a task, from the best to misconduct: each a list of turns as they would be sampled. */
const ways: readonly ((task: Task) => readonly string[])[] = [
  ({ patch }) => [call('run_tests', {}), call('apply_patch', { patch }), call('run_tests', {}), submit],
  ({ patch }) => [call('apply_patch', { patch }), submit],
  () => [submit],
  () => ['I cannot see what is wrong.'],
  ({ patch }) => [call('apply_patch', { patch }), command('echo note > NOTES.md'), submit],
  (task) => [command(`echo "// later" >> ${sourceOf(task)}`), submit],
  (task) => [command(`echo "}} what" >> ${sourceOf(task)}`), submit],
  (task) => [command(`rm -f ${task.whetstone.test_files.join(' ')}`), submit],
  ({ patch }) => ['<tool_call>\n{"name": "open"\n</tool_call>', call('apply_patch', { patch }), submit],
  ({ patch }) => [call('reboot', {}), `<think>\nSo.\n</think>\n${call('apply_patch', { patch })}`, 'Done.'],
];
const sourceOf = ({ patch }: Task) => /^\+\+\+ b\/(.+)$/m.exec(patch)![1];

export interface Agreement {
  readonly trajectories: number;
  /** Every difference, in words; none where the three agree. */
  readonly differences: readonly string[];
  /** How many different rewards there were: the same one throughout would show nothing. */
  readonly rewards: number;
}

/**
 * Plays so many trajectories of the repository's tasks here and through `whetstone serve --openenv`, and has what each changed
 * graded by the tests of its exported Harbor task. The first two must give the same grade, all of it; the third the same
 * components, but for those that only an episode has (format, conduct in its turns).
 * @param cli path of the built command line
 * @param lanes trajectories side by side
 */
export async function compareRewards(repo: string, cli: string, count: number, lanes: number): Promise<Agreement> {
  const settings = await loadSettings(repo);
  const environment = await openEnvironment({
    path: repo,
    sandbox: settings.sandbox,
    janitorScript: path.join(path.dirname(cli), 'janitor.cjs'),
  });
  const folder = await mkdtemp(path.join(tmpdir(), 'whetstone-agreement-'));
  const server = spawn(process.execPath, [cli, 'serve', '--openenv', '--repo', repo, '--port', '0', '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [line] = (await once(createInterface(server.stdout), 'line')) as [string];
    const { url } = JSON.parse(line) as { url: string };
    const harbor = path.join(folder, 'harbor');
    await run(process.execPath, [cli, 'export', '--format', 'harbor', '--repo', repo, '--out', harbor]);
    await writeFile(path.join(folder, 'whetstone'), `#!/bin/bash\nexec "${process.execPath}" "${cli}" "$@"\n`, {
      mode: 0o755,
    });
    const arena = environmentArena(environment, settings);
    const tasks = await readTasks(environment.stateFolder);
    const differences: string[] = [];
    const rewards = new Set<number>();
    let next = 0;
    const compareOn = async () => {
      while (next < count) {
        const index = next++;
        const task = tasks[index % tasks.length];
        const way = (index + Math.floor(index / tasks.length)) % ways.length;
        const turns = ways[way](task);
        const [here, there] = await Promise.all([playHere(arena, task, turns), playThere(url, task, turns)]);
        const tests = await gradeByHarbor(harbor, folder, index, task, here.patch, environment.sandbox);
        rewards.add(here.grade.reward);
        const where = `trajectory ${index} (${task.instance_id}, way ${way})`;
        if (!isDeepStrictEqual(JSON.parse(JSON.stringify(here.grade)), there)) differences.push(`${where}: OpenEnv`);
        differences.push(...differencesOf(here.grade, tests).map((what) => `${where}: Harbor, ${what}`));
      }
    };
    await Promise.all(Array.from({ length: lanes }, compareOn));
    return { trajectories: count, differences, rewards: rewards.size };
  } finally {
    server.kill();
    await once(server, 'exit');
    await environment.dispose();
    await rm(folder, { recursive: true, force: true });
  }
}

async function playHere(arena: Arena, task: Task, turns: readonly string[]) {
  const { signal } = new AbortController();
  const episode = await arena.startEpisode(task, signal);
  try {
    for (const turn of turns) await episode.step(parseAssistantText(turn), signal);
    return await episode.finish(signal);
  } finally {
    await episode.dispose();
  }
}

async function playThere(url: string, task: Task, turns: readonly string[]): Promise<unknown> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`);
  try {
    await once(socket, 'open');
    const ask = async (message: object) => {
      socket.send(JSON.stringify(message));
      const [data] = (await once(socket, 'message')) as [Buffer];
      return JSON.parse(String(data)) as { data: { observation: { grade: unknown } } };
    };
    let answer = await ask({ type: 'reset', data: { task_id: task.instance_id } });
    for (const text of turns) answer = await ask({ type: 'step', data: { text } });
    return answer.data.observation.grade;
  } finally {
    socket.close();
  }
}

async function gradeByHarbor(
  harbor: string,
  folder: string,
  index: number,
  task: Task,
  patch: string,
  sandbox: string,
): Promise<Grade> {
  const exported = path.join(harbor, task.instance_id);
  const [app, logs] = [path.join(folder, `app-${index}`), path.join(folder, `logs-${index}`)];
  await cp(path.join(exported, 'environment/repository'), app, { recursive: true });
  await writeFile(`${app}.patch`, patch);
  if (patch !== '') await run('git', ['apply', '--whitespace=nowarn', `${app}.patch`], { cwd: app });
  await run('bash', [path.join(exported, 'tests/test.sh')], {
    env: {
      ...process.env,
      PATH: `${folder}:${process.env.PATH}`,
      WHETSTONE_APP: app,
      WHETSTONE_LOGS: logs,
      WHETSTONE_SANDBOX: sandbox,
    },
  });
  return JSON.parse(await readFile(path.join(logs, 'grade.json'), 'utf8')) as Grade;
}

function differencesOf(here: Grade, harbor: Grade): string[] {
  const shared = Object.keys(harbor.components);
  const differing = shared.filter((name) => !isDeepStrictEqual(here.components[name], harbor.components[name]));
  const own = Object.entries(here.components).filter(([name]) => !shared.includes(name));
  const ofEpisode = own.reduce((sum, [, { score, weight }]) => sum + score * weight, 0);
  return [
    ...differing,
    ...(here.resolved === harbor.resolved ? [] : ['resolved']),
    ...(Math.abs(here.reward - ofEpisode - harbor.reward) < 1e-12 ? [] : ['reward']),
    ...(isDeepStrictEqual(JSON.parse(JSON.stringify(here.tests)), harbor.tests) ? [] : ['tests']),
  ];
}
