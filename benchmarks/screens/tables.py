"""The tables of screens: results on real pairs, compared with other tools."""

from collections.abc import Mapping
from typing import Any

from benchmarks.markdown import Row, table
from benchmarks.record import Result

OWN: Mapping[str, str] = {"measured": "measured answer", "model": "the network that left"}
"""Systems of this project by their names in a record; records of before the network left have both."""
OTHER = ("pairs", "looks", "examples", "answered by")
"""What a record holds beside systems."""
SHARES: Mapping[str, str] = {
    "kind": "kind (of eight)",
    "kind of twelve": "kind (of the labels' twelve, strictly)",
    "pointing": "pointing",
    "overlap": "IoU of at least .5",
    "statement": "kind and pointing",
}


def verdicts(result: Result) -> str:
    """The verdict of the measured answer beside other tools."""
    figures = result.figures
    rows = [["whatchanged", *_verdict(figures["measured"])]]
    for name in figures:
        if name not in (*OTHER, *OWN):
            rows.append([f"{name}, its default", *_verdict(figures[name]["default"])])
            rows.append([f"{name}, its best threshold here", *_verdict(figures[name]["best"])])
    return table([_pairs(result), "AUROC", "change, %", "no change, %"], *rows)


def statements(result: Result) -> str:
    """How often the measured answer's first statement has the kind and the place right."""
    return table(["first statement of the changed pairs", "right, %"], *_statements(result, ["measured"]))


def network(result: Result) -> str:
    """The measured answer beside the network that left; the measured answer alone in a record without it."""
    systems = [name for name in OWN if name in result.figures]
    verdict = [_verdict(result.figures[name]) for name in systems]
    rows = [
        [label, *(each[at] for each in verdict)]
        for at, label in enumerate(("AUROC", "change, %", "no change, %"))
    ]
    return table([_pairs(result), *(OWN[name] for name in systems)], *rows, *_statements(result, systems))


def parts(result: Result) -> str:
    """The changed real pairs by type, group, repository and size."""
    figures = result.figures
    own = {name: label for name, label in OWN.items() if name in figures}
    rows = [
        [f"{way}: {part} ({counts['pairs']})"]
        + [
            f"{100 * figures[name]['parts'][way][part][share]:.1f}"
            for share in ("kind", "statement", "overlap")
            for name in own
        ]
        for way, inside in figures["measured"]["parts"].items()
        for part, counts in inside.items()
    ]
    labels = ("kind", "kind and pointing", "IoU of at least .5")
    return table(
        ["changed pairs, %", *(f"{label}, {name}" for label in labels for name in own.values())], *rows
    )


def examples(result: Result) -> str:
    """What is said of ten random pairs of each group."""
    rows = [
        [group, one["said"], one["found"], one["label"]]
        for group, pairs in result.figures["examples"].items()
        for one in pairs
    ]
    return table(["group", "what is said", "verdict", "the label"], *rows)


def _pairs(result: Result) -> str:
    changed, same = result.figures["pairs"]
    return f"{changed} changed, {same} unchanged pairs"


def _statements(result: Result, systems: list[str]) -> list[Row]:
    """A row a share of right first statements, one of right later ones; a column a system."""
    figures = [result.figures[name] for name in systems]
    rows: list[Row] = [
        [label, *(_percents(each[name]) for each in figures)] for name, label in SHARES.items()
    ]
    later = [each["later statements"] for each in figures]
    told = (_of(each["precision"], each["count"]) for each in later)
    return [*rows, ["second and third statements that point", *told]]


def _of(share: float | None, count: int) -> str:
    return f"- (of {count})" if share is None else f"{100 * share:.1f} (of {count})"


def _verdict(figures: Mapping[str, Any]) -> Row:
    """Area under the curve and both accuracies, with their intervals."""
    area = figures["auroc"]
    shown = f"{area['value']:.3f} ({area['low']:.3f}-{area['high']:.3f})"
    return [shown, _percents(figures["change"]), _percents(figures["no_change"])]


def _percents(share: Mapping[str, float]) -> str:
    """A share and its interval in percent."""
    value, low, high = (100 * share[end] for end in ("value", "low", "high"))
    return f"{value:.1f} ({low:.1f}-{high:.1f})"
