"""The benchmark's tokens by llama.cpp's server: python rollouts_llama.py MODEL.gguf THREADS SEQUENCES LENGTH

SEQUENCES are decoded side by side at most, each of LENGTH tokens at most, as one batch that they join and leave at any step
(continuous batching). Needs the package xllamacpp. Lines of JSON as tokenSpeeds.ts sends and reads them.
"""

import json
import re
import resource
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import xllamacpp

file, threads, sequences, length = sys.argv[1], *map(int, sys.argv[2:])
params = xllamacpp.CommonParams()
params.model.path = file
params.n_gpu_layers = 0
params.n_parallel = sequences
params.n_ctx = sequences * length
params.cont_batching = True
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
# In float32 as the weights, not the default of 16 bits. Its flash attention computes on the CPU with less precision, and slower.
params.cache_type_k = params.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
params.fit_params = params.warmup = False
params.verbosity = 0
server = xllamacpp.Server(params)


def busy() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def complete(given: list, sampled: int, greedy: bool, seed: int) -> list:
    choice = {"temperature": 0.0 if greedy else 1.0, "samplers": ["temperature"], "seed": seed, "repeat_penalty": 1.0}
    answer = server.handle_completions(
        {"prompt": given, "n_predict": sampled, "ignore_eos": True, "cache_prompt": False, **choice}
    )
    # The tokens of plainGguf.ts say their own ids.
    return [int(token[1:-1]) for token in re.findall(r"<\d+>", answer["choices"][0]["text"])]


print(json.dumps({"ready": True}), flush=True)
with ThreadPoolExecutor(sequences) as pool:
    for line in sys.stdin:
        job = json.loads(line)
        started, used = time.perf_counter(), busy()
        played = [pool.submit(complete, given, job["sampled"], job["greedy"], row) for row, given in enumerate(job["given"])]
        tokens = [one.result() for one in played]
        seconds, cpu = time.perf_counter() - started, busy() - used
        print(json.dumps({"tokens": tokens, "seconds": seconds, "cpuSeconds": cpu}), flush=True)
