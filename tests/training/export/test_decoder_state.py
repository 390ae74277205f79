"""What grows in a decoder's state is what the method declares."""

from types import SimpleNamespace

import pytest
import torch

from whatchanged.errors import RecipeError
from whatchanged.training.export.decoder_state import decoder_state

WORDS = torch.ones(3, dtype=torch.int64)


def method(first, step, **declared):
    """Three pairs' decoder with this state, and nothing else."""
    return SimpleNamespace(
        architecture="toy",
        first_cache=lambda memory: first,
        step=lambda memory, previous, position, cache: (None, None, step(cache)),
        **declared,
    )


def longer(cache):
    return {name: torch.cat([tensor, tensor.new_zeros(3, 2, 1, 5)], dim=2) for name, tensor in cache.items()}


def kept(cache):
    return {name: tensor + 1 for name, tensor in cache.items()}


def test_keys_that_grow_begin_empty():
    state = decoder_state(
        method({"keys": torch.zeros(3, 2, 0, 5)}, longer, growing_axes={"keys": [2]}), None, WORDS
    )
    assert state.growing == {"keys": (2,)} and state.begun == ()
    assert state.cache["keys"].shape == (3, 2, 1, 5)


def test_keys_may_begin_with_something():
    state = decoder_state(
        method({"keys": torch.zeros(3, 2, 4, 5)}, longer, growing_axes={"keys": [2]}), None, WORDS
    )
    assert state.begun == ("keys",) and state.cache["keys"].shape == (3, 2, 5, 5)


def test_vectors_that_stay():
    first = {"hidden": torch.zeros(3, 7), "count": torch.zeros(3, dtype=torch.int64)}
    state = decoder_state(method(first, kept, growing_axes={"hidden": (), "count": ()}), None, WORDS)
    assert state.growing == {"hidden": (), "count": ()} and state.begun == ("hidden", "count")


def test_who_declares_nothing_is_of_an_earlier_version():
    def step(cache):
        return {"keys": torch.cat([cache["keys"], torch.zeros(3, 1, 2, 1, 4)], dim=3)}

    assert decoder_state(method({"keys": torch.zeros(3, 1, 2, 0, 4)}, step), None, WORDS).growing == {
        "keys": (3,)
    }
    with pytest.raises(RecipeError, match=r"toy: its state 'h' has the shapes .* so \(\) .* says \(3,\)"):
        decoder_state(method({"h": torch.zeros(3, 7)}, kept), None, WORDS)


@pytest.mark.parametrize(
    ("first", "step", "declared", "said"),
    [
        ({"h": torch.zeros(3, 7)}, kept, {"h": (1,)}, r"so \(\) of its axes grow; growing_axes says \(1,\)"),
        ({"h": torch.zeros(3, 7)}, kept, {}, "after 0 words holds h; growing_axes names . It must name"),
        ({"h": torch.zeros(3, 7)}, lambda cache: {}, {"h": ()}, "after 1 words holds ; growing_axes names h"),
        ({"h": torch.zeros(7, 3)}, kept, {"h": ()}, "for 3 pairs: the pairs must come first"),
        ({"h": torch.zeros(())}, kept, {"h": ()}, "the pairs must come first"),
        (
            {"h": torch.zeros(3, 7)},
            lambda cache: {"h": cache["h"][..., None]},
            {"h": ()},
            "its axes must stay",
        ),
    ],
)
def test_what_is_not_as_declared(first, step, declared, said):
    with pytest.raises(RecipeError, match=said):
        decoder_state(method(first, step, growing_axes=declared), None, WORDS)
