"""The tables of screens: real pairs beside other tools."""

from collections.abc import Mapping
from typing import Any

from benchmarks.markdown import Row, table
from benchmarks.record import Result

LOOKED = (
    "These pairs were looked at during development. Of each look: what was seen of them, and what was changed"
    " after it. Figures of earlier looks are of the code and models of their time."
)


def screens(result: Result) -> str:
    """The verdict beside other tools, then kind and place."""
    figures = result.figures
    changed, same = figures["pairs"]
    own = {"measured": "rules", "model": "the network that left"}  # of records before it did
    systems = [name for name in own if name in figures]
    verdicts = [[f"whatchanged, {own[name]}", *_verdict(figures[name])] for name in systems]
    for name in figures:
        if name not in ("pairs", "looks", "examples", "answered by", *own):
            verdicts.append([f"{name}, its default", *_verdict(figures[name]["default"])])
            verdicts.append([f"{name}, its best threshold here", *_verdict(figures[name]["best"])])
    first = table(
        [f"{changed} changed, {same} unchanged pairs", "AUROC", "change, %", "no change, %"], *verdicts
    )
    names = {
        "kind": "kind (of eight)",
        "kind of twelve": "kind (of the labels' twelve, strictly)",
        "pointing": "pointing",
        "overlap": "IoU of at least .5",
        "statement": "kind and pointing",
    }
    shares = [[label, *(_percents(figures[one][name]) for one in systems)] for name, label in names.items()]
    later = [figures[one]["later statements"] for one in systems]
    shares.append(
        ["second and third statements that point", *(_of(o["precision"], o["count"]) for o in later)]
    )
    second = table(["first statement of the changed pairs, %", *(own[name] for name in systems)], *shares)
    answered = ", ".join(f"{name} {count}" for name, count in figures.get("answered by", {}).items())
    looks = "\n".join(f"- {look}" for look in figures["looks"])
    return "\n\n".join([first, second, *([f"Answered by: {answered}."] if answered else []), LOOKED, looks])


def screens_parts(result: Result) -> str:
    """The changed real pairs by type, group, repository and size."""
    figures = result.figures
    own = {
        name: label for name, label in {"measured": "rules", "model": "network"}.items() if name in figures
    }
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


def screens_examples(result: Result) -> str:
    """What is said of ten random pairs of each group."""
    rows = [
        [group, one["said"], one["found"], one["label"]]
        for group, pairs in result.figures["examples"].items()
        for one in pairs
    ]
    return table(["group", "what is said", "verdict", "the label"], *rows)


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
