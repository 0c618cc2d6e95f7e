import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { bubblewrapProblem } from '../../src/env/sandbox/bubblewrap.js';
import { pythonWith } from '../../src/interop/python.testing.js';
import { repositoryWithTasks } from './repositoryWithTasks.js';
import { runCli, temporaryFolder } from './runCli.js';

const cli = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url));
const tokenizer = fileURLToPath(new URL('../../test-fixtures/text/qwen3', import.meta.url));
const python = (await bubblewrapProblem()) === null ? pythonWith('verl') : null;

it.skipIf(python === null)(
  'a project for verl has settings, splits and an agent loop that verl takes, and its episodes have our mask and reward',
  async () => {
    const { repo, task } = await repositoryWithTasks();
    const project = path.join(temporaryFolder(), 'project');
    const written = await runCli(['cluster', 'init', '--engine', 'verl', '--repo', repo, '--out', project]);
    expect(written.code, written.stderr).toBe(0);

    const env = { ...process.env, WHETSTONE_TOKEN: 'geheim' };
    const args = [cli, 'serve', '--openenv', '--repo', repo, '--port', '0', '--json'];
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
    const { url } = JSON.parse(line) as { url: string };

    const [patch, record] = [path.join(temporaryFolder(), 'oracle.patch'), temporaryFolder()];
    writeFileSync(patch, task.patch);
    const { stdout } = await promisify(execFile)(
      python!,
      ['scripts/golden/verl_project.py', project, tokenizer, patch, task.instance_id],
      { env: { ...env, WHETSTONE_URL: url, WHETSTONE_RECORD: record, TRANSFORMERS_OFFLINE: '1', HF_HUB_OFFLINE: '1' } },
    );
    const episode = {
      type: 'AgentLoopOutput',
      sampledIsMasked: true,
      everyPromptIsAPrefix: true,
      lengths: true,
      rewardOnLastToken: true,
    };
    const result = JSON.parse(stdout.trim().split('\n').at(-1)!) as { episodes: Record<string, { reward: number }> };
    expect(result).toMatchObject({
      settings: { unknown: [], taken: true, checked: ['FSDPActorConfig', 'RolloutConfig', 'AlgoConfig'] },
      registered: 'agent_loop.WhetstoneAgentLoop',
      rows: { train: 1, heldout: 1 },
      row: { agent_name: 'whetstone', data_source: 'whetstone' },
      prompt: ['system', 'user'],
      episodes: {
        mended: {
          ...episode,
          turns: 6,
          unsampledLogprobs: [0],
          unmasked: expect.stringContaining('Patched sum.js.') as string,
        },
        said: { ...episode, turns: 2, masked: 'Nothing to do.<|im_end|>', unmasked: '' },
        cut: { ...episode, turns: 2, unmasked: '' },
      },
      recorded: [3],
    });
    expect(result.episodes.mended.reward).toBeGreaterThan(0.9);

    // What the loop recorded comes back with its tokens and its mask.
    const files = readdirSync(record).map((name) => path.join(record, name));
    const imported = await runCli(['runs', 'import', ...files, '--repo', repo, '--model', tokenizer, '--json']);
    expect(imported.code, imported.stderr).toBe(0);
    const { runId: id } = JSON.parse(imported.stdout) as { runId: string };
    const shown = await runCli(['runs', 'show', id, '--repo', repo, '--json']);
    const { trajectories } = JSON.parse(shown.stdout) as {
      trajectories: { id: string; task: string; reward: number }[];
    };
    expect(trajectories).toMatchObject([{ task: 'sums__1', reward: result.episodes.mended.reward }, {}, {}]);
    const mask = await runCli(['mask', id, trajectories[0].id, '--repo', repo, '--json']);
    const { tokens } = JSON.parse(mask.stdout) as { tokens: { text: string; mask: number }[] };
    const sampled = tokens.filter((token) => token.mask === 1).map(({ text }) => text);
    expect(sampled.join('')).toContain('"name": "submit"');
    expect(sampled.join('')).not.toContain('Patched');
  },
  600_000,
);
