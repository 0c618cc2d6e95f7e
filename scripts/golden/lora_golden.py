"""Makes test-fixtures/golden/*/lora: what PEFT says about adapters on the models of llama_golden.py.

    VENV/bin/pip install torch transformers safetensors peft
    VENV/bin/python scripts/golden/lora_golden.py [NAME...]

All numbers are computed in float64 and stored as float32. For each model:
    adapter_config.json, adapter_model.safetensors   the adapter, written by PEFT
    golden.json                log-probs and entropies of the model's golden sequences, norms of the steps
    gradients.safetensors      of sum(c * logp + e * H) with respect to the factors
    after-steps.safetensors    factors after AdamW steps

To prove the other direction, with a folder that Whetstone wrote for the same model:

    VENV/bin/python scripts/golden/lora_golden.py --read-back FOLDER llama-grouped

prints the greatest difference between the log-probs of PEFT with that adapter and the golden ones.
"""

import json
import pathlib
import shutil
import sys

import peft
import torch
import transformers

from llama_golden import FOLDER, OPTIMIZER, objective, scores, stored
from safetensors.torch import save_file

STEPS = 20
ATTENTION = ["q_proj", "k_proj", "v_proj", "o_proj"]
FEED_FORWARD = ["gate_proj", "up_proj", "down_proj"]
ADAPTERS = {
    "llama-grouped": dict(r=3, lora_alpha=6, target_modules=["q_proj", "v_proj", "down_proj"]),
    "llama-tied": dict(
        r=4, lora_alpha=5, use_rslora=True,
        target_modules=[*ATTENTION, *FEED_FORWARD],
    ),
    "llama3": dict(r=2, lora_alpha=4, target_modules=[*ATTENTION, *FEED_FORWARD]),
    "llama-linear": dict(r=5, lora_alpha=3, target_modules=ATTENTION),
    "qwen2": dict(r=2, lora_alpha=8, target_modules=[*ATTENTION, *FEED_FORWARD]),
    "qwen3": dict(r=3, lora_alpha=3, target_modules=[*ATTENTION, *FEED_FORWARD]),
    "mistral": dict(r=1, lora_alpha=2, target_modules=["q_proj", "o_proj", *FEED_FORWARD]),
    "smollm2": dict(r=4, lora_alpha=8, target_modules=FEED_FORWARD),
    "smollm3": dict(r=2, lora_alpha=4, target_modules=[*ATTENTION, *FEED_FORWARD]),
}


def base(name: str):
    return transformers.AutoModelForCausalLM.from_pretrained(
        FOLDER / name, dtype=torch.float64, attn_implementation="eager"
    )


def factors(model) -> dict:
    """By the names of the file: without the name of the active adapter."""
    return {n.replace(".default", ""): p for n, p in model.named_parameters() if p.requires_grad}


def scored(model, golden: dict) -> tuple[list, list]:
    with torch.no_grad():
        found = [scores(model, s, golden["stepTemperature"]) for s in golden["sequences"]]
    return [lp.tolist() for _, lp, _ in found], [h.tolist() for _, _, h in found]


def make(seed: int, name: str, config: dict) -> None:
    golden = json.loads((FOLDER / name / "golden.json").read_text())
    folder = FOLDER / name / "lora"
    torch.manual_seed(seed)
    model = peft.get_peft_model(base(name), peft.LoraConfig(task_type="CAUSAL_LM", **config)).double()
    with torch.no_grad():
        for parameter in factors(model).values():
            parameter.copy_((torch.randn_like(parameter) * 0.2).float().double())
    model.peft_config["default"].base_model_name_or_path = ".."
    model.float().save_pretrained(folder)
    (folder / "README.md").unlink(missing_ok=True)
    model.double()

    logprobs, entropies = scored(model, golden)
    objective(model, golden["sequences"], golden["stepTemperature"]).backward()
    save_file(stored({n: p.grad for n, p in factors(model).items()}), folder / "gradients.safetensors")
    optimizer = torch.optim.AdamW(
        factors(model).values(), lr=OPTIMIZER["learningRate"], betas=(OPTIMIZER["beta1"], OPTIMIZER["beta2"]),
        eps=OPTIMIZER["epsilon"], weight_decay=OPTIMIZER["weightDecay"],
    )
    norms = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        objective(model, golden["sequences"], golden["stepTemperature"]).backward()
        norms.append(torch.nn.utils.clip_grad_norm_(factors(model).values(), OPTIMIZER["maxGradientNorm"]).item())
        optimizer.step()
    save_file(stored(factors(model)), folder / "after-steps.safetensors")
    (folder / "golden.json").write_text(json.dumps({
        "comment": "At stepTemperature of the model's golden.json; arrays of scores start at the second token.",
        "logprobs": logprobs, "entropies": entropies, "steps": STEPS, "gradientNorms": norms,
    }) + "\n")
    print(name, sum(p.numel() for p in factors(model).values()), "parameters in the adapter")


def read_back(folder: str, name: str) -> None:
    golden = json.loads((FOLDER / name / "golden.json").read_text())
    wanted = json.loads((FOLDER / name / "lora" / "golden.json").read_text())["logprobs"]
    found, _ = scored(peft.PeftModel.from_pretrained(base(name), folder).double(), golden)
    difference = max(abs(a - b) for xs, ys in zip(found, wanted) for a, b in zip(xs, ys))
    print(name, "greatest difference of a log-probability", difference)
    if difference > 1e-5:
        sys.exit(1)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--read-back"]:
        read_back(*sys.argv[2:4])
    else:
        for index, (model_name, settings) in enumerate(ADAPTERS.items()):
            if sys.argv[1:] and model_name not in sys.argv[1:]:
                continue
            shutil.rmtree(FOLDER / model_name / "lora", ignore_errors=True)
            make(index, model_name, settings)
