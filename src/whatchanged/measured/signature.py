"""A few numbers of how a pair differs: pairs that changed in the same way have similar ones."""

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.reading import Pixels


def signature(before: Pixels, after: Pixels, visible: NDArray[np.bool_]) -> tuple[float, ...]:
    """Numbers of how two pictures differ where ``visible`` says so."""
    return ()
