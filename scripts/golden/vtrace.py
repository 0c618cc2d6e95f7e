"""Golden data for src/trainer/algorithm/critic.test.ts: V-trace by DeepMind's RLax, in double precision.

Run where rlax 0.1 (and jax) can be imported:
    python scripts/golden/vtrace.py > src/trainer/algorithm/golden/vtrace.json

RLax cuts the trace at 1. Where lambda is below 1 its advantages bootstrap from lambda v_s + (1 - lambda) V_s and not from v_s as
the paper and we do, so there only the targets are kept.
"""

import os

os.environ["JAX_ENABLE_X64"] = "1"
os.environ["JAX_PLATFORMS"] = "cpu"

import json

import jax
import numpy as np
import rlax

random = np.random.default_rng(7)


def exact(values):
    """The same number in float32 and float64."""
    return values.astype(np.float32).astype(np.float64)


def rounded(values):
    return [float(f"{value:.12g}") for value in np.asarray(values)]


cases = []
for length, gamma, lam, rho_bar, bootstrap in [
    (1, 1.0, 1.0, 1.0, 0.0),
    (6, 0.9, 1.0, 1.0, 0.5),
    (9, 1.0, 1.0, 1.5, 0.0),
    (9, 0.95, 1.0, 0.7, -1.0),
    (12, 0.99, 0.9, 1.2, 0.25),
    (7, 0.5, 0.0, 2.0, 1.0),
]:
    rewards = exact(random.normal(size=length))
    values = exact(random.normal(size=length))
    log_ratios = exact(0.8 * random.normal(size=length))
    next_values = np.append(values[1:], bootstrap)
    out = rlax.vtrace_td_error_and_advantage(
        values, next_values, rewards, np.full(length, gamma), np.exp(log_ratios), np.full(length, lam),
        clip_rho_threshold=rho_bar, clip_pg_rho_threshold=rho_bar)
    assert out.errors.dtype == np.float64
    cases.append({
        "gamma": gamma, "lambda": lam, "rhoBar": rho_bar, "bootstrap": bootstrap,
        "rewards": rounded(rewards), "values": rounded(values), "logRatios": rounded(log_ratios),
        "targets": rounded(values + out.errors),
        "advantages": rounded(out.pg_advantage) if lam == 1 else None,
    })

print(json.dumps({"versions": {"rlax": rlax.__version__, "jax": jax.__version__}, "cases": cases}, indent=1))
