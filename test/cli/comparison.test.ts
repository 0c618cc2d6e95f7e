import { describe, expect, it } from 'vitest';
import { bubblewrapProblem } from '../../src/env/sandbox/bubblewrap.js';
import { comparedSchema } from '../../src/extension/comparison/compared.js';
import { comparisonText } from '../../src/extension/comparison/comparisonText.js';
import { writeTinyPolicy } from '../../src/trainer/tinyPolicy.testing.js';
import { repositoryWithTasks } from './repositoryWithTasks.js';
import { runCli, temporaryFolder } from './runCli.js';

describe.skipIf((await bubblewrapProblem()) !== null)('whetstone eval --against', () => {
  it('prints what the editor makes its comparison of', async () => {
    const { repo } = await repositoryWithTasks();
    const tiny = await writeTinyPolicy(temporaryFolder());
    const args = ['eval', '--json', '--repo', repo, '--device', 'cpu', '--policy', 'expert', '--against', tiny];
    const { stdout, stderr } = await runCli(args, { timeoutMs: 100_000 });
    expect(stderr).not.toContain('internal');
    const compared = comparedSchema.parse(JSON.parse(stdout));
    expect(compared.comparison).toMatchObject({
      tasks: 1,
      difference: 1,
      interval: null,
      regressions: [],
      improvements: [{ taskId: 'sums__2', episodes: 1, before: 0, after: 1 }],
    });
    expect(comparisonText('expert', 'tiny', compared)).toContain('sums__2: solved 1, before 0, of 1');
  }, 120_000);
});
