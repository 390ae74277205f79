"""All changes that are made in a page, and the choice of one that fits."""

from collections.abc import Mapping, Sequence

from whatchanged.synth.screens.choices import pick_by_share
from whatchanged.synth.screens.pages.changes.colors import COLORS
from whatchanged.synth.screens.pages.changes.edit import PageEdit, Setting, Way
from whatchanged.synth.screens.pages.changes.geometry import GEOMETRY
from whatchanged.synth.screens.pages.changes.styles import STYLES
from whatchanged.synth.screens.pages.changes.things import THINGS
from whatchanged.synth.screens.pages.shown import PageElement, PageLayout
from whatchanged.synth.screens.words import RandomTexts, Rng

__all__ = ["WAYS", "PageEdit", "choose"]

WAYS: Mapping[Way, float] = {**THINGS, **COLORS, **STYLES, **GEOMETRY}
"""Every change, with its relative frequency."""
TRIES = 25


def choose(
    rng: Rng, layout: PageLayout, targets: Sequence[PageElement], texts: RandomTexts
) -> tuple[PageEdit, PageElement] | None:
    """Return a change and the element that it fits, from those given; None where none was found.

    The change is chosen first and then the element, so that rare elements do not make rare changes.
    """
    if not targets:
        return None
    for _ in range(TRIES):
        way = pick_by_share(rng, tuple(WAYS.items()))
        for place in rng.permutation(len(targets)):
            edit = way(rng, Setting(targets[place], layout, texts))
            if edit is not None:
                return edit, targets[place]
    return None
