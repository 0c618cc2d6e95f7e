import { beforeEach, describe, expect, it } from 'vitest';
import { bubblewrapProblem } from '../../src/env/sandbox/bubblewrap.js';
import type { ChatModel } from '../../src/extension/languageModels/chatRequest.js';
import { openModelEndpoint } from '../../src/extension/languageModels/modelEndpoint.js';
import { repositoryWithTasks } from './repositoryWithTasks.js';
import { runCli } from './runCli.js';

let repo: string;
beforeEach(async () => ({ repo } = await repositoryWithTasks()));

const cli = (args: readonly string[], env: Record<string, string> = {}) =>
  runCli([...args, '--repo', repo], { timeoutMs: 50_000, env });

/** Looks at the tests first, then mends the sum of `repositoryWithTasks`, then submits. */
const mender: ChatModel = {
  id: 'vendor/a model',
  maxInputTokens: 0,
  countTokens: (text) => Promise.resolve(text.length),
  async *ask({ messages }) {
    const turn = messages.filter(({ role }) => role === 'assistant').length;
    const edit = { path: 'sum.js', old: 'a - b', new: 'a + b' };
    const [name, input] = (
      [
        ['run_tests', {}],
        ['edit', edit],
        ['submit', {}],
      ] as const
    )[turn]!;
    yield await Promise.resolve({ kind: 'call', id: `call-${turn}`, name, input });
  },
};

describe.skipIf((await bubblewrapProblem()) !== null)('whetstone eval', () => {
  it('plays one task, and keeps its episode as a run where it is asked to', async () => {
    const { stdout } = await cli(['eval', '--policy', 'expert', '--task', 'sums__1', '--record', '--json']);
    const evaluation = JSON.parse(stdout) as { run: string };
    expect(evaluation).toMatchObject({ split: 'train', success: { rate: 1, n: 1 }, model: 'expert' });
    const shown = JSON.parse((await cli(['runs', 'show', evaluation.run, '--json'])).stdout) as object;
    expect(shown).toMatchObject({ status: 'completed', trajectories: [{ task: 'sums__1', resolved: true }] });
    const replayed = await cli(['replay', evaluation.run, 'eval-000000/sums__1/0', '--json']);
    expect(JSON.parse(replayed.stdout)).toMatchObject({ same: true });
    const none = await cli(['eval', '--policy', 'expert', '--task', 'sums__9']);
    expect([none.code, none.stderr]).toEqual([2, expect.stringMatching(/no task 'sums__9'.*tasks list/)]);
  });

  it('plays with a model that another process lends it', async () => {
    const endpoint = await openModelEndpoint(mender);
    const args = ['eval', '--policy', `openai:${endpoint.url}`, '--policy-model', mender.id, '--record', '--json'];
    const { stdout, stderr } = await cli(args, { OPENAI_API_KEY: endpoint.token });
    await endpoint.close();
    expect(stderr).not.toMatch(/whetstone:/);
    expect(JSON.parse(stdout)).toMatchObject({ split: 'heldout', success: { rate: 1, n: 1 }, validCallRate: 1 });
    expect(endpoint.answers).toEqual({ count: 3, withCalls: 3 });
    // The token is nobody else's to read.
    expect(stdout + stderr).not.toContain(endpoint.token);
  });
});
