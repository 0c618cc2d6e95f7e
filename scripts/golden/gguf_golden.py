"""Makes test-fixtures/golden/gguf/: what the `gguf` package and transformers say about small GGUF files.

    python -m venv VENV && VENV/bin/pip install torch transformers gguf safetensors
    VENV/bin/python scripts/golden/gguf_golden.py

quantized.gguf           random blocks of every type that is read
quantized.safetensors    the same, dequantized by the `gguf` package
llama, qwen2, qwen3.gguf tiny random models in Q8_0, rows in llama.cpp's order
models.json              ids, and the logits of transformers, which reads the files itself, of the last one
"""

import json
import pathlib

import gguf
import numpy as np
import torch
import transformers
from safetensors.numpy import save_file

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "test-fixtures" / "golden" / "gguf"
TYPES = ["F32", "F16", "BF16", "Q4_0", "Q4_1", "Q8_0", "Q4_K", "Q6_K"]
HALVES = {"Q4_0": [0], "Q4_1": [0, 2], "Q8_0": [0], "Q4_K": [0, 2], "Q6_K": [208]}
ROWS, COLUMNS = 3, 512
LETTERS = [chr(c) for c in range(97, 123)] + [chr(c) for c in range(65, 91)] + list("Ġ.,<>|\"{}_Ċ:")
CONTROLS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
TEMPLATE = "{% for m in messages %}<|im_start|>{{ m.role }}Ċ{{ m.content }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}".replace("Ċ", "\n")


def random_blocks(kind: str, random: np.random.Generator) -> np.ndarray:
    """Bytes [rows, bytes of a row]; scales are moderate numbers, all else is any bits."""
    type_ = gguf.GGMLQuantizationType[kind]
    block, size = gguf.GGML_QUANT_SIZES[type_]
    if kind in ("F32", "F16", "BF16"):
        values = random.standard_normal((ROWS, COLUMNS)).astype(np.float32)
        return gguf.quants.quantize(values, type_).view(np.uint8).reshape(ROWS, -1)
    blocks = random.integers(0, 256, (ROWS * COLUMNS // block, size), dtype=np.uint8)
    for at in HALVES[kind]:
        blocks[:, at:at + 2] = random.standard_normal(len(blocks)).astype(np.float16).view(np.uint8).reshape(-1, 2)
    return blocks.reshape(ROWS, -1)


def write_quantized() -> None:
    random = np.random.default_rng(1)
    writer = gguf.GGUFWriter(FOLDER / "quantized.gguf", "llama")
    wanted = {}
    for kind in TYPES:
        raw, type_ = random_blocks(kind, random), gguf.GGMLQuantizationType[kind]
        writer.add_tensor(kind, raw, raw_dtype=type_)
        wanted[kind] = gguf.quants.dequantize(raw, type_).astype(np.float32).reshape(ROWS, COLUMNS)
    finish(writer)
    save_file(wanted, FOLDER / "quantized.safetensors")


def finish(writer: gguf.GGUFWriter) -> None:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def interleaved(weights: np.ndarray, heads: int) -> np.ndarray:
    """Rows as llama.cpp's converter lays those of Llama's query and key projections."""
    return weights.reshape(heads, 2, -1, *weights.shape[1:]).swapaxes(1, 2).reshape(weights.shape)


def write_model(arch: str, seed: int) -> dict:
    torch.manual_seed(seed)
    tokens = LETTERS + CONTROLS
    shape = dict(vocab_size=len(tokens), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
                 num_key_value_heads=2, max_position_embeddings=64, rms_norm_eps=1e-5, tie_word_embeddings=arch != "llama",
                 rope_parameters=dict(rope_type="default", rope_theta=10000.0))
    config = transformers.CONFIG_MAPPING[arch](**shape, **(dict(head_dim=128) if arch == "qwen3" else {}))
    state = transformers.AutoModelForCausalLM.from_config(config).state_dict()
    path = FOLDER / f"{arch}.gguf"
    writer = gguf.GGUFWriter(path, arch)
    writer.add_context_length(64)
    writer.add_embedding_length(32)
    writer.add_feed_forward_length(64)
    writer.add_block_count(2)
    writer.add_head_count(4)
    writer.add_head_count_kv(2)
    writer.add_rope_freq_base(10000.0)
    writer.add_layer_norm_rms_eps(1e-5)
    if arch == "qwen3":
        writer.add_key_length(128)  # all that transformers reads
        writer.add_value_length(128)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("llama-bpe" if arch == "llama" else "qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types([1] * len(LETTERS) + [3] * len(CONTROLS))
    writer.add_token_merges(["a n", "an d", "Ġ t"])
    writer.add_bos_token_id(len(LETTERS))
    writer.add_eos_token_id(len(LETTERS) + 2)
    writer.add_chat_template(TEMPLATE)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH[arch.upper()], 2)
    for name, tensor in state.items():
        if name == "lm_head.weight" and config.tie_word_embeddings:
            continue
        values = tensor.float().numpy()
        values = values * 12 if values.ndim > 1 else values + 0.3 * np.random.default_rng(len(name)).standard_normal(values.shape)
        if arch == "llama" and ("q_proj" in name or "k_proj" in name):
            values = interleaved(values, 4 if "q_proj" in name else 2)
        kind = gguf.GGMLQuantizationType.Q8_0 if values.ndim > 1 else gguf.GGMLQuantizationType.F32
        raw = gguf.quants.quantize(values.astype(np.float32), kind)
        writer.add_tensor(names.get_name(name, try_suffixes=(".weight", ".bias")), raw, raw_dtype=kind)
    finish(writer)
    model = transformers.AutoModelForCausalLM.from_pretrained(FOLDER, gguf_file=path.name, dtype=torch.float32)
    ids = torch.randint(0, len(tokens), (24,), generator=torch.Generator().manual_seed(seed))
    with torch.no_grad():
        return {"ids": ids.tolist(), "logits": model(ids[None]).logits[0, -1].tolist()}


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    write_quantized()
    models = {arch: write_model(arch, seed) for seed, arch in enumerate(["llama", "qwen2", "qwen3"])}
    (FOLDER / "models.json").write_text(json.dumps(models) + "\n")


if __name__ == "__main__":
    main()
