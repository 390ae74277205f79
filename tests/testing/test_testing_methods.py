"""The suite for methods passes a method of another package, and finds each duty that is broken."""

import re
import sys
from pathlib import Path
from types import MappingProxyType

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


class InPlace(ToyMean):
    """Writes into the state that it was given."""

    def step(self, memory, previous, position, cache):
        cache["words"] += 1
        return super().step(memory, previous, position, cache)


class Undeclared(ToyMean):
    growing_axes = MappingProxyType({"words": ()})


class Renaming(ToyMean):
    def step(self, memory, previous, position, cache):
        scores, attention, grown = super().step(
            memory, previous, position, {"words": next(iter(cache.values()))}
        )
        return scores, attention, {"said": grown["words"]}


class PairsBehind(ToyMean):
    def first_cache(self, memory):
        return {"words": super().first_cache(memory)["words"].transpose(0, 1)}


class RemembersPairs(ToyMean):
    """What it says of a pair depends on the number of the pair, which a search changes."""

    def step(self, memory, previous, position, cache):
        scores, *rest = super().step(memory, previous, position, cache)
        number = torch.arange(len(previous))[:, None] * F.one_hot(torch.tensor(3), scores.shape[1])
        return (scores + number).log_softmax(-1), *rest


class OfOtherShape(ToyMean):
    """torch itself fails in its loss."""

    def _caption(self, batch):
        logits = self.caption_logits(batch.before, batch.after, batch.ids)
        return {"toy-caption": logits.masked_fill(batch.ids[:, 1:, None] == PAD, 0.0).mean()}


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
        (InPlace, "state", r"a step changes the state that it was given: \['words'\]"),
        (Undeclared, "state", r"so \(3,\) of its axes grow; growing_axes says \(\)"),
        (Renaming, "state", "after 1 words holds said; growing_axes names words"),
        (PairsBehind, "state", "the pairs must come first"),
        (RemembersPairs, "state", r"pairs \[7, 0, 0, 3\] picked from the state behind the first word"),
        (Uncached, "cache", "step 2"),
        (OfOtherShape, "gradients", "it failed with RuntimeError: The size of tensor a"),
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


def test_what_is_broken_is_told_with_its_place_in_the_contract(monkeypatch):
    monkeypatch.setattr(network, "ToyMean", OfOtherShape)
    with pytest.raises(AssertionError) as raised:
        check_method(CASE)
    first, wrong, described = str(raised.value).splitlines()
    assert first.startswith("toy-mean breaks the contract of methods: A stage gives a gradient to every")
    assert wrong.startswith("What went wrong: it failed with RuntimeError: ")
    assert "Described by whatchanged.training.methods.Method.loss, " in described
    assert 'the reference\'s page "A method of your own"' in described


def test_the_contract_describes_what_the_checks_name():
    """Each dotted name of a check leads to a docstring."""
    from whatchanged.training import methods

    parts, blind = set(), MethodCase(ToyConfig(), vision=None, pairs=None)
    for check in (check for check in DUTIES if check.__name__ != "check_graphs"):  # it has eyes of its own
        with pytest.raises(AssertionError, match="it failed with TypeError") as raised:
            check(blind)
        parts |= set(re.findall(r"whatchanged\.training\.methods\.([\w.]+[A-Za-z])", str(raised.value)))
    assert len(parts) > 12
    for part in parts:
        owner, _, name = part.partition(".")
        found = getattr(methods, owner)
        assert owner in methods.__all__ and (
            not name or hasattr(found, name) or name in found.__annotations__
        )


def test_every_duty_is_broken_once():
    names = {check.__name__.removeprefix("check_") for check in DUTIES}
    (cases,) = [mark for mark in test_each_broken_duty_is_found.pytestmark if mark.name == "parametrize"]
    assert {duty for _, duty, _ in cases.args[1]} == names
