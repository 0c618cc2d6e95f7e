import { cp } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { runGit, TemporaryFolders } from '../../env/fixtureRepository.testing.js';
import { openEnvironment } from '../../env/openEnvironment.js';
import { buildTasks, defaultBuildOptions } from '../../env/tasks/buildTasks.js';
import { EpisodeWorkspace } from '../../env/workspace/episodeWorkspace.js';
import { RunControl } from '../run/runControl.js';
import { openRun } from '../run/runReader.js';
import { parseSettings } from '../run/settings.js';
import { openTraining } from '../train.js';
import { rememberedMetrics, TestMemory, testMemoryOf } from './testMemory.js';

const temporary = new TemporaryFolders();
afterAll(() => temporary.remove());

describe('the memory of test runs', () => {
  it('is there unless the settings want each run made, or others make them', () => {
    expect(testMemoryOf(parseSettings({}))).toBeInstanceOf(TestMemory);
    expect(testMemoryOf(parseSettings({ rememberTestRuns: false }))).toBeNull();
    expect(testMemoryOf(parseSettings({ workers: ['http://127.0.0.1:1'] }))).toBeNull();
  });

  it('tells the share that was not made, of what was asked for since', () => {
    const before = { asked: 4, remembered: 3 };
    expect(rememberedMetrics(before, { asked: 8, remembered: 4 })).toEqual({ 'timing/remembered_test_runs': 0.25 });
    expect(rememberedMetrics(before, before)).toEqual({});
  });
});

describe('a training of one step, with the embedded policy', () => {
  const real = vi.spyOn(EpisodeWorkspace.prototype, 'runTests');
  let repoRoot = '';

  beforeAll(async () => {
    repoRoot = await temporary.folder('embedded');
    await cp(path.resolve('test-fixtures/embedded-repo'), repoRoot, { recursive: true });
    await runGit(repoRoot, 'init', '--quiet');
    await runGit(repoRoot, 'add', '--all');
    await runGit(repoRoot, 'commit', '--quiet', '--message=First');
    const environment = await openEnvironment({ path: repoRoot, sandbox: 'auto' });
    const options = { ...defaultBuildOptions, sources: ['injection' as const], limit: 2, validationRuns: 1 };
    await buildTasks(environment, options);
    await environment.dispose();
  }, 300_000);

  const train = async (rememberTestRuns: boolean) => {
    const settings = parseSettings({
      ...{ steps: 1, tasksPerStep: 1, groupSize: 8, maxTurns: 6, evaluationTasks: 1, learningRate: 0 },
      ...{ klCoefficient: 0, device: 'cpu', deterministic: true, seed: 3, rememberTestRuns },
    });
    const training = await openTraining({ repoRoot, settings, control: new RunControl() });
    real.mockClear();
    try {
      await training.run();
    } finally {
      await training.dispose();
    }
    const [step] = await openRun(training.stateFolder, training.runId).steps();
    return { made: real.mock.calls.length, rewards: step.groups[0].rewards, metrics: step.metrics };
  };

  it('makes fewer runs of the tests than are asked for, and earns the same rewards', async () => {
    const [forgetful, remembering] = [await train(false), await train(true)];
    expect(remembering.rewards).toEqual(forgetful.rewards);
    expect(remembering.made).toBeLessThan(forgetful.made);
    expect(remembering.metrics['timing/remembered_test_runs']).toBeGreaterThan(0);
    expect(forgetful.metrics).not.toHaveProperty('timing/remembered_test_runs');
  }, 600_000);
});
