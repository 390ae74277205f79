"""How something is computed, whatever it is: where, by how many, and how much is said meanwhile.

One record for the commands, which make it of their options, and for Python. Each call uses the fields that
its docstring names.
"""

from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal

from whatchanged.errors import WhatchangedError

Precision = Literal["fp32", "bf16"]
MOST_COUNT = 1000
"""The largest number of beams or threads; more is a slip of the keyboard."""


@dataclass(frozen=True)
class Launch:
    """How something is computed.

    device      "auto", "cpu", "cuda" or "cuda:NUMBER": where torch computes
    workers     processes, or threads that read; None: as many as are usual for the work
    precision   of a network's arithmetic by torch; "bf16": products in 16 bit, weights in 32
    batch_size  pairs or pictures side by side; None: as many as are usual
    accumulate  parts that a batch is read in while a method learns: less memory, a third more work
    ray         the address of a cluster that works in place of this machine's processes; None: none
    quiet       whether nothing but errors is said on stderr

    >>> from whatchanged import Launch
    >>> Launch(device="cpu", quiet=True).workers is None
    True
    """

    device: str = "auto"
    workers: int | None = None
    precision: Precision = "fp32"
    batch_size: int | None = None
    accumulate: int = 1
    ray: str | None = None
    quiet: bool = False


USUAL = Launch()
"""As it is where nothing is said."""


def one_launch(given: Launch | None, by_keywords: Launch, usual: Launch) -> Launch:
    """The launch of a call that takes one, or some of its fields as keywords of their own.

    by_keywords: what the keywords say. usual: what they say where none is given. Raises WhatchangedError
    where both are given, since one of them would have no effect.
    """
    if given is None:
        return by_keywords
    if by_keywords != usual:
        raise WhatchangedError("Give launch, or its fields as keywords of their own, not both.")
    return given


def checked_count(name: str, value: Any) -> int:
    """A number of beams or threads that a caller gave. Raises WhatchangedError."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not 1 <= int(value) <= MOST_COUNT:
        raise WhatchangedError(f"{name} should be a whole number from 1 to {MOST_COUNT:,}; it is {value!r}.")
    return int(value)
