"""The same step as the benchmark's, by TRL's GRPOTrainer: python learner_trl.py '{"hiddenSize": …, "sequences": …}'

A group of rollouts of one prompt is given as the trainer's own generation would give it; measured are its loss, the backward
pass, clipping and AdamW, as in its training step. It computes the prompt for each rollout anew.
"""

import json
import os
import sys
import tempfile

os.environ["CUDA_VISIBLE_DEVICES"] = ""
import torch
import transformers
import trl
from datasets import Dataset
from learner_step import report
from tokenizers import Tokenizer, models
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer

o = json.loads(sys.argv[1])
torch.set_num_threads(o["threads"])
torch.manual_seed(0)
group, shared = o["sequences"], min(o["shared"], o["length"] - 1)
completion = o["length"] - shared
config = LlamaConfig(
    vocab_size=o["vocabularySize"],
    hidden_size=o["hiddenSize"],
    intermediate_size=o["intermediateSize"],
    num_hidden_layers=o["layers"],
    num_attention_heads=o["heads"],
    num_key_value_heads=o["keyValueHeads"],
    head_dim=o["headDim"],
    max_position_embeddings=max(o["length"], 2048),
    tie_word_embeddings=True,
)
model = LlamaForCausalLM(config).float()
if o["lora"] > 0:
    from peft import LoraConfig, get_peft_model

    model = get_peft_model(model, LoraConfig(r=o["lora"], lora_alpha=32, target_modules="all-linear"))
words = {f"w{i}": i for i in range(o["vocabularySize"])}
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=Tokenizer(models.WordLevel(words, unk_token="w0")), pad_token="w0", eos_token="w1"
)
with tempfile.TemporaryDirectory() as folder:
    trainer = GRPOTrainer(
        model=model,
        reward_funcs=lambda completions, **_: [0.0] * len(completions),
        args=GRPOConfig(
            output_dir=folder,
            per_device_train_batch_size=group,
            num_generations=group,
            max_completion_length=completion,
            beta=0.0,
            learning_rate=1e-4,
            max_grad_norm=1.0,
            use_cpu=True,
            bf16=False,
            fp16=False,
            gradient_checkpointing=False,
            report_to=[],
        ),
        train_dataset=Dataset.from_dict({"prompt": ["w2"] * group}),
        processing_class=tokenizer,
    )
trainer.create_optimizer()
trainer.current_gradient_accumulation_steps = 1
ids = torch.randint(2, o["vocabularySize"], (group, o["length"]))
ids[:, :shared] = ids[0, :shared]
ones = torch.ones_like(ids)
inputs = {
    "prompt_ids": ids[:, :shared],
    "prompt_mask": ones[:, :shared],
    "completion_ids": ids[:, shared:],
    "completion_mask": ones[:, shared:],
    "advantages": (torch.arange(group) - (group - 1) / 2) / group,
    "num_items_in_batch": torch.tensor(float(group * completion)),
}
model.train()


def step():
    loss = trainer.compute_loss(model, dict(inputs))
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    trainer.optimizer.step()
    model.zero_grad()


name = f"TRL {trl.__version__}, transformers {transformers.__version__}, PyTorch {torch.__version__}"
report(name, step, group * o["length"], o)
