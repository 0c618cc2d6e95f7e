import type { ToolSchema } from '../../trajectory/message.js';
import type { Task } from '../../trajectory/task.js';
import type { Settings } from '../../trainer/run/settings.js';
import { toTrlPrompt } from '../export/trl.js';
import { agentLoopModule } from './agentLoopModule.js';
import { responseTokens } from './responseTokens.js';
import { toYaml, type YamlRecord } from './yaml.js';

/**
 * The files of a project that trains on these tasks with verl (0.9) on Ray, by path: an agent loop that plays them through
 * our server, with our mask and reward; the splits; and the run's settings where verl has them.
 */
export function verlProject(
  tasks: readonly Task[],
  tools: readonly ToolSchema[],
  settings: Settings,
  model: string,
): Readonly<Record<string, string>> {
  const trainTasks = tasks.filter(({ whetstone }) => whetstone.split === 'train').length;
  return {
    'prompts.jsonl': tasks.map((task) => `${JSON.stringify(toTrlPrompt(task, tools))}\n`).join(''),
    'agent_loop.py': agentLoopModule(settings.maxTokensPerTurn, settings.groupSize),
    'agent_loops.yaml': '- name: whetstone\n  _target_: agent_loop.WhetstoneAgentLoop\n',
    'make_data.py': makeData,
    'whetstone.yaml': verlConfig(settings, model, trainTasks),
    'requirements.txt': 'verl==0.9.1\nopenenv==0.10.0\npyarrow\n',
    'README.md': readme(settings),
  };
}

/** Our settings by verl's names, on top of its `ppo_trainer`; what has no name there is left to its default. */
export function verlConfig(settings: Settings, model: string, trainTasks: number): string {
  const { algorithm } = settings;
  // verl drops a batch that is not full.
  const batch = Math.min(settings.tasksPerStep, Math.max(1, trainTasks));
  const inLoss = settings.klCoefficient > 0 && algorithm.klPlace === 'loss';
  const inReward = settings.klCoefficient > 0 && algorithm.klPlace === 'reward';
  const config: YamlRecord = {
    defaults: ['ppo_trainer', '_self_'],
    data: {
      train_files: 'train.parquet',
      val_files: 'heldout.parquet',
      train_batch_size: batch,
      max_prompt_length: 4096,
      max_response_length: responseTokens(settings),
      truncation: 'error',
      seed: settings.seed,
    },
    actor_rollout_ref: {
      model: {
        path: model,
        lora_rank: settings.lora.rank,
        ...(settings.lora.rank > 0 ? { lora_alpha: settings.lora.alpha } : {}),
      },
      actor: {
        ppo_mini_batch_size: batch,
        ppo_micro_batch_size_per_gpu: 1,
        ppo_epochs: settings.iterations,
        clip_ratio_low: settings.clipLow,
        clip_ratio_high: settings.clipHigh,
        ...(algorithm.dualClip > 1 ? { clip_ratio_c: algorithm.dualClip } : {}),
        grad_clip: settings.maxGradientNorm === 0 ? null : settings.maxGradientNorm,
        entropy_coeff: algorithm.entropyCoefficient,
        loss_agg_mode: aggregations[algorithm.loss] ?? 'seq-mean-token-mean',
        policy_loss: { loss_mode: lossModes[algorithm.loss] ?? 'vanilla' },
        use_kl_loss: inLoss,
        kl_loss_coef: settings.klCoefficient,
        kl_loss_type: algorithm.klEstimator,
        optim: { lr: settings.learningRate, weight_decay: settings.weightDecay, lr_scheduler_type: 'constant' },
      },
      rollout: {
        name: 'vllm',
        n: settings.groupSize,
        temperature: settings.temperature,
        top_p: settings.topP,
        top_k: settings.topK === 0 ? -1 : settings.topK,
        tensor_model_parallel_size: 1,
        log_prob_micro_batch_size_per_gpu: 1,
        multi_turn: { enable: true, max_assistant_turns: settings.maxTurns },
        agent: { num_workers: 1, default_agent_loop: 'whetstone', agent_loop_config_path: 'agent_loops.yaml' },
      },
      ref: { log_prob_micro_batch_size_per_gpu: 1 },
    },
    algorithm: {
      adv_estimator: estimators[algorithm.advantage] ?? 'grpo',
      norm_adv_by_std_in_grpo: algorithm.advantage !== 'dr-grpo',
      use_kl_in_reward: inReward,
      kl_ctrl: { kl_coef: settings.klCoefficient },
    },
    trainer: {
      total_training_steps: settings.steps,
      total_epochs: Math.max(1, settings.steps),
      project_name: 'whetstone',
      experiment_name: 'tasks',
      logger: ['console', 'file'],
      nnodes: 1,
      n_gpus_per_node: 1,
      save_freq: settings.checkpointEvery,
      test_freq: -1,
      rollout_data_dir: 'rollouts',
      default_local_dir: 'checkpoints',
    },
  };
  return toYaml(config);
}

/** verl's `token-mean` is over the batch, as DAPO has it; GRPO's own is over a trajectory's tokens, then over trajectories. */
const aggregations: Readonly<Record<string, string>> = {
  dapo: 'token-mean',
  cispo: 'token-mean',
  'dr-grpo': 'seq-mean-token-sum-norm',
};
const lossModes: Readonly<Record<string, string>> = { gspo: 'gspo', cispo: 'cispo' };
const estimators: Readonly<Record<string, string>> = { rloo: 'rloo', 'reinforce++': 'reinforce_plus_plus' };

const makeData = `"""Writes the splits as verl reads them: python make_data.py"""

import json
import pathlib

import pyarrow
import pyarrow.parquet

here = pathlib.Path(__file__).parent


def row(index, line):
    return {
        "data_source": "whetstone",
        "agent_name": "whetstone",
        "prompt": line["prompt"],
        "reward_model": {"style": "rule", "ground_truth": line["task_id"]},
        "extra_info": {"index": index, "task_id": line["task_id"], "split": line["split"]},
    }


def main():
    lines = [json.loads(line) for line in (here / "prompts.jsonl").read_text().splitlines()]
    for split in ("train", "heldout"):
        rows = [row(index, line) for index, line in enumerate(lines) if line["split"] == split]
        if not rows:
            raise SystemExit(f"There is no {split} task, and verl wants both: see \`whetstone tasks build\`.")
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), here / f"{split}.parquet")
        print(f"{split}.parquet: {len(rows)} tasks")


if __name__ == "__main__":
    main()
`;

const readme = (settings: Settings) => `# Training on a cluster with verl

1. Serve the tasks where the repository is, with as many sessions as are played at once (WHETSTONE_SESSIONS, ${settings.groupSize} unless set):

       WHETSTONE_TOKEN=... whetstone serve --openenv --host 0.0.0.0 --sessions ${settings.groupSize}

   or build the Containerfile in this folder (see its first lines) and run one where the cluster can reach it.
2. In this folder, with verl, vLLM and openenv (requirements.txt) installed on the cluster's machines:

       python make_data.py
       ray job submit --working-dir . \\
         --runtime-env-json '{"env_vars": {"WHETSTONE_URL": "http://HOST:8000", "WHETSTONE_TOKEN": "..."}}' \\
         -- python -m verl.trainer.main_ppo --config-dir . --config-name whetstone

   \`whetstone.yaml\` says the model, the machines (\`trainer.nnodes\`, \`trainer.n_gpus_per_node\`) and everything else; any of it can
   be overridden behind the command. The token is readable by whoever may read the jobs of that cluster.
3. Bring it back: \`python -m verl.model_merger merge --backend fsdp --local_dir checkpoints/global_step_N/actor --target_dir merged\`
   makes a folder that \`whetstone eval --model merged\` plays. Episodes with their tokens and masks come back where
   WHETSTONE_RECORD names a folder, and verl's logger writes the curves:
   \`whetstone runs import FOLDER/*.jsonl whetstone/tasks.jsonl --model merged\` makes a run of both.

The policy is asked for calls in \`<tool_call>\` tags, as Qwen2.5 and Qwen3 write them.
`;
