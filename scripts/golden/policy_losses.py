"""Golden data for src/trainer/algorithm/policyLosses.test.ts: losses and advantages of TRL and verl, by their own functions,
with gradients by autograd in double precision.

Run where torch, trl 1.16 and verl 0.9 can be imported (verl's ray is not needed and is left out):
    python scripts/golden/policy_losses.py > src/trainer/algorithm/golden/policyLosses.json
"""

import importlib.machinery
import json
import sys
from collections import defaultdict
from types import SimpleNamespace
from unittest.mock import MagicMock

import numpy as np
import torch

for name in ["ray", "ray.experimental", "ray.experimental.state", "ray.util", "ray.util.placement_group",
             "ray.util.scheduling_strategies", "ray.data", "ray.actor"]:
    module = MagicMock()
    module.__spec__, module.__path__ = importlib.machinery.ModuleSpec(name, None), []
    sys.modules[name] = module

import trl
import verl
from trl.trainer.grpo_trainer import GRPOTrainer
from verl.trainer.config import AlgoConfig
from verl.trainer.ppo import core_algos
from verl.trainer.ppo.rollout_corr_helper import compute_rollout_correction_weights
from verl.workers.config import ActorConfig

torch.manual_seed(11)
torch.set_default_dtype(torch.float64)

GROUP, TIME, HORIZON = 4, 7, 20


def exact(tensor):
    """The same number in float32 and float64."""
    return tensor.float().double()


mask = (torch.rand(GROUP, TIME) < 0.7).double()
mask[:, 2] = 1
old = exact(-3 * torch.rand(GROUP, TIME))
logps = exact(old + 0.4 * torch.randn(GROUP, TIME))
# One ratio that only dual clip cuts: its trajectory's advantage is negative.
logps[1, 2] = exact(old[1, 2] + 1.5)
reference = exact(old + 0.3 * torch.randn(GROUP, TIME))
sampler = exact(old + 0.4 * torch.randn(GROUP, TIME))
entropies = exact(2 * torch.rand(GROUP, TIME))
rewards = exact(torch.tensor([1.0, 0.1, 0.4, 0.75]))
advantages = (rewards - rewards.mean()) / (rewards.std() + 1e-4)


def rounded(value):
    if isinstance(value, torch.Tensor):
        value = value.tolist()
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return float(f"{value:.10g}") if isinstance(value, float) else value


def case(source, loss, compute, **options):
    leaf, entropy = logps.clone().requires_grad_(True), entropies.clone().requires_grad_(True)
    value = compute(leaf, entropy)
    value.backward()
    return {
        "source": source,
        "loss": loss,
        **options,
        "value": rounded(value.item()),
        "gradient": rounded(leaf.grad),
        "entropyGradient": rounded(entropy.grad if entropy.grad is not None else torch.zeros_like(entropies)),
    }


class Identity:
    """An accelerator of one process."""

    num_processes, sync_gradients = 1, True

    def gather(self, value):
        return value

    def reduce(self, value, reduction):
        return value


def trl_loss(loss_type, level="token", low=0.2, high=0.28, beta=0.0, delta=None, entropy_coef=0.0, weights=None):
    def compute(leaf, entropy):
        trainer = SimpleNamespace(
            _get_per_token_logps_and_entropies=lambda *_, **__: (leaf, entropy, None),
            aux_loss_enabled=False, top_entropy_quantile=1.0, off_policy_mask_threshold=None,
            importance_sampling_level=level, beta=beta, loss_type=loss_type, epsilon_low=low, epsilon_high=high,
            args=SimpleNamespace(use_bias_correction_kl=False, delta=delta, steps_per_generation=1),
            use_vllm=weights is not None, vllm_importance_sampling_correction=weights is not None,
            model=SimpleNamespace(training=True), max_completion_length=HORIZON,
            current_gradient_accumulation_steps=1, accelerator=Identity(),
            _entropy_bonus_enabled=entropy_coef != 0, use_adaptive_entropy=False, entropy_coef=entropy_coef,
            _metrics=defaultdict(lambda: defaultdict(list)),
        )
        inputs = {
            "prompt_ids": torch.zeros(GROUP, 1), "prompt_mask": torch.ones(GROUP, 1),
            "completion_ids": torch.zeros(GROUP, TIME), "completion_mask": mask,
            "advantages": advantages, "old_per_token_logps": old, "ref_per_token_logps": reference,
            "importance_sampling_ratio": weights, "num_items_in_batch": mask.sum(),
        }
        return GRPOTrainer._compute_loss(trainer, None, inputs)

    return compute


def trl_weights(mode, low, high):
    """Copied from GRPOTrainer._generate_and_score_completions, where it stands in line."""
    difference = (old - sampler) * mask
    if mode.startswith("sequence"):
        difference = difference.sum(dim=-1, keepdim=True)
    ratio = torch.exp(difference)
    if mode.endswith("truncate"):
        return torch.clamp(ratio, min=low, max=high)
    return ratio.masked_fill((ratio < low) | (ratio > high), value=0.0)


def verl_loss(name, aggregation, low=0.2, high=0.28, dual=1e9, beta=0.0, kl="k3", entropy_coef=0.0, weights=None):
    config = ActorConfig(strategy="fsdp", rollout_n=1, ppo_micro_batch_size_per_gpu=1, clip_ratio_low=low,
                         clip_ratio_high=high, clip_ratio_c=dual)
    if aggregation == "seq-mean-token-sum-norm":
        config.global_batch_info["loss_scale_factor"] = HORIZON

    def compute(leaf, entropy):
        aggregate = lambda each: core_algos.agg_loss(each, mask, aggregation, **config.global_batch_info)
        value, _ = core_algos.get_policy_loss_fn(name)(
            old, leaf, advantages[:, None].expand(GROUP, TIME), mask, aggregation, config, weights)
        if entropy_coef:
            value = value - entropy_coef * aggregate(entropy)
        if beta:
            value = value + beta * aggregate(core_algos.kl_penalty(leaf, reference, kl))
        return value

    return compute


losses = [
    case("trl", "grpo", trl_loss("grpo", beta=0.04), klCoefficient=0.04),
    case("trl", "dr-grpo", trl_loss("dr_grpo", beta=0.04), klCoefficient=0.04),
    case("trl", "dapo", trl_loss("dapo", delta=3.0, entropy_coef=0.05), dualClip=3, entropyCoefficient=0.05),
    case("trl", "gspo", trl_loss("grpo", level="sequence", low=0.05, high=0.05, beta=0.04), clipLow=0.05, clipHigh=0.05,
         klCoefficient=0.04),
    case("trl", "cispo", trl_loss("cispo", high=1.2), clipLow=1, clipHigh=0.2),
    case("verl", "grpo", verl_loss("vanilla", "seq-mean-token-mean", dual=3, beta=0.1, kl="k1", entropy_coef=0.05),
         dualClip=3, klCoefficient=0.1, klEstimator="k1", entropyCoefficient=0.05),
    case("verl", "dr-grpo", verl_loss("vanilla", "seq-mean-token-sum-norm", beta=0.1, kl="k2", entropy_coef=0.05),
         klCoefficient=0.1, klEstimator="k2", entropyCoefficient=0.05),
    case("verl", "dapo", verl_loss("vanilla", "token-mean", dual=2.5, beta=0.1, kl="k3"), dualClip=2.5, klCoefficient=0.1,
         klEstimator="k3"),
    case("verl", "gspo", verl_loss("gspo", "seq-mean-token-mean", low=0.03, high=0.04), clipLow=0.03, clipHigh=0.04),
    case("verl", "cispo", verl_loss("cispo", "token-mean", low=0.3), clipLow=0.3),
]
for mode in ["token-truncate", "token-mask", "sequence-truncate", "sequence-mask"]:
    weights = trl_weights(mode, 0.7, 1.3)
    losses.append(case("trl", "dapo", trl_loss("dapo", beta=0.04, weights=weights), klCoefficient=0.04,
                       importanceCorrection=mode, importanceLow=0.7, importanceHigh=1.3))
for level in ["token", "sequence"]:
    for kind, threshold in [("truncate", 1.3), ("mask", "0.7_1.3")]:
        weights, _ = compute_rollout_correction_weights(old - sampler, mask, level, threshold)
        losses.append(case("verl", "gspo", verl_loss("gspo", "seq-mean-token-mean", low=0.5, high=0.5, weights=weights),
                           clipLow=0.5, clipHigh=0.5, importanceCorrection=f"{level}-{kind}",
                           importanceLow=0.7 if kind == "mask" else 0, importanceHigh=1.3))

groups = np.array([0, 0, 0, 1, 1, 1])
outcome = exact(torch.tensor([1.0, 0.0, 0.3, 0.2, 0.9, 0.4]))
lengths_mask = (torch.rand(6, TIME) < 0.7).double()
lengths_mask[:, -1] = 1
# Each outcome is given at the last token, whose mask is 1.
penalties = exact(0.1 * torch.rand(6, TIME)) * lengths_mask
token_rewards = -penalties
token_rewards[:, -1] += outcome
values = exact(torch.rand(6, TIME))
arguments = dict(token_level_rewards=token_rewards, response_mask=lengths_mask, index=groups)
outcome_only = dict(token_level_rewards=torch.cat([torch.zeros(6, TIME - 1), outcome[:, None]], 1),
                    response_mask=lengths_mask, index=groups)
gae_advantages, gae_returns = core_algos.compute_gae_advantage_return(
    token_rewards, values, lengths_mask, torch.tensor(0.97), torch.tensor(0.9))


def estimated(function, **kwargs):
    return rounded(function(**kwargs)[0])


vpreds = exact(values + 0.4 * torch.randn(6, TIME)).requires_grad_(True)
value_loss, value_clipped = core_algos.compute_value_loss(vpreds, exact(gae_returns), values, lengths_mask, 0.2)
value_loss.backward()

advantage_cases = {
    "groups": groups.tolist(),
    "rewards": rounded(outcome),
    "mask": lengths_mask.int().tolist(),
    "penalties": rounded(penalties),
    "grpo": estimated(core_algos.compute_grpo_outcome_advantage, epsilon=1e-4, **arguments),
    "drGrpo": estimated(core_algos.compute_grpo_outcome_advantage, norm_adv_by_std_in_grpo=False, **arguments),
    "rloo": estimated(core_algos.compute_rloo_outcome_advantage, **arguments),
    "reinforcePlusPlus": estimated(core_algos.compute_reinforce_plus_plus_outcome_advantage, config=AlgoConfig(gamma=1.0),
                                   token_level_rewards=token_rewards, response_mask=lengths_mask),
    "reinforcePlusPlusBaseline": estimated(core_algos.compute_reinforce_plus_plus_baseline_outcome_advantage, **outcome_only),
    "gae": {"gamma": 0.97, "lambda": 0.9, "values": rounded(values), "whitened": rounded(gae_advantages * lengths_mask),
            "returns": rounded(gae_returns)},
    "value": {"clip": 0.2, "predicted": rounded(vpreds), "returns": rounded(exact(gae_returns)), "loss": rounded(value_loss.item()),
              "gradient": rounded(vpreds.grad), "clippedFraction": rounded(value_clipped.item())},
}

print(json.dumps({
    "versions": {"torch": torch.__version__, "trl": trl.__version__, "verl": verl.__version__},
    "batch": {"mask": mask.int().tolist(), "logprobs": rounded(logps), "oldLogprobs": rounded(old),
              "referenceLogprobs": rounded(reference), "samplerLogprobs": rounded(sampler), "entropies": rounded(entropies),
              "rewards": rounded(rewards), "horizon": HORIZON, "clipLow": 0.2, "clipHigh": 0.28},
    "losses": losses,
    "advantages": advantage_cases,
}))
