"""Writes parts of a page in a library's markup; what has a name in the truth carries it (``data-e``)."""

import html

import numpy as np

from whatchanged.worlds.screens.drawing.pages.designs import Library
from whatchanged.worlds.screens.drawing.words import Rng, Texts

ICONS = (
    "M4 12h16M12 4v16",
    "M5 12l5 5L20 7",
    "M6 6l12 12M18 6L6 18",
    "M8 5l8 7-8 7",
    "M5 9l7 7 7-7",
    "M12 3a9 9 0 1 0 .01 0M12 7v6l4 2",
    "M4 6h16M4 12h16M4 18h16",
    "M11 4a7 7 0 1 0 .01 0M16 16l5 5",
    "M5 5h14v14H5zM5 10h14M9 3v4M15 3v4",
    "M12 3l9 17H3zM12 10v4M12 17v1",
    "M4 20h4L20 8l-4-4L4 16z",
    "M12 12a4 4 0 1 0-.01 0M4 21c1-5 4-7 8-7s7 2 8 7",
    "M3 11l9-8 9 8v10H3z",
    "M6 4h12v16l-6-4-6 4z",
    "M12 20C4 14 3 10 4 7c2-4 7-3 8 0 1-3 6-4 8 0 1 3 0 7-8 13z",
    "M4 7h16l-2 13H6zM9 7V4h6v3",
    "M12 2v12M7 9l5 5 5-5M4 20h16",
    "M4 5h16v12H9l-5 4z",
    "M12 8a4 4 0 1 0 .01 0M12 2v3M12 19v3M2 12h3M19 12h3",
    "M4 6h16v12H4zM4 7l8 6 8-6",
)
"""Paths of stroked icons on a square of 24."""
VOID = ("input",)
"""Tags that hold nothing."""


class Writer:
    """Writes parts: one library, one language, one source of random numbers."""

    def __init__(self, rng: Rng, library: Library, texts: Texts) -> None:
        self.rng = rng
        self.library = library
        self.texts = texts

    def chance(self, share: float) -> bool:
        """True in this share of the calls."""
        return bool(self.rng.random() < share)

    def count(self, least: int, most: int) -> int:
        """A whole number, both ends included."""
        return int(self.rng.integers(least, most + 1))

    def pick(self, choices: tuple[str, ...]) -> str:
        """One of the choices."""
        return choices[int(self.rng.integers(len(choices)))]

    def part(self, part: str, inner: str, element: str = "", extra: str = "") -> str:
        """A part as the library makes it; ``element``: the name that the truth will have for it."""
        tag, _, attributes = self.library.parts[part].partition(" ")
        named = f' data-e="{element}"' if element else ""
        opening = " ".join(word for word in (tag + named, attributes, extra) if word)
        return f"<{opening}>" if tag in VOID else f"<{opening}>{inner}</{tag}>"

    def words(self, least: int, most: int) -> str:
        """Some words, as HTML."""
        return html.escape(self.texts.words(least, most))

    def value(self) -> str:
        """A number or some words."""
        return html.escape(self.texts.number()) if self.chance(0.5) else self.words(1, 2)

    def icon(self, size: int = 0, element: str = "icon") -> str:
        """A stroked icon."""
        side = size or self.count(14, 28)
        width = self.pick(("1.5", "2", "2", "2.5"))
        return (
            f'<svg class="w-icon" data-e="{element}" width="{side}" height="{side}" viewBox="0 0 24 24" fill="none" '
            f'stroke="currentColor" stroke-width="{width}"><path d="{self.pick(ICONS)}"/></svg>'
        )

    def art(self, width: str, height: int) -> str:
        """A picture: a landscape of a few shapes."""
        hue = self.count(0, 359)
        return (
            f'<div class="w-art" data-e="picture" role="img" style="width:{width};height:{height}px;'
            f'background:{art_of(self.rng, hue)}"></div>'
        )

    def any_of(self, weights: dict[str, float]) -> str:
        """One of the names, each as often as its weight says."""
        names = list(weights)
        shares = np.array([weights[name] for name in names])
        return names[int(self.rng.choice(len(names), p=shares / shares.sum()))]


def art_of(rng: Rng, hue: int) -> str:
    """The CSS background of a random picture: a sun, hills and a sky, or stripes, or rings."""
    shape = int(rng.integers(3))
    x, y, r = (int(rng.integers(15, 85)) for _ in range(3))
    other = (hue + int(rng.integers(40, 200))) % 360
    if shape == 0:
        return (
            f"radial-gradient(circle at {x}% {y // 2}%,hsl({other},80%,70%) 0 {5 + r // 6}%,transparent {6 + r // 6}%),"
            f"linear-gradient({160 + r}deg,transparent 60%,hsl({other},40%,35%) 60.5%),"
            f"linear-gradient(hsl({hue},60%,75%),hsl({hue},50%,55%))"
        )
    if shape == 1:
        return f"repeating-linear-gradient({hue}deg,hsl({hue},50%,45%) 0 {4 + r // 8}px,hsl({other},50%,70%) 0 {20 + r // 4}px)"
    return f"repeating-radial-gradient(circle at {x}% {y}%,hsl({hue},55%,60%) 0 12px,hsl({other},45%,40%) 0 {16 + r // 4}px)"
