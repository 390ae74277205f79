"""Write parts of a page in a library's markup; an element with a name in the truth carries it
(``data-e``).
"""

import html
from collections.abc import Callable

import numpy as np

from whatchanged.synth.screens.pages.designs import Library
from whatchanged.synth.screens.words import RandomTexts, Rng

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
    "M5 4h14v16H5zM9 8h6M9 12h6M9 16h3",
    "M3 6h7l2 3h9v10H3z",
    "M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h6v6h-6z",
    "M12 21s7-6 7-11a7 7 0 0 0-14 0c0 5 7 11 7 11zM12 8a2 2 0 1 0 .01 0",
    "M4 9a8 6 0 0 1 16 0c0 5 2 6 2 8H2c0-2 2-3 2-8zM10 20h4",
    "M5 12a7 7 0 1 1 2 5M5 19v-4h4",
    "M4 18l6-6 4 4 6-8M15 8h5v5",
    "M3 5h18v11H3zM9 20h6M12 16v4",
    "M7 11V8a5 5 0 0 1 10 0v3M5 11h14v9H5z",
    "M13 2L5 14h6l-1 8 8-12h-6z",
    "M6 5l13 7-13 7z",
    "M7 5v14M17 5v14",
    "M4 12h14M12 6l6 6-6 6",
    "M20 12H6M12 6l-6 6 6 6",
    "M4 20V10M10 20V4M16 20v-7M21 20H3",
    "M5 5h5v14H5zM14 5h5v9h-5z",
    "M9 14a4 4 0 0 1 0-6l3-3a4 4 0 0 1 6 6l-2 2M15 10a4 4 0 0 1 0 6l-3 3a4 4 0 0 1-6-6l2-2",
    "M5 12h.01M12 12h.01M19 12h.01",
    "M12 5h.01M12 12h.01M12 19h.01",
    "M4 7h10M18 7h2M4 17h2M10 17h10M16 5v4M8 15v4",
    "M3 12c3-6 15-6 18 0-3 6-15 6-18 0zM12 9a3 3 0 1 0 .01 0",
    "M21 4L3 11l7 3 3 7z",
    "M4 4h7l9 9-7 7-9-9zM8 8h.01",
    "M12 4v10M8 8a5 5 0 1 0 8 0",
    "M6 3v18M6 4h12l-3 4 3 4H6",
    "M9 3l6 3 5-2v15l-5 2-6-3-5 2V5zM9 3v15M15 6v15",
    "M4 8h4l2-3h4l2 3h4v11H4zM12 10a3.5 3.5 0 1 0 .01 0",
)
"""Paths of stroked icons on a square of 24."""
VOID = ("input",)
"""Tags that hold nothing."""


class Writer:
    """Writes parts: one library, one language, one source of random numbers; icons have attributes in common."""

    def __init__(self, rng: Rng, library: Library, texts: RandomTexts, icons: str = "") -> None:
        self.rng = rng
        self.library = library
        self.texts = texts
        self.icons = icons
        self.line = self.pick(("1.5", "2", "2", "2.5"))

    def chance(self, share: float) -> bool:
        """True in this share of the calls."""
        return bool(self.rng.random() < share)

    def count(self, least: int, most: int) -> int:
        """A whole number, both ends included."""
        return int(self.rng.integers(least, most + 1))

    def pick(self, choices: tuple[str, ...]) -> str:
        """Return one of the choices."""
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

    def icon(self, size: int = 0, element: str = "icon", path: str = "") -> str:
        """An icon: this path, or any."""
        side = size or self.count(14, 28)
        return (
            f'<svg class="w-icon" data-e="{element}" width="{side}" height="{side}" viewBox="0 0 24 24" fill="none" '
            f'stroke="currentColor" stroke-width="{self.line}" {self.icons}><path d="{path or self.pick(ICONS)}"/></svg>'
        )

    def art(self, width: str, height: int) -> str:
        """A picture: a landscape of a few shapes."""
        hue = self.count(0, 359)
        return (
            f'<div class="w-art" data-e="picture" role="img" style="width:{width};height:{height}px;'
            f'background:{art_of(self.rng, hue)}"></div>'
        )

    def choose(self, *makers: Callable[[], str]) -> str:
        """What one of the makers makes."""
        return makers[int(self.rng.integers(len(makers)))]()

    def any_of(self, weights: dict[str, float]) -> str:
        """One of the names, each as often as its weight says."""
        names = list(weights)
        shares = np.array([weights[name] for name in names])
        return names[int(self.rng.choice(len(names), p=shares / shares.sum()))]


def art_of(rng: Rng, hue: int) -> str:
    """The CSS background of a random picture: landscapes, stripes, rings, soft colours, a map, an emblem."""
    x, y, r = (int(rng.integers(15, 85)) for _ in range(3))
    other = (hue + int(rng.integers(40, 200))) % 360
    one, two = f"hsl({hue},{30 + r // 2}%,{40 + x // 3}%)", f"hsl({other},{20 + y // 2}%,{75 - r // 2}%)"
    able = (
        f"radial-gradient(circle at {x}% {y // 2}%,hsl({other},80%,70%) 0 {5 + r // 6}%,transparent {6 + r // 6}%),"
        f"linear-gradient({160 + r}deg,transparent 60%,hsl({other},40%,35%) 60.5%),"
        f"linear-gradient(hsl({hue},60%,75%),hsl({hue},50%,55%))",
        f"repeating-linear-gradient({hue}deg,{one} 0 {4 + r // 8}px,{two} 0 {20 + r // 4}px)",
        f"repeating-radial-gradient(circle at {x}% {y}%,{one} 0 12px,{two} 0 {16 + r // 4}px)",
        f"radial-gradient(circle at {x}% {y}%,{one},transparent {40 + r // 2}%),"
        f"radial-gradient(circle at {y}% {x}%,{two},transparent 60%),hsl({hue},25%,{r}%)",
        f"linear-gradient({r + x}deg,transparent 47%,#fff 47.5% 50%,transparent 50.5%),"
        f"linear-gradient({y}deg,transparent 62%,#fffc 62.5% 64%,transparent 64.5%),"
        f"linear-gradient({90 + r}deg,hsl(130,30%,{70 + r // 8}%) {x}%,hsl(205,50%,75%) {x + 1}%)",
        f"conic-gradient(from {r}deg at {x}% {y}%,{one},{two},{one})",
        f"linear-gradient({one},{two})",
        "linear-gradient(to top right,transparent calc(50% - 1px),#8888 50%,transparent calc(50% + 1px)),"
        "linear-gradient(to bottom right,transparent calc(50% - 1px),#8888 50%,transparent calc(50% + 1px)),#8883",
        f"linear-gradient(135deg,{one} 25%,transparent 25%) 0 0/{8 + r // 3}px {8 + r // 3}px,{two}",
        f"radial-gradient(circle at 50% 38%,{one} 0 22%,transparent 23%),"
        f"radial-gradient(ellipse at 50% 105%,{one} 0 45%,transparent 46%),{two}",
        f"conic-gradient({one} 25%,{two} 0 50%,{one} 0 75%,{two} 0) 0 0/{10 + r // 2}px {10 + r // 2}px",
    )
    return able[int(rng.integers(len(able)))]
