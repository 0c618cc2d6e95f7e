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
    'requirements.txt': 'trl>=1.16\npeft\nopenenv==0.10.0\naccelerate\n',
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
  return `"""Trains on the tasks with TRL's GRPOTrainer: accelerate launch train.py [--model NAME] [--lora-rank N]"""

import argparse
import json
import pathlib

from datasets import load_dataset
from trl import GRPOConfig, GRPOTrainer

from environment import Whetstone

here = pathlib.Path(__file__).parent


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default=${JSON.stringify(model)})
    parser.add_argument("--output", default="output")
    parser.add_argument("--lora-rank", type=int, default=0, help="0 trains all weights")
    parser.add_argument("--config", default=str(here / "grpo.json"))
    options = parser.parse_args()
    prompts = load_dataset("json", data_files=str(here / "prompts.jsonl"), split="train")
    peft_config = None
    if options.lora_rank > 0:
        from peft import LoraConfig

        peft_config = LoraConfig(r=options.lora_rank, lora_alpha=2 * options.lora_rank, target_modules="all-linear")
    trainer = GRPOTrainer(
        model=options.model,
        args=GRPOConfig(
            output_dir=options.output,
            log_completions=True,
            report_to="none",
            **json.loads(pathlib.Path(options.config).read_text()),
        ),
        train_dataset=prompts.filter(lambda row: row["split"] == "train"),
        environment_factory=Whetstone,
        peft_config=peft_config,
    )
    trainer.train()
    trainer.save_model(options.output)


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

   or on a Ray cluster: \`ray job submit --working-dir . --runtime-env-json '{"pip": "requirements.txt"}' -- python train.py\`.
3. Bring it back: \`output\` is a checkpoint in Hugging Face layout, so \`whetstone eval --model output\` plays the held-out tasks
   with it, and \`whetstone train --model output\` goes on from it.

The embedded policy has a chat template that TRL does not know: take a model whose template calls tools, such as Qwen3's.
`;
