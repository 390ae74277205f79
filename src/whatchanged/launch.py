"""Settings of a computation: device, worker processes, precision, batch size and messages.

Commands make a ``Launch`` from their options. Python functions take a ``Launch`` as an argument. The
docstring of each function lists the fields that the function uses.
"""

from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal

from whatchanged.errors import WhatchangedError

Precision = Literal["fp32", "bf16"]
MOST_COUNT = 1000
"""The largest allowed number of beams or threads. A larger number is probably a typing error."""


@dataclass(frozen=True)
class Launch:
    """The settings of a computation.

    device      the device on which torch computes: "auto", "cpu", "cuda" or "cuda:NUMBER"
    workers     the number of worker processes, or of reading threads; None: the default of the function
    precision   the precision of torch's arithmetic; "bf16": products in 16 bits, weights in 32 bits
    batch_size  the number of pairs or pictures in one batch; None: the default of the function
    accumulate  the number of parts of each training batch; several parts need less memory, a third more work
    ray         the address of a Ray cluster that replaces this machine's workers; None: no cluster
    quiet       whether to print only errors on stderr

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
"""The default settings of a computation."""


def one_launch(given: Launch | None, by_keywords: Launch, usual: Launch) -> Launch:
    """Return the launch of a call.

    The call passes a ``Launch``, or some fields of a ``Launch`` as keywords, or neither. by_keywords: a
    launch made from the keywords. usual: the default launch. Raises WhatchangedError if a call passes both a
    launch and keywords, because one of the two would have no effect.
    """
    if given is None:
        return by_keywords
    if by_keywords != usual:
        raise WhatchangedError("Give launch, or its fields as keywords of their own, not both.")
    return given


def checked_count(name: str, value: Any) -> int:
    """Return the value if it is an allowed number of beams or threads. Raises WhatchangedError otherwise."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not 1 <= int(value) <= MOST_COUNT:
        raise WhatchangedError(f"{name} should be a whole number from 1 to {MOST_COUNT:,}; it is {value!r}.")
    return int(value)
