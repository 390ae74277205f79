"""The suite for methods passes a method of another package, and finds each duty that is broken."""

import sys
from pathlib import Path

import pytest
import torch
from torch.nn import functional as F

TOY = Path(__file__).parents[1] / "plugins" / "toy_method" / "src"
sys.path.insert(0, str(TOY))
from toy_method import network  # noqa: E402
from toy_method.settings import ToyConfig  # noqa: E402

from whatchanged.testing.methods import DUTIES, MethodCase, check_method  # noqa: E402
from whatchanged.vocabulary import PAD  # noqa: E402

sys.path.remove(str(TOY))
MODULES = dict(sys.modules)
CASE = MethodCase(ToyConfig(width=16))
ToyMean = network.ToyMean

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    """The package as it was imported above, whatever other tests did to it."""
    for name in ("toy_method", "toy_method.network", "toy_method.settings"):
        monkeypatch.setitem(sys.modules, name, MODULES[name])


def test_a_method_of_another_package_keeps_the_contract():
    check_method(CASE)


class Nameless(ToyMean):
    architecture = ""


class HalfGrouped(ToyMean):
    def parameter_groups(self):
        return [{"name": "method", "params": list(self.mix.parameters())}]


class TwiceGrouped(ToyMean):
    def parameter_groups(self):
        return [*super().parameter_groups(), {"name": "more", "params": [self.words.weight]}]


class Idle(ToyMean):
    """Has a parameter that nothing uses."""

    def __init__(self, *given):
        super().__init__(*given)
        self.idle = torch.nn.Parameter(torch.zeros(2))


class Overdeclared(ToyMean):
    def parameters_without_gradient(self, tasks):
        return super().parameters_without_gradient(tasks) | {"words.weight"}


class Forgetful(ToyMean):
    """Part of what it says is not in the checkpoint."""

    def __init__(self, *given):
        super().__init__(*given)
        self.secret = torch.randn(self.output.out_features)

    def step(self, memory, previous, position, cache):
        scores, *rest = super().step(memory, previous, position, cache)
        return (scores + self.secret).log_softmax(-1), *rest


class Stubborn(ToyMean):
    """Its loss has a gradient, and does not fall."""

    def _caption(self, batch):
        loss = super()._caption(batch)["toy-caption"]
        return {"toy-caption": 1 + loss - loss.detach()}


class Infinite(ToyMean):
    def _caption(self, batch):
        return {"toy-caption": super()._caption(batch)["toy-caption"] * torch.inf}


class CountsPads(ToyMean):
    def _caption(self, batch):
        return {"toy-caption": super()._caption(batch)["toy-caption"] * (batch.ids == PAD).double().mean()}


class Symmetric(ToyMean):
    """Does not know which picture came first."""

    def encode(self, before, after):
        forth, back = super().encode(before, after).pair, super().encode(after, before).pair
        return network.Memory(forth + back)


class Uncached(ToyMean):
    """Forgets the words before the last one."""

    def step(self, memory, previous, position, cache):
        scores, attention, said = super().step(memory, previous, position, {"words": cache["words"] * 0})
        return scores, attention, said


class Foreseeing(ToyMean):
    def caption_logits(self, before, after, ids):
        return super().caption_logits(before, after, ids) + F.one_hot(ids.roll(-1, 1), len(self.vocabulary))


class Unscaled(ToyMean):
    """Returns scores that are no log-probabilities."""

    def step(self, memory, previous, position, cache):
        scores, *rest = super().step(memory, previous, position, cache)
        return scores + 1, *rest


class Flat(ToyMean):
    """Returns attention to one picture alone."""

    def step(self, memory, previous, position, cache):
        scores, attention, grown = super().step(memory, previous, position, cache)
        return scores, attention[:, :1], grown


class WithoutTables(ToyMean):
    def word_tables(self):
        rows = range(len(self.vocabulary))
        return {"output.weight": rows, "output.bias": rows}


class FixedBatch(ToyMean):
    """Its graph would know the first two pairs alone."""

    def encode(self, before, after):
        first = super().encode(before, after).pair
        return network.Memory(
            first + first[: len(first)].sum() * 0 + torch.arange(int(first.shape[0]))[:, None]
        )


@pytest.mark.parametrize(
    ("broken", "duty", "message"),
    [
        (Nameless, "names", "architecture is empty"),
        (HalfGrouped, "groups", r"in no group: \['words.weight'"),
        (TwiceGrouped, "groups", "in two groups"),
        (Idle, "gradients", r"toy-caption: no gradient, not declared: \['idle'\]"),
        (Overdeclared, "gradients", r"declared, but a gradient: \['words.weight'\]"),
        (Forgetful, "checkpoint", "saved and loaded"),
        (Stubborn, "learning", "task toy-caption: the loss was 1.0000 and is 1.0000"),
        (Infinite, "learning", "a loss is not finite"),
        (CountsPads, "longer_captions", r"changes \['toy-caption'\], declared are \[\]"),
        (Symmetric, "order_of_pictures", r"changed places, and the memory stays: \['pair'\]"),
        (Uncached, "cache", "step 2"),
        (Foreseeing, "words_to_come", "words before position 1 change with what follows"),
        (Unscaled, "outputs", "probabilities sum to 1"),
        (Flat, "outputs", "attention has the shape"),
        (WithoutTables, "word_tables", "leaves out a tensor with a row for each word: .*words.weight"),
        (FixedBatch, "graphs", "the graphs do not run"),
    ],
)
def test_each_broken_duty_is_found(broken, duty, message, monkeypatch):
    monkeypatch.setattr(network, "ToyMean", broken)
    (check,) = [check for check in DUTIES if check.__name__ == f"check_{duty}"]
    with pytest.raises(AssertionError, match=message):
        check(CASE)


def test_every_duty_is_broken_once():
    names = {check.__name__.removeprefix("check_") for check in DUTIES}
    (cases,) = [mark for mark in test_each_broken_duty_is_found.pytestmark if mark.name == "parametrize"]
    assert {duty for _, duty, _ in cases.args[1]} == names
