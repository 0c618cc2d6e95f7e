"""Golden data for src/trainer/algorithm/preference.test.ts: DPO, IPO, KTO, ORPO and SimPO by TRL's own functions, with gradients
by autograd in double precision (ORPO: TRL computes the odds in single precision).

Run where torch and trl 1.16 can be imported:
    python scripts/golden/preference_losses.py > src/trainer/algorithm/golden/preferenceLosses.json
"""

import json
from collections import defaultdict
from types import SimpleNamespace

import torch
import trl
from trl.experimental.cpo import CPOTrainer
from trl.experimental.orpo import ORPOTrainer
from trl.trainer.dpo_trainer import DPOTrainer
from trl.trainer.kto_trainer import KTOTrainer

torch.manual_seed(5)
torch.set_default_dtype(torch.float64)

PAIRS, TIME = 3, 6


def exact(tensor):
    """The same number in float32 and float64."""
    return tensor.float().double()


# Chosen sequences first, then rejected ones. TRL drops the first position, which nothing predicts.
mask = (torch.rand(2 * PAIRS, TIME) < 0.6).long()
mask[:, 0], mask[:, 3] = 0, 1
logps = exact(-2 * torch.rand(2 * PAIRS, TIME))
reference = exact(logps + 0.5 * torch.randn(2 * PAIRS, TIME))
mismatched = exact(-2 * torch.rand(2 * PAIRS, TIME))
mismatched_reference = exact(mismatched - 0.3 * torch.rand(2 * PAIRS, TIME))


class Identity:
    """An accelerator of one process."""

    device = torch.device("cpu")

    def gather(self, value):
        return value

    gather_for_metrics = gather


def outputs(values):
    zeros = torch.zeros_like(values)[:, 1:]
    return SimpleNamespace(log_probs=(values * mask)[:, 1:], entropy=zeros, mean_logits=zeros, is_top1=zeros.bool())


def trainer(**attributes):
    return SimpleNamespace(
        model=SimpleNamespace(training=False, is_gradient_checkpointing=False), accelerator=Identity(), aux_loss_enabled=False, precompute_ref_logps=False,
        args=SimpleNamespace(gradient_checkpointing_kwargs=None), ref_model=lambda **_: outputs(reference), _total_train_tokens=0,
        _metrics=defaultdict(lambda: defaultdict(list)), **attributes)


def rounded(value):
    if isinstance(value, torch.Tensor):
        value = value.tolist()
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return float(f"{value:.10g}") if isinstance(value, float) else value


def case(compute, **options):
    leaf = logps.clone().requires_grad_(True)
    value = compute(leaf)
    value.backward()
    return {**options, "value": rounded(value.item()), "gradient": rounded(leaf.grad)}


def dpo(loss_type, beta):
    def compute(leaf):
        self = trainer(beta=beta, loss_types=[loss_type], loss_weights=[1.0], ld_alpha=None, f_divergence_type="reverse_kl",
                       use_weighting=False)
        inputs = {"input_ids": torch.zeros(2 * PAIRS, TIME, dtype=torch.long), "completion_mask": mask,
                  "attention_mask": torch.ones(2 * PAIRS, TIME)}
        return DPOTrainer._compute_loss(self, lambda **_: outputs(leaf), inputs, False)

    return compute


def kto(beta, desirable, undesirable):
    def compute(leaf):
        self = trainer(beta=beta, loss_type="kto", calculate_KL=True, desirable_weight=desirable, undesirable_weight=undesirable)
        self._compute_kl_logps = lambda model, batch: (
            ((mismatched_reference if model is self.ref_model else mismatched) * mask)[:, 1:].sum(-1))
        inputs = {"input_ids": torch.zeros(2 * PAIRS, TIME, dtype=torch.long), "completion_mask": mask,
                  "attention_mask": torch.ones(2 * PAIRS, TIME), "label": torch.tensor([1] * PAIRS + [0] * PAIRS)}
        return KTOTrainer._compute_loss(self, lambda **_: outputs(leaf), inputs, False)

    return compute


def means(leaf):
    return ((leaf * mask).sum(-1) / mask.sum(-1)).chunk(2)


def simpo(beta, gamma):
    self = trainer(beta=beta, simpo_gamma=gamma, loss_type="simpo", alpha=0.0, label_smoothing=0.0)
    return lambda leaf: CPOTrainer.cpo_loss(self, *means(leaf))[0].mean()


def orpo(beta):
    """TRL's odds ratio; the imitation term is the paper's (TRL's own takes the prompt in as well)."""

    def compute(leaf):
        chosen, rejected = means(leaf)
        return (-chosen - ORPOTrainer.odds_ratio_loss(trainer(beta=beta), chosen, rejected)[0]).mean()

    return compute


print(json.dumps({
    "versions": {"torch": torch.__version__, "trl": trl.__version__},
    "mask": mask.tolist(), "logprobs": rounded(logps), "referenceLogprobs": rounded(reference),
    "mismatched": {"logprobs": rounded(mismatched), "referenceLogprobs": rounded(mismatched_reference)},
    "dpo": case(dpo("sigmoid", 0.3), beta=0.3),
    "ipo": case(dpo("ipo", 0.4), beta=0.4),
    "simpo": case(simpo(2.0, 0.5), beta=2.0, gamma=0.5),
    "orpo": case(orpo(0.1), **{"lambda": 0.1}),
    "kto": case(kto(0.3, 1.0, 1.3), beta=0.3, desirableWeight=1.0, undesirableWeight=1.3),
}))
