"""Makes test-fixtures/golden/: what PyTorch and transformers say about tiny random models of each supported kind.

    python -m venv VENV && VENV/bin/pip install torch transformers safetensors
    VENV/bin/python scripts/golden/llama_golden.py [NAME...]

All numbers are computed in float64 and stored as float32. For each model:
    config.json, *.safetensors       the checkpoint, in Hugging Face layout; of those with a `dtype` as
                                     `save_pretrained` writes it, in that dtype, in shards where `shards` says so
    golden.json                      sequences, masks, coefficients; log-probs and entropies at two temperatures
    logits.safetensors               logits of every sequence, [time, vocabulary], temperature 1
    gradients.safetensors            of sum(c * logp + e * H) at the second temperature
    after-steps.safetensors          weights after AdamW steps on the same sequences and coefficients
"""

import copy
import dataclasses
import json
import pathlib
import sys

import torch
import transformers
from safetensors.torch import save_file

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "test-fixtures" / "golden"
TEMPERATURES = [1.0, 0.7]
OPTIMIZER = dict(learningRate=1e-3, beta1=0.9, beta2=0.98, epsilon=1e-6, weightDecay=0.1, maxGradientNorm=0.5)


@dataclasses.dataclass(frozen=True)
class Kind:
    config_class: type
    fields: dict
    steps: int = 20
    dtype: torch.dtype = torch.float32
    shards: str | None = None


WIDE = dict(hidden_size=32, intermediate_size=44, num_hidden_layers=2, num_attention_heads=4, rms_norm_eps=1e-5)
SMALL = dict(hidden_size=16, intermediate_size=20, num_hidden_layers=2, num_attention_heads=4, head_dim=8,
             num_key_value_heads=2, rms_norm_eps=1e-5, tie_word_embeddings=True)


def rope(theta: float, kind: str = "default", **more) -> dict:
    return dict(rope_parameters=dict(rope_type=kind, rope_theta=theta, **more))


MODELS = {
    "llama-grouped": Kind(transformers.LlamaConfig, WIDE | rope(10000.0) | dict(
        num_key_value_heads=2, tie_word_embeddings=False, head_dim=8), steps=4),
    "llama-tied": Kind(transformers.LlamaConfig, WIDE | rope(500.0) | dict(
        num_key_value_heads=4, tie_word_embeddings=True, head_dim=12), steps=4),
    "llama3": Kind(transformers.LlamaConfig, SMALL | dict(attention_bias=True, mlp_bias=True) | rope(
        500.0, "llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=16)),
    "llama-linear": Kind(transformers.LlamaConfig, SMALL | rope(10000.0, "linear", factor=4.0)),
    "qwen2": Kind(transformers.Qwen2Config, {k: v for k, v in SMALL.items() if k != "head_dim"} | dict(
        use_sliding_window=True, sliding_window=6, max_window_layers=1) | rope(
        1000.0, "yarn", factor=4.0, original_max_position_embeddings=16)),
    "qwen3": Kind(transformers.Qwen3Config, SMALL | rope(10000.0), dtype=torch.float16),
    "mistral": Kind(transformers.MistralConfig, SMALL | dict(sliding_window=7, tie_word_embeddings=False) | rope(10000.0)),
    "smollm2": Kind(transformers.LlamaConfig, SMALL | dict(
        hidden_size=24, num_attention_heads=3, num_key_value_heads=1) | rope(100000.0)),
    "smollm3": Kind(transformers.SmolLM3Config, SMALL | dict(
        num_hidden_layers=3, no_rope_layer_interval=2, pad_token_id=None, bos_token_id=None, eos_token_id=None)
        | rope(10000.0), dtype=torch.bfloat16, shards="10KB"),
}


def random_model(seed: int, kind: Kind) -> transformers.PreTrainedModel:
    torch.manual_seed(seed)
    config = kind.config_class(
        vocab_size=67, max_position_embeddings=64, attn_implementation="eager", **copy.deepcopy(kind.fields))
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager").double()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_((torch.rand_like(parameter) + 0.5 if "norm" in name else torch.randn_like(parameter) * 0.25))
            parameter.copy_(parameter.to(kind.dtype).double())  # what the file can hold
    return model


def save(model: transformers.PreTrainedModel, kind: Kind, folder: pathlib.Path) -> None:
    if kind.dtype != torch.float32:
        stored_model = copy.deepcopy(model).to(kind.dtype)
        stored_model.config.dtype = kind.dtype
        stored_model.save_pretrained(folder, **(dict(max_shard_size=kind.shards) if kind.shards else {}))
        (folder / "generation_config.json").unlink(missing_ok=True)
        return
    config = model.config.to_dict()
    config["torch_dtype"] = config["dtype"] = "float32"
    (folder / "config.json").write_text(json.dumps(config, indent=2, default=str) + "\n")
    save_file(stored(dict(model.named_parameters())), folder / "model.safetensors", metadata={"format": "pt"})


def random_sequences(seed: int) -> list[dict]:
    generator = torch.Generator().manual_seed(seed)
    sequences = []
    for length in [5, 23, 12, 40, 2]:
        mask = (torch.rand(length, generator=generator) < 0.5).int()
        mask[0], mask[-1] = 0, 1
        sequences.append({
            "tokenIds": torch.randint(0, 67, (length,), generator=generator).tolist(),
            "actionMask": mask.tolist(),
            "logprobCoefficients": (torch.randn(length, generator=generator) * mask).tolist(),
            "entropyCoefficients": (torch.randn(length, generator=generator) * 0.1 * mask).tolist(),
        })
    return sequences


def scores(model, sequence: dict, temperature: float):
    """Log-probability of each token given those before it, and the entropy of the distribution it was drawn from."""
    ids = torch.tensor([sequence["tokenIds"]])
    logits = model(ids).logits[0]
    logprobs = torch.log_softmax(logits[:-1] / temperature, -1)
    entropies = -(logprobs.exp() * logprobs).sum(-1)
    return logits, logprobs.gather(-1, ids[0, 1:, None])[:, 0], entropies


def objective(model, sequences: list[dict], temperature: float):
    total = torch.zeros((), dtype=torch.float64)
    for sequence in sequences:
        _, logprobs, entropies = scores(model, sequence, temperature)
        total = total + (torch.tensor(sequence["logprobCoefficients"]).double()[1:] * logprobs).sum()
        total = total + (torch.tensor(sequence["entropyCoefficients"]).double()[1:] * entropies).sum()
    return total


def stored(tensors: dict) -> dict:
    return {name: tensor.detach().float().contiguous().clone() for name, tensor in tensors.items()}


def adamw(model) -> torch.optim.Optimizer:
    matrices = [p for p in model.parameters() if p.dim() > 1]
    vectors = [p for p in model.parameters() if p.dim() == 1]
    return torch.optim.AdamW(
        [dict(params=matrices, weight_decay=OPTIMIZER["weightDecay"]), dict(params=vectors, weight_decay=0.0)],
        lr=OPTIMIZER["learningRate"], betas=(OPTIMIZER["beta1"], OPTIMIZER["beta2"]), eps=OPTIMIZER["epsilon"],
    )


def main() -> None:
    for seed, (name, kind) in enumerate(MODELS.items()):
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        folder = FOLDER / name
        folder.mkdir(parents=True, exist_ok=True)
        model = random_model(seed, kind)
        sequences = random_sequences(seed)
        save(model, kind, folder)

        with torch.no_grad():
            logits = {str(i): scores(model, s, 1.0)[0] for i, s in enumerate(sequences)}
            by_temperature = []
            for temperature in TEMPERATURES:
                found = [scores(model, s, temperature) for s in sequences]
                by_temperature.append({
                    "temperature": temperature,
                    "logprobs": [lp.tolist() for _, lp, _ in found],
                    "entropies": [h.tolist() for _, _, h in found],
                })
        save_file(stored(logits), folder / "logits.safetensors")

        objective(model, sequences, TEMPERATURES[1]).backward()
        save_file(stored({n: p.grad for n, p in model.named_parameters()}), folder / "gradients.safetensors")

        optimizer = adamw(model)
        norms = []
        for _ in range(kind.steps):
            optimizer.zero_grad()
            objective(model, sequences, TEMPERATURES[0]).backward()
            norms.append(torch.nn.utils.clip_grad_norm_(model.parameters(), OPTIMIZER["maxGradientNorm"]).item())
            optimizer.step()
        save_file(stored(dict(model.named_parameters())), folder / "after-steps.safetensors")
        golden = {
            "comment": "Arrays of scores start at the second token.",
            "sequences": sequences, "scores": by_temperature, "gradientTemperature": TEMPERATURES[1],
            "optimizer": OPTIMIZER, "steps": kind.steps, "stepTemperature": TEMPERATURES[0], "gradientNorms": norms,
        }
        (folder / "golden.json").write_text(json.dumps(golden) + "\n")
        print(name, sum(p.numel() for p in model.parameters()), "parameters")


if __name__ == "__main__":
    main()
