"""The benchmark's tokens by transformers: python rollouts_transformers.py FOLDER THREADS

Lines of JSON as tokenSpeeds.ts sends and reads them.
"""

import json
import resource
import sys
import time

import torch
from transformers import AutoModelForCausalLM

folder, threads = sys.argv[1], int(sys.argv[2])
torch.set_num_threads(threads)
model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
# Every sequence is as long as it was asked for.
model.generation_config.eos_token_id = None


def busy() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    job = json.loads(line)
    ids = torch.tensor(job["given"])
    choice = {"do_sample": False} if job["greedy"] else {"do_sample": True, "top_k": 0}
    started, used = time.perf_counter(), busy()
    with torch.no_grad():
        out = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=job["sampled"], pad_token_id=0, **choice)
    seconds, cpu = time.perf_counter() - started, busy() - used
    print(json.dumps({"tokens": out[:, ids.shape[1] :].tolist(), "seconds": seconds, "cpuSeconds": cpu}), flush=True)
