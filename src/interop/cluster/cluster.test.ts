import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRepository } from '../../env/repo/repository.js';
import { writeTasks } from '../../env/tasks/taskStore.js';
import { toolSchemas } from '../../env/tools/tools.js';
import { settingsSchema } from '../../trainer/run/settings.js';
import { temporaryFolder } from '../../../test/cli/runCli.js';
import { makeWorkspace, taskOf } from '../../../test/vscode/fixtures/workspace.js';
import { injectedTask } from '../fixture.testing.js';
import { pythonWith } from '../python.testing.js';
import { environmentModule } from './environmentModule.js';
import { grpoConfig } from './trlProject.js';
import { verlConfig, verlProject } from './verlProject.js';
import { writeProject } from './writeProject.js';

const git = (folder: string, ...args: string[]) =>
  execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' });

describe('a project for TRL', () => {
  it('holds the prompts, and an image of the repository that serves them without its history', async () => {
    const repo = makeWorkspace(temporaryFolder());
    const repository = await openRepository(repo);
    const task = taskOf(repo, 'sums__1');
    const funnel = { found: 1, skipped: {}, invalid: {}, flaky: 0, kept: 1, sources: {} };
    await writeTasks(repository.stateFolder, 'key', { tasks: [task], funnel, quarantined: [], notes: [] });
    const target = path.join(temporaryFolder(), 'project');
    expect(await writeProject('trl', repository, settingsSchema.parse({}), 'tiny', target)).toBe(1);
    const read = (name: string) => readFileSync(path.join(target, name), 'utf8');
    expect(JSON.parse(read('prompts.jsonl'))).toMatchObject({ task_id: 'sums__1', split: 'train' });
    expect(read('state/tasks/tasks.jsonl')).toContain('"sums__1"');
    expect(read('train.py')).toContain('default="tiny"');

    // The recipe's own steps.
    const [, commit] = /checkout --quiet --detach ([0-9a-f]{40})/.exec(read('Containerfile')) ?? [];
    const clone = path.join(temporaryFolder(), 'clone');
    git(target, 'clone', '--quiet', path.join(target, 'repository.bundle'), clone);
    git(clone, 'checkout', '--quiet', '--detach', commit);
    expect(git(clone, 'log', '--all', '--format=%s').trim()).toBe('Start');
    expect(git(clone, 'rev-parse', 'HEAD^{tree}').trim()).toBe(task.whetstone.base_tree);
    expect(readdirSync(clone)).toContain('sum.js');
  });

  it('has the settings of a run by TRL’s names', () => {
    const settings = settingsSchema.parse({
      groupSize: 4,
      klCoefficient: 0.5,
      clipHigh: 0.3,
      algorithm: { loss: 'gspo', advantage: 'dr-grpo' },
    });
    expect(grpoConfig(settings)).toMatchObject({
      num_generations: 4,
      beta: 0.5,
      epsilon: 0.2,
      epsilon_high: 0.3,
      loss_type: 'grpo',
      importance_sampling_level: 'sequence',
      scale_rewards: 'none',
    });
  });

  const python = pythonWith('trl');
  it.skipIf(python === null || pythonWith('openenv') === null)(
    'has tools and settings that TRL takes as ours',
    () => {
      const folder = temporaryFolder();
      writeFileSync(path.join(folder, 'environment.py'), environmentModule(toolSchemas));
      writeFileSync(path.join(folder, 'grpo.json'), JSON.stringify(grpoConfig(settingsSchema.parse({}))));
      writeFileSync(
        path.join(folder, 'show.py'),
        `import inspect, json
from transformers.utils import get_json_schema
from trl import GRPOConfig
from environment import Whetstone
GRPOConfig(output_dir="x", use_cpu=True, bf16=False, **json.load(open("grpo.json")))
names = [name for name, _ in inspect.getmembers(Whetstone, inspect.isfunction) if name[0] != "_" and name not in ("reset", "get_reward")]
print(json.dumps([get_json_schema(getattr(Whetstone, name)) for name in names]))
`,
      );
      const printed = execFileSync(python!, ['show.py'], {
        cwd: folder,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      const shown = JSON.parse(printed.trim().split('\n').at(-1)!) as typeof toolSchemas;
      const brief = (schemas: typeof toolSchemas) =>
        schemas
          .map(({ function: { name, description, parameters } }) => ({
            name,
            description: description.trim(),
            properties: Object.keys((parameters.properties ?? {}) as object).sort(),
            required: [...((parameters.required ?? []) as string[])].sort(),
          }))
          .sort((a, b) => (a.name < b.name ? -1 : 1));
      expect(brief(shown)).toEqual(brief(toolSchemas));
    },
    300_000,
  );
});

describe('a project for verl', () => {
  const settings = settingsSchema.parse({
    maxTokensPerTurn: 200,
    groupSize: 4,
    tasksPerStep: 8,
    lora: { rank: 16 },
    algorithm: { loss: 'dapo', advantage: 'rloo', klEstimator: 'k1' },
  });

  // What is golden was tried with verl by scripts/golden/verl_project.py (test/cli/cluster.test.ts runs it where verl is
  // found): try it again before renewing these with `vitest run -u`.
  it.each(['agent_loop.py', 'make_data.py', 'whetstone.yaml'])(
    'holds the %s that verl was tried with',
    async (name) => {
      const tasks = ['a', 'b', 'c'].map((instance_id) => ({ ...injectedTask, instance_id }));
      const files = verlProject(tasks, toolSchemas, settings, 'Qwen/Qwen3-0.6B');
      await expect(files[name]).toMatchFileSnapshot(path.join(import.meta.dirname, 'golden', name));
    },
  );

  it('never asks for more tasks in a batch than there are, and clips nothing where we clip nothing', () => {
    const config = verlConfig(settingsSchema.parse({ tasksPerStep: 8, maxGradientNorm: 0 }), 'tiny', 3);
    expect(config).toContain('train_batch_size: 3\n');
    expect(config).toContain('grad_clip: null\n');
  });
});
