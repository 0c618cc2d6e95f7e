import type { ToolSchema } from '../../trajectory/message.js';
import type { Task } from '../../trajectory/task.js';
import type { Settings } from '../../trainer/run/settings.js';
import { toTrlPrompt } from '../export/trl.js';
import { environmentModule } from './environmentModule.js';
import { responseTokens } from './responseTokens.js';

/**
 * The files of a project that trains on these tasks with TRL's GRPOTrainer, by path: the same prompts, tools, rewards and
 * splits, and the run's settings where TRL has them. TRL itself masks what tools answer.
 */
export function trlProject(
  tasks: readonly Task[],
  tools: readonly ToolSchema[],
  settings: Settings,
  model: string,
): Readonly<Record<string, string>> {
  return {
    'prompts.jsonl': tasks.map((task) => `${JSON.stringify(toTrlPrompt(task, tools))}\n`).join(''),
    'environment.py': environmentModule(tools),
    'grpo.json': `${JSON.stringify(grpoConfig(settings), null, 2)}\n`,
    'train.py': trainScript(model),
    'requirements.txt': 'trl>=1.16\npeft\nopenenv==0.10.0\naccelerate\nray[default,train]\n',
    'README.md': readme(settings),
  };
}

/** Our settings by the names of TRL's GRPOConfig; what has no name there is left to its default. */
export function grpoConfig(settings: Settings): Readonly<Record<string, unknown>> {
  const { algorithm } = settings;
  const losses: Readonly<Record<string, string>> = { 'dr-grpo': 'dr_grpo', dapo: 'dapo', cispo: 'cispo' };
  const scales: Readonly<Record<string, string>> = { grpo: 'group', 'reinforce++': 'batch' };
  return {
    max_steps: settings.steps,
    num_generations: settings.groupSize,
    per_device_train_batch_size: settings.groupSize,
    gradient_accumulation_steps: settings.tasksPerStep,
    learning_rate: settings.learningRate,
    lr_scheduler_type: 'constant',
    weight_decay: settings.weightDecay,
    max_grad_norm: settings.maxGradientNorm,
    temperature: settings.temperature,
    top_p: settings.topP,
    top_k: settings.topK,
    beta: settings.klCoefficient,
    num_iterations: settings.iterations,
    epsilon: settings.clipLow,
    epsilon_high: settings.clipHigh,
    loss_type: losses[algorithm.loss] ?? 'grpo',
    importance_sampling_level: algorithm.loss === 'gspo' ? 'sequence' : 'token',
    scale_rewards: scales[algorithm.advantage] ?? 'none',
    max_tool_calling_iterations: settings.maxTurns,
    max_completion_length: responseTokens(settings),
    seed: settings.seed,
  };
}

function trainScript(model: string): string {
  return `"""Trains on the tasks with TRL's GRPOTrainer: accelerate launch train.py [--model NAME] [--lora-rank N]

With --ray-workers N, N processes are spread over the nodes of the Ray cluster that this runs on (--cpu: without GPUs).
"""

import argparse
import json
import pathlib

from datasets import load_dataset
from trl import GRPOConfig, GRPOTrainer

import environment


def train(options):
    # The project's folder on this node.
    here = pathlib.Path(environment.__file__).parent
    prompts = load_dataset("json", data_files=str(here / "prompts.jsonl"), split="train")
    peft_config = None
    if options["lora_rank"] > 0:
        from peft import LoraConfig

        rank = options["lora_rank"]
        peft_config = LoraConfig(r=rank, lora_alpha=2 * rank, target_modules="all-linear")
    config = json.loads((here / options["config"]).read_text())
    if options["cpu"]:
        config.update(use_cpu=True, bf16=False)
    trainer = GRPOTrainer(
        model=options["model"],
        args=GRPOConfig(output_dir=options["output"], log_completions=True, report_to="none", **config),
        train_dataset=prompts.filter(lambda row: row["split"] == "train"),
        environment_factory=environment.Whetstone,
        peft_config=peft_config,
    )
    trainer.train()
    trainer.save_model(options["output"])
    trainer.save_state()


def train_on_ray(options):
    import ray
    from ray.train import ScalingConfig, get_context
    from ray.train.torch import TorchTrainer

    def train_on_worker(given):
        node = ray.get_runtime_context().get_node_id()
        print(f"rank {get_context().get_world_rank()} of {get_context().get_world_size()} on node {node}", flush=True)
        train(given)

    scaling = ScalingConfig(
        num_workers=options["ray_workers"], use_gpu=not options["cpu"], placement_strategy="SPREAD"
    )
    TorchTrainer(train_on_worker, train_loop_config=options, scaling_config=scaling).fit()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default=${JSON.stringify(model)})
    parser.add_argument("--output", default="output", help="on a cluster: a folder that all its nodes share")
    parser.add_argument("--lora-rank", type=int, default=0, help="0 trains all weights")
    parser.add_argument("--config", default="grpo.json")
    parser.add_argument("--ray-workers", type=int, default=0)
    parser.add_argument("--cpu", action="store_true")
    options = vars(parser.parse_args())
    if options["ray_workers"] > 0:
        train_on_ray(options)
    else:
        train(options)


if __name__ == "__main__":
    main()
`;
}

const readme = (settings: Settings) => `# Training on a cluster with TRL

1. Serve the tasks where the repository is, with as many sessions as a training process plays at once (${settings.groupSize} each):

       WHETSTONE_TOKEN=... whetstone serve --openenv --host 0.0.0.0 --sessions ${settings.groupSize}

   or build the Containerfile in this folder (see its first lines) and run one where the trainers can reach it.
2. On the training machine:

       pip install -r requirements.txt
       export WHETSTONE_URL=http://HOST:8000 WHETSTONE_TOKEN=...
       accelerate launch train.py --lora-rank 16

   or on a Ray cluster, with the requirements installed on its machines and a process on each of 4 GPUs:

       ray job submit --working-dir . --runtime-env-json '{"env_vars": {"WHETSTONE_URL": "...", "WHETSTONE_TOKEN": "..."}}' \\
         -- python train.py --ray-workers 4 --output /a/folder/that/all/nodes/share
3. Bring it back: \`output\` is a checkpoint in Hugging Face layout, so \`whetstone eval --model output\` plays the held-out tasks
   with it, and \`whetstone train --model output\` goes on from it; \`whetstone runs import output/trainer_state.json\` shows its curves.

The embedded policy has a chat template that TRL does not know: take a model whose template calls tools, such as Qwen3's.
`;
