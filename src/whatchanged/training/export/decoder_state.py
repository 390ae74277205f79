"""Describes a decoder's state for its graph: its tensors, the axes that grow, the tensors that begin empty.

A method declares the axes that grow (``CaptionWriter.growing_axes``), and two decoding steps verify this.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from torch import Tensor

from whatchanged.errors import RecipeError
from whatchanged.training.methods import Cache, Method

EARLIER = (3,)
"""The growing axis of every tensor of a method without a declaration. Before 0.3, no method had a
declaration.
"""
DESCRIBED = "see growing_axes of whatchanged.training.methods.CaptionWriter"


class DecoderState(NamedTuple):
    """The state after the first word (B, ...) by name, the axes of each tensor that grow, and the names of
    the tensors that do not begin empty.
    """

    cache: Cache
    growing: Mapping[str, tuple[int, ...]]
    begun: tuple[str, ...]


def decoder_state(method: Method, memory: Any, previous: Tensor) -> DecoderState:
    """Return the state of the pairs in ``memory``, found by two decoding steps with the words ``previous``
    (B,).

    Raises RecipeError where the state contradicts the method's declaration.
    """
    first = method.first_cache(memory)
    declared = getattr(method, "growing_axes", None)
    if declared is None:
        declared = dict.fromkeys(first, EARLIER)
    growing = {name: tuple(axes) for name, axes in declared.items()}
    _check_tensors(method, growing, first, 0, len(previous))
    _, _, one = method.step(memory, previous, 1, first)
    _check_tensors(method, growing, one, 1, len(previous))
    _, _, two = method.step(memory, previous, 2, one)
    _check_tensors(method, growing, two, 2, len(previous))
    for name, axes in growing.items():
        shapes = [tuple(cache[name].shape) for cache in (first, one, two)]
        _check_growth(f"{method.architecture}: its state {name!r}", shapes, axes)
    begun = tuple(name for name, tensor in first.items() if tensor.numel())
    return DecoderState(one, growing, begun)


def _check_tensors(method: Method, growing: Mapping[str, Any], cache: Cache, words: int, pairs: int) -> None:
    """Raises RecipeError where a state lacks declared tensors, has undeclared ones, or has other rows than
    pairs.
    """
    if cache.keys() != growing.keys():
        raise RecipeError(
            f"{method.architecture}: its state after {words} words holds {', '.join(sorted(cache))};"
            f" growing_axes names {', '.join(sorted(growing))}. It must name every tensor, with () where"
            f" nothing grows; {DESCRIBED}."
        )
    for name, tensor in cache.items():
        shape = tuple(tensor.shape)
        if shape[:1] != (pairs,):
            raise RecipeError(
                f"{method.architecture}: its state {name!r} has the shape {shape} for {pairs} pairs: the"
                " pairs must come first."
            )


def _check_growth(what: str, shapes: list[tuple[int, ...]], declared: tuple[int, ...]) -> None:
    """Raises RecipeError where other axes grow than the declared ones. shapes: after 0, 1 and 2 words."""
    if len({len(shape) for shape in shapes}) > 1:
        raise RecipeError(f"{what} has the shapes {shapes} after 0, 1 and 2 words: its axes must stay.")
    grown = tuple(axis for axis, sizes in enumerate(zip(*shapes, strict=True)) if len(set(sizes)) > 1)
    if grown != tuple(sorted(declared)):
        raise RecipeError(
            f"{what} has the shapes {shapes} after 0, 1 and 2 words, so {grown} of its axes grow;"
            f" growing_axes says {declared}. Declare what grows; {DESCRIBED}."
        )
