"""Rendering noise: differences of pixels between two renderings of the same document.

Local noise alters the drawing of one element or of all; global noise draws the whole document in another
renderer. Both count as noise only where every word stays within half a pixel.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from whatchanged.synth.screens.pages.changes.edit import styled
from whatchanged.synth.screens.pages.shown import PageElement, PageLayout
from whatchanged.synth.screens.words import Rng

RENDERERS: Mapping[str, tuple[str, bool]] = {
    "no hinting": ("unhinted", False),
    "slight hinting": ("slight", False),
    "sub-pixels red first": ("lcd", False),
    "sub-pixels blue first": ("bgr", False),
    "painted by GPU": ("unhinted", True),
    "full hinting": ("full", False),
    "full hinting on sub-pixels": ("full-lcd", False),
    "full hinting, painted by GPU": ("full", True),
}
"""Renderers of one document that draw slightly differently: font settings, and whether a GPU paints."""
SAME_WIDTHS = (tuple(RENDERERS)[:5], tuple(RENDERERS)[5:])
"""Renderers among which letters are equally wide, so that words stay in place."""

TOGETHER = ("page", "table", "table row", "table cell", "column header")
"""Elements that local noise leaves alone."""
MOST_STEP = 0.5
"""Pixels of the document by which a word may stand elsewhere."""


def _fraction(rng: Rng) -> dict[str, str]:
    x, y = rng.uniform(-0.5, 0.5, 2) * float(rng.choice([0.5, 1.0]))
    return {"transform": f"translate({x:.2f}px,{y:.2f}px)"}


def _precise(rng: Rng) -> dict[str, str]:
    return {"text_rendering": "geometricPrecision"}


def _spacing(rng: Rng) -> dict[str, str]:
    return {"letter_spacing": f"{rng.choice([-1, 1]) * rng.uniform(0.008, 0.02):.4f}px"}


def _across(rng: Rng) -> dict[str, str]:
    return {"transform": f"translateX({rng.choice([-1, 1]) * rng.uniform(0.15, 0.5):.2f}px)"}


def _turned(rng: Rng) -> dict[str, str]:
    return {"transform": "rotate(0.02deg)"}


def _layered(rng: Rng) -> dict[str, str]:
    return {
        "will_change": "transform",
        "transform": f"translateY({rng.choice([-1, 1]) * rng.uniform(0.15, 0.5):.2f}px)",
    }


LOCAL = {
    "fraction of a pixel": _fraction,
    "precise text": _precise,
    "letter spacing": _spacing,
    "fraction of a pixel across": _across,
    "turned by 0.02 degrees": _turned,
    "layer of its own": _layered,
}
"""Ways to draw an element slightly differently: name -> style properties."""


def local_noise(rng: Rng, layout: PageLayout, way: str = "") -> tuple[str, str]:
    """The name of a way and the script that applies it to some elements; a random way where none is named.

    ("", "") where there is no element with text or an icon.
    """
    able = [e for e in layout.elements if e.seen and e.ink is not None and _alone(e)]
    if not able:
        return "", ""
    way = way or list(LOCAL)[int(rng.integers(len(LOCAL)))]
    count = len(able) if rng.random() < 0.25 else int(rng.integers(1, min(len(able), 4) + 1))
    chosen = [able[i].i for i in rng.permutation(len(able))[:count]]
    scripts = [f"{{{styled(**LOCAL[way](rng)).replace('$I', str(i))}}}" for i in chosen]
    return way, "".join(scripts)


def _alone(element: PageElement) -> bool:
    """Whether an element can be drawn apart from what is around it; the lines of a table cannot."""
    return not element.drawn and element.element not in TOGETHER


def words_stay(before: NDArray[np.float64], after: NDArray[np.float64]) -> bool:
    """Whether every word (``PageLayout.words``) stays within half a pixel: what differs then is noise."""
    if before.shape != after.shape:
        return False
    return not before.size or float(np.abs(before - after).max()) <= MOST_STEP + 1e-6
