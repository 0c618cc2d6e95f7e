"""Golden data for src/trainer/algorithm/grpo.test.ts: TRL's GRPO loss (loss_type='grpo', importance_sampling_level='token')
written out in torch, with its gradient by autograd. Run: python scripts/golden/grpo.py > src/trainer/algorithm/golden/grpo.json

Formula: trl/trainer/grpo_trainer.py, `_generate_and_score_completions` (advantages) and `_compute_loss`.
"""

import json

import torch

torch.manual_seed(7)
cases = []
for group_size, clip_low, clip_high, beta in [(4, 0.2, 0.2, 0.0), (8, 0.2, 0.28, 0.04), (3, 0.1, 0.5, 1.0), (5, 0.2, 0.2, 0.02)]:
    time = 12
    mask = (torch.rand(group_size, time) < 0.6).long()
    mask[:, 3] = 1
    rewards = torch.rand(group_size).double()
    old = -3 * torch.rand(group_size, time).double()
    reference = old + 0.3 * torch.randn(group_size, time).double()
    logps = (old + 0.3 * torch.randn(group_size, time).double()).float().double().requires_grad_(True)
    old, reference = old.float().double(), reference.float().double()

    advantages = (rewards - rewards.mean()) / (rewards.std() + 1e-4)
    log_ratio = logps - old
    coef_1 = torch.exp(log_ratio)
    coef_2 = torch.clamp(coef_1, 1 - clip_low, 1 + clip_high)
    per_token_loss = -torch.min(coef_1 * advantages[:, None], coef_2 * advantages[:, None])
    per_token_kl = torch.exp(reference - logps) - (reference - logps) - 1
    if beta != 0.0:
        per_token_loss = per_token_loss + beta * per_token_kl
    loss = ((per_token_loss * mask).sum(-1) / mask.sum(-1).clamp(min=1.0)).mean()
    loss.backward()

    is_low = (coef_1 < 1 - clip_low) & (advantages[:, None] < 0)
    is_high = (coef_1 > 1 + clip_high) & (advantages[:, None] > 0)
    cases.append(
        {
            "clipLow": clip_low,
            "clipHigh": clip_high,
            "klCoefficient": beta,
            "rewards": rewards.tolist(),
            "mask": mask.tolist(),
            "logprobs": logps.tolist(),
            "oldLogprobs": old.tolist(),
            "referenceLogprobs": reference.tolist(),
            "advantages": advantages.tolist(),
            "loss": loss.item(),
            "gradient": logps.grad.tolist(),
            "clipped": ((is_low | is_high) * mask).sum().item(),
            "kl": (per_token_kl * mask).sum().item(),
        }
    )
print(json.dumps({"torch": torch.__version__, "cases": cases}))
