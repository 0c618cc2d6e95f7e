"""Makes test-fixtures/golden/llama-*: what PyTorch and transformers say about tiny random Llamas.

    python -m venv VENV && VENV/bin/pip install torch transformers safetensors
    VENV/bin/python scripts/golden/llama_golden.py

All numbers are computed in float64 and stored as float32. For each model:
    config.json, model.safetensors   the checkpoint, in Hugging Face layout
    golden.json                      sequences, masks, coefficients; log-probs and entropies at two temperatures
    logits.safetensors               logits of every sequence, [time, vocabulary], temperature 1
    gradients.safetensors            of sum(c * logp + e * H) at the second temperature
    after-steps.safetensors          weights after AdamW steps on the same sequences and coefficients
"""

import json
import pathlib

import torch
import transformers
from safetensors.torch import save_file

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "test-fixtures" / "golden"
TEMPERATURES = [1.0, 0.7]
OPTIMIZER = dict(learningRate=1e-3, beta1=0.9, beta2=0.98, epsilon=1e-6, weightDecay=0.1, maxGradientNorm=0.5)
STEPS = 4
MODELS = {
    "llama-grouped": dict(num_key_value_heads=2, tie_word_embeddings=False, head_dim=8, rope_theta=10000.0),
    "llama-tied": dict(num_key_value_heads=4, tie_word_embeddings=True, head_dim=12, rope_theta=500.0),
}


def random_model(seed: int, **overrides) -> transformers.LlamaForCausalLM:
    torch.manual_seed(seed)
    config = transformers.LlamaConfig(
        vocab_size=67, hidden_size=32, intermediate_size=44, num_hidden_layers=2, num_attention_heads=4,
        max_position_embeddings=64, rms_norm_eps=1e-5, attn_implementation="eager",
        rope_parameters={"rope_type": "default", "rope_theta": overrides.pop("rope_theta")}, **overrides,
    )
    model = transformers.LlamaForCausalLM(config).double()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_((torch.rand_like(parameter) + 0.5 if "norm" in name else torch.randn_like(parameter) * 0.25))
            parameter.copy_(parameter.float().double())  # what the file can hold
    return model


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
    for seed, (name, overrides) in enumerate(MODELS.items()):
        folder = FOLDER / name
        folder.mkdir(parents=True, exist_ok=True)
        model = random_model(seed, **overrides)
        sequences = random_sequences(seed)
        config = model.config.to_dict()
        config["torch_dtype"] = config["dtype"] = "float32"
        (folder / "config.json").write_text(json.dumps(config, indent=2, default=str) + "\n")
        save_file(stored(dict(model.named_parameters())), folder / "model.safetensors", metadata={"format": "pt"})

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
        for _ in range(STEPS):
            optimizer.zero_grad()
            objective(model, sequences, TEMPERATURES[0]).backward()
            norms.append(torch.nn.utils.clip_grad_norm_(model.parameters(), OPTIMIZER["maxGradientNorm"]).item())
            optimizer.step()
        save_file(stored(dict(model.named_parameters())), folder / "after-steps.safetensors")
        golden = {
            "comment": "Arrays of scores start at the second token.",
            "sequences": sequences, "scores": by_temperature, "gradientTemperature": TEMPERATURES[1],
            "optimizer": OPTIMIZER, "steps": STEPS, "stepTemperature": TEMPERATURES[0], "gradientNorms": norms,
        }
        (folder / "golden.json").write_text(json.dumps(golden) + "\n")
        print(name, sum(p.numel() for p in model.parameters()), "parameters")


if __name__ == "__main__":
    main()
