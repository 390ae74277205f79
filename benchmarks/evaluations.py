"""Tables of ``whatchanged evaluate``: for one data set, and for several side by side."""

from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.markdown import table
from benchmarks.record import Result
from whatchanged.evaluation.report.layout import share_with_ends, with_ends
from whatchanged.evaluation.report.tables import tables

HEADLINE: Mapping[str, str] = {
    "shipped-blender": "100 scenes, Blender",
    "shipped-twin": "500 scenes, drawn",
    "shipped-untouched": "2,000 scenes, drawn, kept for the end",
    "shipped-around": "300 scenes, drawn, cameras anywhere around",
    "shipped-low": "300 scenes, drawn, low cameras",
}
"""Results of ``clevr-pcl`` -> their columns."""


def score(figures: Mapping[str, Any], subset: str, name: str) -> str:
    """A score of a subset with its interval."""
    return with_ends(figures[subset][name], figures["intervals"][subset][name])


def hits(figures: Mapping[str, Any]) -> str:
    """Hits of the pointing game with their interval; "-" where it was not played."""
    if not figures.get("pointing"):
        return "-"
    return share_with_ends(figures["pointing"]["subsets"]["overall"]["hits"])


def ranked(figures: Mapping[str, Any]) -> str:
    """Area under the curve of the no-change probability, with its interval."""
    return with_ends(figures["no_change"]["AUC"], figures["intervals"]["no_change"]["AUC"])


SCORES: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "change type right": lambda f: share_with_ends(f["scene"]["semantic"]["type_right"]),
    "phrase fits the changed object": lambda f: share_with_ends(f["scene"]["semantic"]["fits"]),
    "phrase fits no other object": lambda f: share_with_ends(f["scene"]["semantic"]["fits_alone"]),
    "sentence wholly true": lambda f: share_with_ends(f["scene"]["semantic"]["true"]),
    "unchanged pairs called unchanged": lambda f: share_with_ends(f["scene"]["distractor"]["called_none"]),
    "changed pairs called unchanged": lambda f: share_with_ends(f["scene"]["semantic"]["called_none"]),
    "AUC of the no-change probability": ranked,
    "CIDEr-D, changed pairs": lambda f: score(f, "semantic", "CIDEr-D"),
    "CIDEr-D, all pairs": lambda f: score(f, "overall", "CIDEr-D"),
    "attention's peak on the object (pointing game)": hits,
}


GOALS: Mapping[str, str] = {
    "change type right": "97 or more",
    "phrase fits the changed object": "92 or more",
    "phrase fits no other object": "85 or more",
    "sentence wholly true": "88 or more, no type under 80",
    "unchanged pairs called unchanged": "98 or more",
    "changed pairs called unchanged": "2 or less",
    "AUC of the no-change probability": "99.5 or more",
    "CIDEr-D, changed pairs": "140 or more",
    "CIDEr-D, all pairs": "152 or more",
    "attention's peak on the object (pointing game)": "85 or more",
}


def goals(result: Result) -> str:
    """What was aimed at on this data set, and what was reached."""
    return table(
        ["", "goal", "reached"], *([name, goal, SCORES[name](result.figures)] for name, goal in GOALS.items())
    )


def evaluation(start: str, views: bool = True) -> Callable[[Result], str]:
    """The table of ``whatchanged evaluate`` whose title starts so, below its title.

    views: with the rows of pairs by how much their views overlap; the JSON has them either way.
    """

    def view(result: Result) -> str:
        for title, rows in tables(result.figures):
            if title.startswith(start):
                shown = [row for row in rows if views or not row[0].startswith(("hardest", "IoU"))]
                return f"{title}:\n\n{table(*shown)}"
        raise ValueError(f"{result.name}: its report has no table {start!r}")

    return view


def warned(result: Result) -> str:
    """How many pairs of a known world are warned of as unfamiliar."""
    found = result.figures["unfamiliar"]
    return f"Warned of as unfamiliar: {found['count']} of {found['of']:,} pairs."
