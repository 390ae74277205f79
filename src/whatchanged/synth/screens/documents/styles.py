"""Styles, fonts and words of typeset documents; some are held out for validation and test."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Style:
    """The default style of a document's blocks.

    lines: of tables, "all", "rows" or "none". heading_font: "" is the text's own.
    """

    ground: str
    ink: str
    accent: str
    heading_font: str = ""
    heading_color: str = ""
    lines: str = "all"
    header_fill: str = ""
    justified: bool = False
    numbered_headings: bool = False


STYLES: Mapping[str, Mapping[str, Style]] = {
    "train": {
        "plain": Style("#ffffff", "#000000", "#1a4e8a"),
        "article": Style(
            "#ffffff", "#111111", "#8a1a1a", lines="rows", justified=True, numbered_headings=True
        ),
        "report": Style("#ffffff", "#222222", "#0b6e4f", "Roboto", "#0b6e4f", "all", "#e7f3ee"),
        "note": Style("#fffdf0", "#2b2b2b", "#b8860b", lines="none"),
        "night": Style("#1e1e2e", "#e6e6f0", "#89b4fa", "", "#89b4fa", "rows"),
        "minutes": Style("#ffffff", "#1f2430", "#5c6bc0", "Noto Sans", "#1f2430", "rows", "#eef0fb"),
    },
    "val": {
        "brief": Style("#f7f7f4", "#1b1b1b", "#c2410c", "Open Sans", "#c2410c", "rows", "#fde8dc"),
        "slate": Style("#22272e", "#cdd9e5", "#f69d50", "", "#f69d50", "all", "#2d333b"),
    },
    "test": {
        "manual": Style("#ffffff", "#0a0a0a", "#00838f", "Roboto Slab", "#00838f", "all", "#dff3f5"),
        "letter": Style("#fbf7ef", "#3a2f1b", "#6d4c1e", lines="none", justified=True),
        "ink": Style("#0d1117", "#c9d1d9", "#7ee787", "", "", "rows", "#161b22"),
    },
}
"""Split -> name -> style."""

OWN_FONTS: Mapping[str, tuple[str, ...]] = {
    "train": ("Libertinus Serif",),
    "val": (),
    "test": ("New Computer Modern",),
}
"""Split -> fonts that Typst includes, in addition to those of the machine."""

FORMULAS = (
    "{a} = {b}^{n} + {c}^{n}",
    "{f}({a}) = {n} {a}^2 - {m} {a} + {k}",
    "sum_({a} = {n})^{k} {b}_{a} = {m}",
    "integral_{n}^{m} {f}({a}) dif {a} = frac({k}, {m})",
    "frac({a} + {b}, {c} - {n}) <= sqrt({b})",
    "lim_({a} -> infinity) frac({n}, {a}) = 0",
    "{a} in RR^{n}, quad {b} {r} {c}",
    "mat({a}, {n}; {m}, {b})",
    "{f}'({a}) = frac(dif {f}, dif {a})",
    "vec({a}, {b}, {c}) dot vec({n}, {m}, {k})",
    "e^(i {a}) + {n} {r} {b}",
    "P({a} | {b}) = frac(P({b} | {a}) P({a}), P({b}))",
)
"""Templates of formulas in Typst's notation.

a, b, c: letters; f: a function; n, m, k: numbers; r: a relation.
"""
LETTERS = ("x", "y", "z", "t", "u", "v", "alpha", "beta", "gamma", "lambda", "mu", "theta", "omega", "p", "q")
FUNCTIONS = ("f", "g", "h", "phi", "psi")
RELATIONS = ("=", "<", ">", "<=", ">=", "!=", "approx")
CODE = (
    "for i in range(10):",
    "    total += values[i]",
    "return total / count",
    "if x > 0:",
    "    print(x, y)",
    "def mean(values):",
    "let n = items.len();",
    "while (a < b) { a += 1; }",
    "import numpy as np",
    "x = [1, 2, 3]",
)
