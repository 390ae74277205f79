import itertools
import math
from dataclasses import replace

import pytest
import torch

from whatchanged.errors import RecipeError
from whatchanged.recipes import StageConfig
from whatchanged.training.bert_adam import BertAdam
from whatchanged.training.schedule import learning_rate, make_optimizer

STAGE = StageConfig("s", {"mlm": 1.0}, steps=250_000, batch=200, lr=1e-4)


@pytest.mark.parametrize(
    ("step", "rate"),
    [
        (0, 1e-8),
        (1, 1.25e-8),
        (4000, 5e-5),
        (8000, 1e-4),
        (16000, 7.0710678e-5),
        (32000, 5e-5),
        (250_000, 1.7888544e-5),
    ],
)
def test_pretraining_rate_is_the_published_one(step, rate):
    stage = replace(STAGE, schedule="inverse_sqrt", warmup=8000)
    assert learning_rate(stage, step) == pytest.approx(rate, rel=1e-7)


def test_birds_pretraining_ends_at_its_published_rate():
    stage = replace(STAGE, schedule="inverse_sqrt", warmup=4000)
    assert learning_rate(stage, 60_000) == pytest.approx(2.582e-5, rel=1e-4)


@pytest.mark.parametrize(
    ("step", "rate"),
    [(0, 3e-5), (9_999, 3e-5), (10_000, 1.5e-5), (19_999, 1.5e-5), (20_000, 7.5e-6), (99_999, 7.5e-6)],
)
def test_fine_tuning_rate_halves_twice(step, rate):
    assert learning_rate(replace(STAGE, lr=3e-5, schedule="halving"), step) == pytest.approx(rate, rel=1e-12)


def test_cosine_rises_to_its_peak_and_falls_to_nearly_nothing():
    stage = replace(STAGE, steps=110, lr=1.0, schedule="cosine", warmup=10)
    rates = [learning_rate(stage, s) for s in range(110)]
    assert rates[:10] == pytest.approx([0.1 * (s + 1) for s in range(10)])
    assert rates[60] == pytest.approx(0.5)
    assert rates[109] == pytest.approx((1 + math.cos(math.pi * 0.99)) / 2)
    assert all(a >= b for a, b in itertools.pairwise(rates[10:]))


def test_a_cosine_does_not_fall_below_its_floor():
    """Without the floor the last rate of these would be 2.5e-12."""
    stage = replace(STAGE, steps=10_000, schedule="cosine")
    assert learning_rate(stage, 9_999) == 1e-8 < learning_rate(stage, 9_000)


def test_constant_is_constant_after_its_ramp():
    assert [learning_rate(replace(STAGE, warmup=2), s) for s in range(4)] == [5e-5, 1e-4, 1e-4, 1e-4]


@pytest.mark.parametrize(
    ("schedule", "rates"),
    [("warmup_linear", [0, 0.5, 1, 0.555556, 0]), ("warmup_cosine", [0, 0.5, 0.975528, 0.5, 0])],
)
def test_clip4idc_rates_rise_from_zero_and_fall_to_zero(schedule, rates):
    """At 0, 5, 10, 50, 100 % of the steps, a tenth of them warm-up; the cosine jumps where it ends."""
    stage = replace(STAGE, steps=1000, lr=1.0, schedule=schedule, warmup=100)
    results = [learning_rate(stage, step) for step in (0, 50, 100, 500, 1000)]
    assert results == pytest.approx(rates, abs=1e-6)
    assert learning_rate(stage, 99) == pytest.approx(0.99)


def test_stairs_are_the_released_scorers():
    """A pass of 33,830 scenes in batches of 128 is 265 steps; a tenth is left after every 15 passes."""
    stage = replace(STAGE, lr=2e-4, schedule="stairs", stair=15 * math.ceil(33_830 / 128))
    rates = [learning_rate(stage, step) for step in (0, 3974, 3975, 7949, 7950, 10_069)]
    assert rates == pytest.approx([2e-4, 2e-4, 2e-5, 2e-5, 2e-6, 2e-6])


class TwoParts(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.eye, self.mouth = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)

    def parameter_groups(self):
        return [
            {"name": "vision", "params": list(self.eye.parameters())},
            {"name": "method", "params": list(self.mouth.parameters())},
        ]


def test_a_frozen_vision_is_not_in_the_optimiser_and_thaws_in_the_next_stage():
    method = TwoParts()
    frozen = make_optimizer(method, replace(STAGE, train_vision=False))
    assert [group["name"] for group in frozen.param_groups] == ["method"]
    assert not any(p.requires_grad for p in method.eye.parameters())
    thawed = make_optimizer(method, STAGE)
    assert [group["name"] for group in thawed.param_groups] == ["vision", "method"]
    assert all(p.requires_grad for p in method.parameters())


def test_adam_takes_l2_decay_and_adamw_is_asked_for_by_name():
    adam = make_optimizer(TwoParts(), replace(STAGE, weight_decay=1e-4))
    assert type(adam) is torch.optim.Adam
    assert adam.defaults["betas"] == (0.9, 0.999) and adam.defaults["eps"] == 1e-8
    assert adam.param_groups[0]["weight_decay"] == 1e-4
    assert type(make_optimizer(TwoParts(), replace(STAGE, optimizer="adamw"))) is torch.optim.AdamW


def test_rates_by_group_scale_or_still_it():
    method = TwoParts()
    scaled = make_optimizer(method, replace(STAGE, rates={"vision": 1e-3}))
    assert [(group["name"], group["rate"]) for group in scaled.param_groups] == [
        ("vision", 1e-3),
        ("method", 1),
    ]
    still = make_optimizer(method, replace(STAGE, rates={"vision": 0}))
    assert [group["name"] for group in still.param_groups] == ["method"]
    assert not any(p.requires_grad for p in method.eye.parameters())
    with pytest.raises(RecipeError, match=r"no parameter group 'eyes'. Choose among: vision, method"):
        make_optimizer(method, replace(STAGE, rates={"eyes": 1.0}))


def test_bert_adam_is_asked_for_by_name_with_its_second_beta():
    optimizer = make_optimizer(
        TwoParts(), replace(STAGE, optimizer="bert_adam", beta2=0.98, weight_decay=0.2)
    )
    assert type(optimizer) is BertAdam
    assert optimizer.defaults == {"lr": 1e-4, "betas": (0.9, 0.98), "eps": 1e-6, "weight_decay": 0.2}


def test_a_frozen_group_is_never_trained():
    model = TwoParts()
    frozen = [{"name": "frozen", "params": list(model.eye.parameters())}, model.parameter_groups()[1]]
    model.parameter_groups = lambda: frozen
    optimizer = make_optimizer(model, STAGE)
    assert [group["name"] for group in optimizer.param_groups] == ["method"]
    assert [p.requires_grad for p in model.eye.parameters()] == [False, False]


def test_what_a_stage_freezes_loses_its_gradient():
    model = TwoParts()
    make_optimizer(model, STAGE)
    model.mouth(model.eye(torch.ones(1, 2))).sum().backward()
    make_optimizer(model, replace(STAGE, train_vision=False))
    assert model.eye.weight.grad is None and model.mouth.weight.grad is not None
