"""llama.cpp's own server on a model of a file: python llama_server.py MODEL.gguf CONTEXT

    python -m venv VENV && VENV/bin/pip install xllamacpp

Prints its address once the model is loaded, on a free port of this machine, and ends when its standard input does.
"""

import sys

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.model_alias = {"embedded"}  # in place of its path
params.n_ctx = int(sys.argv[2])
params.hostnames, params.port = ["127.0.0.1"], 0
params.n_gpu_layers = 0
params.n_parallel = 1
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
# In float32 as the weights, so that its log-probabilities can be held to the learner's.
params.cache_type_k = params.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
params.fit_params = params.warmup = False
params.verbosity = 1
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
