"""The benchmark's tokens by transformers: python rollouts_transformers.py FOLDER THREADS GIVEN SAMPLED"""

import resource
import sys
import time

import torch
from transformers import AutoModelForCausalLM

folder, (threads, given, sampled) = sys.argv[1], map(int, sys.argv[2:])
torch.set_num_threads(threads)
model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)


def busy() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


for sequences in (1, 8, 32):
    ids = torch.tensor([[(i * 7 + row * 131) % model.config.vocab_size for i in range(given)] for row in range(sequences)])
    started, used = time.perf_counter(), busy()
    with torch.no_grad():
        out = model.generate(ids, do_sample=True, top_k=0, min_new_tokens=sampled, max_new_tokens=sampled, pad_token_id=0)
    seconds, cpu = time.perf_counter() - started, busy() - used
    tokens = out[:, given:].numel()
    print(f"  transformers, {sequences} sequences: {tokens / seconds:.0f} tokens a second, {tokens / cpu:.0f} a processor's second", flush=True)
