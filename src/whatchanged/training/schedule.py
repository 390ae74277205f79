"""The optimiser of a stage, and the learning rate at each step s of the stage, counted from 0."""

import math
from typing import Any

import torch

from whatchanged.errors import RecipeError
from whatchanged.recipes.schema import StageConfig
from whatchanged.training.bert_adam import BertAdam
from whatchanged.training.methods import Method

HALVINGS = (10_000, 20_000)
"""The steps at which PCL's released fine-tuning halves the learning rate."""

FLOOR = 1e-8
"""The learning rate that replaces a rate of exactly zero. This is also the least rate of a cosine schedule.
"""


def learning_rate(stage: StageConfig, step: int) -> float:
    """Return the learning rate at step ``step`` of the stage. W = warmup, S = steps.

    constant:     lr                                       after the ramp
    halving:      lr, lr/2 from step 10,000, lr/4 from step 20,000
    inverse_sqrt: lr * s/W up to s = W, then lr * sqrt(W/s); a rate of 0 becomes 1e-8
    stairs:       lr / 10^⌊(s + stair - f) / stair⌋        after the ramp; f = first_stair, 0: stair
    cosine:       lr * (1 + cos(pi (s - W) / (S - W))) / 2   after the ramp; at least 1e-8
    ramp (constant, halving, cosine, stairs): lr * (s + 1)/W while s < W
    warmup_linear: lr * s/W while s < W, then lr * (S - s) / (S - W)
    warmup_cosine: lr * s/W while s < W, then lr * (1 + cos(pi s / S)) / 2, which jumps down at s = W

    Sources. PCL's released code: inverse_sqrt (pre-training, W = 8,000) and halving (fine-tuning).
    SCORER's released code: stairs, where a stair has the steps of 15 passes. DUDA's released code counts a
    pass when the pass begins, so the first stair has 14 passes. CLIP4IDC's released code
    (modules/optimization.py): warmup_*, whose rate at step 0 is 0.
    """
    s, warmup = step, stage.warmup
    if stage.schedule in ("warmup_linear", "warmup_cosine"):
        if s < warmup:
            return stage.lr * s / warmup
        if stage.schedule == "warmup_cosine":
            return stage.lr * (1 + math.cos(math.pi * s / stage.steps)) / 2
        return stage.lr * (stage.steps - s) / max(1, stage.steps - warmup)
    if stage.schedule == "inverse_sqrt":
        rate = stage.lr * (s / warmup if s <= warmup else math.sqrt(warmup / s))
        return rate if rate > 0 else FLOOR
    if s < warmup:
        return stage.lr * (s + 1) / warmup
    if stage.schedule == "halving":
        halvings = sum(s >= start for start in HALVINGS)
        return stage.lr * 0.5**halvings
    if stage.schedule == "stairs":
        early = stage.stair - stage.first_stair if stage.first_stair else 0
        return stage.lr * 0.1 ** ((s + early) // stage.stair)
    if stage.schedule == "cosine":
        progress = (s - warmup) / max(1, stage.steps - warmup)
        return max(FLOOR, stage.lr * (1 + math.cos(math.pi * progress)) / 2)
    return stage.lr


def make_optimizer(method: Method, stage: StageConfig) -> torch.optim.Optimizer:
    """Return Adam (L2 decay), AdamW or BertAdam over ``trained_groups``. All other parameters stop requiring
    gradients.
    """
    groups = trained_groups(method, stage)
    trained = {parameter for group in groups for parameter in group["params"]}
    for parameter in method.parameters():
        parameter.requires_grad_(parameter in trained)
        parameter.grad = parameter.grad if parameter in trained else None  # an earlier stage's last
    betas, decay = (0.9, stage.beta2), stage.weight_decay
    if stage.optimizer == "bert_adam":
        return BertAdam(groups, lr=stage.lr, betas=betas, eps=1e-6, weight_decay=decay)
    kind = torch.optim.AdamW if stage.optimizer == "adamw" else torch.optim.Adam
    return kind(groups, lr=stage.lr, betas=betas, eps=1e-8, weight_decay=decay)


def fill_unused_gradients(optimizer: torch.optim.Optimizer) -> None:
    """Set missing gradients to zeros in parameter groups with "moves_when_idle".

    Only parameters that the optimiser has updated before get zeros. The optimiser stores moments for exactly
    these parameters, so a resumed run finds the same parameters.
    """
    for group in optimizer.param_groups:
        if not group.get("moves_when_idle", False):
            continue
        for parameter in group["params"]:
            if parameter.grad is None and parameter in optimizer.state:
                parameter.grad = torch.zeros_like(parameter)


def trained_groups(method: Method, stage: StageConfig) -> list[dict[str, Any]]:
    """Return the parameter groups that the stage trains, each group with its ``rate``.

    A stage does not train a group called "frozen", a group whose rate is 0, or "vision" without
    ``train_vision``. Raises RecipeError where ``stage.rates`` has a group that the method does not have, or
    where no group is left to train.
    """
    results = method.parameter_groups()
    names = dict.fromkeys(group["name"] for group in results)
    for name in stage.rates:
        if name not in names:
            raise RecipeError(
                f"stage.{stage.name}.rates: there is no parameter group {name!r}. Choose among:"
                f" {', '.join(names)}."
            )
    groups = []
    for group in results:
        rate, name = stage.rates.get(group["name"], 1.0), group["name"]
        if rate > 0 and name != "frozen" and (stage.train_vision or name != "vision"):
            groups.append({**group, "rate": rate})
    if not groups:
        raise RecipeError(
            f"stage.{stage.name}: nothing is left to train (parameter groups: {', '.join(names)})."
            " Give one of them a rate above 0, or leave out the stage."
        )
    return groups
