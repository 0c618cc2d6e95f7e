"""Writes curves to test-fixtures/interop/ as the trainers themselves do. Needs transformers, verl and orjson (no torch).

    python3 scripts/golden/curves.py
"""

import importlib.util
import math
import os
import pathlib
import types

from transformers.trainer_callback import TrainerState

folder = pathlib.Path(__file__).resolve().parents[2] / "test-fixtures" / "interop"

# What TRL's GRPOTrainer logs of two steps, an evaluation, and the summary; a loss that diverged is written as NaN.
TrainerState(
    epoch=1.0,
    global_step=2,
    max_steps=2,
    log_history=[
        {"loss": 0.25, "grad_norm": 1.5, "learning_rate": 1e-6, "reward": 0.5, "reward_std": 0.25, "kl": 0.0, "epoch": 0.5, "step": 1},
        {"loss": math.nan, "grad_norm": math.inf, "reward": 0.625, "reward_std": 0.125, "epoch": 1.0, "step": 2},
        {"eval_reward": 0.75, "eval_runtime": 3.5, "epoch": 1.0, "step": 2},
        {"train_runtime": 12.5, "train_loss": 0.1, "total_flos": 0.0, "epoch": 1.0, "step": 2},
    ],
).save_to_json(os.path.join(folder, "trainer_state.json"))

# The logger alone: the package around it wants torch and Ray.
place = os.path.join(os.path.dirname(importlib.util.find_spec("verl").origin), "utils", "tracking.py")
source = open(place).read()
start = source.index("class FileLogger")
module = types.ModuleType("tracking")
exec("import os\nimport orjson\n" + source[start : source.index("\nclass ", start + 1)], module.__dict__)
os.environ["VERL_FILE_LOGGER_PATH"] = os.path.join(folder, "verl-log.jsonl")
logger = module.FileLogger("project", "experiment")
logger.log({"critic/rewards/mean": 0.5, "actor/kl_loss": 0.001, "training/global_step": 1, "note": "text"}, step=1)
logger.log({"critic/rewards/mean": 0.75, "actor/kl_loss": math.nan}, step=2)
logger.finish()
