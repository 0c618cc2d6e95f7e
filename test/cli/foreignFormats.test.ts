import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeWorkspace } from '../vscode/fixtures/workspace.js';
import { runCli, temporaryFolder } from './runCli.js';

const fixture = (name: string) => path.resolve('test-fixtures/interop', name);

describe('runs of other systems', () => {
  it('are imported, shown, and exported again', async () => {
    const repo = makeWorkspace(temporaryFolder());
    const files = [fixture('swe-agent.traj'), fixture('verifiers.jsonl')];
    const imported = await runCli(['runs', 'import', '--repo', repo, '--json', ...files]);
    const { runId, ...counts } = JSON.parse(imported.stdout) as { runId: string };
    expect(counts).toEqual({ trajectories: 2, steps: 1, withoutTokens: 1 });
    const shown = await runCli(['runs', 'show', '--repo', repo, '--json', runId]);
    expect(JSON.parse(shown.stdout)).toMatchObject({
      status: 'completed',
      trajectories: [
        { id: 'eval-000000/swe-agent/0', reward: null },
        { step: 3, reward: expect.closeTo(0.1, 9) as number },
      ],
    });
    const out = path.join(temporaryFolder(), 'out');
    const exported = await runCli([
      'export',
      '--repo',
      repo,
      '--format',
      'openai',
      '--run',
      runId,
      '--out',
      out,
      '--json',
    ]);
    expect(JSON.parse(exported.stdout)).toMatchObject({ written: 2, what: 'trajectories' });
    const rows = readFileSync(path.join(out, 'trajectories.jsonl'), 'utf8').trimEnd().split('\n');
    expect(rows).toHaveLength(3);
  });

  it('that are broken, and formats that do not fit, give one line', async () => {
    const repo = makeWorkspace(temporaryFolder());
    const broken = path.join(temporaryFolder(), 'broken.jsonl');
    writeFileSync(broken, '{"messages": [{"role": "user", "content": "x"}]}\n{"mess');
    const complaint = async (...args: string[]) => {
      const { code, stdout, stderr } = await runCli([...args, '--repo', repo]);
      expect([code, stdout]).toEqual([2, '']);
      return stderr;
    };
    expect(await complaint('runs', 'import', broken)).toMatch(/^whetstone: broken.jsonl: line 2: it is not JSON .*\n$/);
    expect(await complaint('tasks', 'import', repo)).toMatch(/holds neither a tasks.jsonl nor a task.toml\. .*\n$/);
    expect(await complaint('export', '--format', 'atif', '--out', path.join(repo, 'out'))).toBe(
      'whetstone: The format atif has no form for tasks. It is one for trajectories: add --run RUN.\n',
    );
  });
});
