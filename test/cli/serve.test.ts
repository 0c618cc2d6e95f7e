import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { bubblewrapProblem } from '../../src/env/sandbox/bubblewrap.js';
import { openRepository } from '../../src/env/repo/repository.js';
import { writeTasks } from '../../src/env/tasks/taskStore.js';
import { pythonWith } from '../../src/interop/python.testing.js';
import { makeWorkspace, taskOf } from '../vscode/fixtures/workspace.js';
import { runCli, temporaryFolder } from './runCli.js';

const isSandboxed = (await bubblewrapProblem()) === null;
const cli = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url));

async function repositoryWithTask() {
  const repo = makeWorkspace(temporaryFolder());
  const task = {
    ...taskOf(repo, 'sums__1'),
    FAIL_TO_PASS: ['sum.test.js > sum adds'],
    PASS_TO_PASS: ['sum.test.js > sum of nothing'],
  };
  const { stateFolder } = await openRepository(repo);
  const funnel = { found: 1, skipped: {}, invalid: {}, flaky: 0, kept: 1, sources: {} };
  await writeTasks(stateFolder, 'key', { tasks: [task], funnel, quarantined: [], notes: [] });
  return { repo, task };
}

/** Starts the server on a free port. */
async function serve(repo: string): Promise<{ child: ChildProcess; url: string }> {
  const args = [cli, 'serve', '--openenv', '--repo', repo, '--port', '0', '--sessions', '3', '--json'];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, WHETSTONE_TOKEN: 'geheim' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { child, url: (JSON.parse(line) as { url: string }).url };
}

async function ask(socket: WebSocket, message: object) {
  socket.send(JSON.stringify(message));
  const [data] = (await once(socket, 'message')) as [Buffer];
  return JSON.parse(String(data)) as {
    data: { reward: number | null; done: boolean; observation: { messages: { content: string }[] } };
  };
}
const step = (name: string, values: object) => ({ type: 'step', data: { tool_calls: [{ name, arguments: values }] } });

describe.skipIf(!isSandboxed)('whetstone serve', () => {
  it('gives the reward that the patch has here, and a termination ends it in order, sessions and worktrees too', async () => {
    const { repo, task } = await repositoryWithTask();
    const { child, url } = await serve(repo);
    const open = async () => {
      const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, { headers: { authorization: 'Bearer geheim' } });
      await once(socket, 'open');
      return socket;
    };
    const [first, second] = [await open(), await open()];
    await Promise.all(
      [first, second].map((socket) => ask(socket, { type: 'reset', data: { task_id: task.instance_id } })),
    );
    await ask(first, step('apply_patch', { patch: task.patch }));
    const untouched = await ask(second, step('open', { path: 'sum.js' }));
    expect(untouched.data.observation.messages[0].content).toContain('a - b');
    const ended = await ask(first, step('submit', {}));
    expect(ended.data).toMatchObject({ done: true });
    expect(ended.data.reward).toBeGreaterThan(0.9);

    const exited = once(child, 'exit');
    const closed = once(second, 'close');
    child.kill('SIGTERM');
    expect(((await closed) as [number])[0]).toBe(1001);
    expect(await exited).toEqual([0, null]);
    expect(readdirSync(path.join(repo, '.whetstone/worktrees'))).toEqual([]);
  }, 180_000);

  const python = pythonWith('openenv');
  it.skipIf(python === null)(
    'is played by openenv’s own client, several sessions at once',
    async () => {
      const { repo, task } = await repositoryWithTask();
      const { url } = await serve(repo);
      const patch = path.join(temporaryFolder(), 'oracle.patch');
      writeFileSync(patch, task.patch);
      const args = ['scripts/golden/openenv_client.py', url, 'geheim', task.instance_id, patch, '2'];
      const { stdout } = await promisify(execFile)(python!, args);
      const { played, refused } = JSON.parse(stdout) as { played: object[]; refused: string[] };
      const mended = {
        done: true,
        resolved: true,
        steps: 3,
        answers: ['(no output)', 'Patched sum.js.', 'Submitted.'],
      };
      const broken = { done: true, resolved: false, steps: 2, answers: ['(no output)', 'Submitted.'] };
      expect(played).toMatchObject([
        { mended, broken },
        { mended, broken },
      ]);
      expect(refused).toEqual([
        'Server error: Invalid message (code: VALIDATION_ERROR)',
        'Server error: There is no episode yet: send a reset first. (code: EXECUTION_ERROR)',
        'HTTP 401',
      ]);
    },
    300_000,
  );
});

it('serves nobody beyond this machine without a token', async () => {
  const { repo } = await repositoryWithTask();
  const { code, stderr } = await runCli(['serve', '--openenv', '--repo', repo, '--host', '0.0.0.0'], {
    env: { WHETSTONE_TOKEN: '' },
  });
  expect(code).toBe(2);
  expect(stderr).toBe(
    'whetstone: Whoever reaches 0.0.0.0 could run commands here. Set WHETSTONE_TOKEN or --token-file, or listen on 127.0.0.1.\n',
  );
});
