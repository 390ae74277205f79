"""Keep an answerer in a worker process: it is made once, when the worker starts, and used by every task."""

from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from whatchanged.answers.answerer import Answerer

Rest = ParamSpec("Rest")
Result = TypeVar("Result")

# A global, because a pool starts its workers by a function and has no object to hand to their tasks.
_HERE: list[Answerer] = []
"""The answerer of this worker."""


def start(make: Callable[[], Answerer]) -> None:
    """Prepare this worker."""
    _HERE[:] = [make()]


def with_answerer(
    work: Callable[Concatenate[Answerer, Rest], Result], *arguments: Rest.args, **named: Rest.kwargs
) -> Result:
    """Call ``work`` with this worker's answerer and the arguments."""
    return work(_HERE[0], *arguments, **named)
