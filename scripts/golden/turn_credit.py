"""Golden data for src/trainer/algorithm/turns.test.ts: GiGPO by its authors' own functions, IGPO written out from its paper.

Run where torch can be imported, with gigpo/core_gigpo.py of github.com/langfengQ/DrMAS (commit 3b556f2) at hand:
    python scripts/golden/turn_credit.py core_gigpo.py > src/trainer/algorithm/golden/turnCredit.json
"""

import contextlib
import importlib.util
import io
import json
import random
import sys
from types import SimpleNamespace
from unittest.mock import MagicMock

import numpy as np
import torch

# Its batches are verl's; what is used of them here is their dictionaries.
sys.modules["verl"] = MagicMock()
spec = importlib.util.spec_from_file_location("core_gigpo", sys.argv[1])
core_gigpo = importlib.util.module_from_spec(spec)
spec.loader.exec_module(core_gigpo)

EPSILON = 1e-4
dice = random.Random(5)


def rounded(values):
    return [float(f"{value:.7g}") for value in values]


def gigpo(episodes, gamma, weight, normalize):
    rows = [(i, turn, state) for i, episode in enumerate(episodes) for turn, state in enumerate(episode["states"])]
    last = lambda i, turn: turn == len(episodes[i]["states"]) - 1
    batch = SimpleNamespace(
        non_tensor_batch={
            "rewards": np.array([episodes[i]["reward"] if last(i, turn) else 0.0 for i, turn, _ in rows]),
            "traj_uid": np.array([str(i) for i, _, _ in rows]),
            "active_masks": np.ones(len(rows)),
            "env_step": np.array([turn for _, turn, _ in rows]),
        },
        batch={"input_ids": torch.zeros(1)},
    )
    outcome = torch.tensor([[episodes[i]["reward"]] for i, _, _ in rows])
    with contextlib.redirect_stdout(io.StringIO()):
        found, _ = core_gigpo.compute_gigpo_outcome_advantage(
            outcome, core_gigpo.compute_step_discounted_returns(batch, gamma), torch.ones(len(rows), 1),
            np.array([state for _, _, state in rows], dtype=object), np.zeros(len(rows)),
            batch.non_tensor_batch["traj_uid"], epsilon=EPSILON, step_advantage_w=weight,
            mode="mean_std_norm" if normalize else "mean_norm")
    flat = iter(found[:, 0].tolist())
    return [rounded([next(flat) for _ in episode["states"]]) for episode in episodes]


def igpo(episodes, gamma):
    """Section 3.3 of arXiv 2510.14967, with the deviation of a sample as GRPO has it in TRL."""
    rewards = [[*episode["gains"][:-1], episode["reward"]] for episode in episodes]
    everything = np.array([reward for turns in rewards for reward in turns])
    scaled = [(np.array(turns) - everything.mean()) / (everything.std(ddof=1) + EPSILON) for turns in rewards]
    return [rounded([sum(gamma ** (j - k) * turns[j] for j in range(k, len(turns))) for k in range(len(turns))])
            for turns in scaled]


def episode():
    turns = dice.randint(1, 6)
    return {
        "reward": dice.choice([0.0, 1.0, 0.25, 0.5]),
        "states": ["start", *(dice.choice("abc") for _ in range(turns - 1))],
        "gains": [round(dice.uniform(-0.3, 0.6), 3) for _ in range(turns)],
    }


cases = []
for size, gamma, weight, normalize in [(2, 0.95, 1.0, False), (4, 0.9, 0.5, True), (6, 1.0, 1.0, True), (8, 0.5, 2.0, False)]:
    episodes = [episode() for _ in range(size)]
    while len({one["reward"] for one in episodes}) < 2:
        episodes = [episode() for _ in range(size)]
    cases.append({
        "gamma": gamma, "stepWeight": weight, "normalize": normalize, "episodes": episodes,
        "gigpo": gigpo(episodes, gamma, weight, normalize), "igpo": igpo(episodes, gamma),
    })

print(json.dumps({"versions": {"torch": torch.__version__}, "cases": cases}))
