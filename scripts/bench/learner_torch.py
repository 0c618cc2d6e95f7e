"""The benchmark's step, written by hand in PyTorch: python learner_torch.py '{"hiddenSize": …, "sequences": …}'

One micro-batch a sequence of the same length, eager, scaled_dot_product_attention, logits of the policy's own tokens only, then
clip_grad_norm_ and AdamW. What sequences share is computed for each, as PyTorch programs do.
"""

import json
import sys

import torch
import torch.nn.functional as F
from learner_step import report

o = json.loads(sys.argv[1])
torch.set_num_threads(o["threads"])
torch.manual_seed(0)
d, heads, kv, width = o["hiddenSize"], o["heads"], o["keyValueHeads"], o["headDim"]
rank, vocabulary, length = o["lora"], o["vocabularySize"], o["length"]
grown = []


def matrix(out, inputs):
    weight = torch.nn.Parameter(torch.randn(out, inputs) * 0.02, requires_grad=rank == 0)
    if rank == 0:
        grown.append(weight)
        return (weight,)
    a = torch.nn.Parameter(torch.randn(rank, inputs) * 0.02)
    b = torch.nn.Parameter(torch.zeros(out, rank))
    grown.extend([a, b])
    return (weight, a, b)


def linear(x, factors):
    y = F.linear(x, factors[0])
    return y if rank == 0 else y + F.linear(F.linear(x, factors[1]), factors[2] * (32 / rank))


def norm():
    weight = torch.nn.Parameter(torch.ones(d), requires_grad=rank == 0)
    if rank == 0:
        grown.append(weight)
    return weight


embedding = torch.nn.Parameter(torch.randn(vocabulary, d) * 0.02, requires_grad=rank == 0)
if rank == 0:
    grown.append(embedding)
layers = [
    dict(
        n1=norm(), n2=norm(), q=matrix(heads * width, d), k=matrix(kv * width, d), v=matrix(kv * width, d),
        o=matrix(d, heads * width), gate=matrix(o["intermediateSize"], d), up=matrix(o["intermediateSize"], d),
        down=matrix(d, o["intermediateSize"]),
    )
    for _ in range(o["layers"])
]
last = norm()
angles = torch.arange(length)[:, None] * o["ropeTheta"] ** (-torch.arange(0, width, 2) / width)
cosines, sines = angles.cos().repeat(1, 2), angles.sin().repeat(1, 2)


def turned(x):
    a, b = x.chunk(2, -1)
    return x * cosines + torch.cat([-b, a], -1) * sines


def states(ids):
    x = embedding[ids]
    for layer in layers:
        n = F.rms_norm(x, (d,), layer["n1"], o["rmsEpsilon"])
        split = lambda y, h: y.view(length, h, width).transpose(0, 1)
        q, k, v = split(linear(n, layer["q"]), heads), split(linear(n, layer["k"]), kv), split(linear(n, layer["v"]), kv)
        y = F.scaled_dot_product_attention(
            turned(q)[None], turned(k)[None], v[None], is_causal=True, enable_gqa=kv != heads
        )[0]
        x = x + linear(y.transpose(0, 1).reshape(length, heads * width), layer["o"])
        n = F.rms_norm(x, (d,), layer["n2"], o["rmsEpsilon"])
        x = x + linear(F.silu(linear(n, layer["gate"])) * linear(n, layer["up"]), layer["down"])
    return F.rms_norm(x, (d,), last, o["rmsEpsilon"])


shared = min(o["shared"], length - 1)
asked = torch.tensor([p for p in range(max(1, shared), length) if p == length - 1 or p % o["every"] == 1 % o["every"]])
coefficients = (asked % 5 - 2.5) / 1000
sequences = torch.randint(0, vocabulary, (o["sequences"], length))
optimizer = torch.optim.AdamW(grown, lr=1e-4, betas=(0.9, 0.95), weight_decay=0.1)


def step():
    optimizer.zero_grad()
    for ids in sequences:
        logits = F.linear(states(ids)[asked - 1], embedding)
        logprobs = torch.log_softmax(logits, -1)
        (coefficients * logprobs.gather(-1, ids[asked, None])[:, 0]).sum().backward()
    torch.nn.utils.clip_grad_norm_(grown, 1.0)
    optimizer.step()


report(f"PyTorch {torch.__version__}", step, o["sequences"] * length, o)
