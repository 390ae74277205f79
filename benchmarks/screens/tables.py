"""The tables of screens: real pairs beside other tools, and drawn pairs with and without a model."""

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
    own = {"measured": "rules", "model": "a model of screens"}
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
    own = {name: label for name, label in {"measured": "rules", "model": "model"}.items() if name in figures}
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


def regions(result: Result) -> str:
    """The network beside the rules on drawn pairs: the verdict, the first statement, by family and kind."""
    figures = result.figures
    changed, same = figures["pairs"]
    systems = ("rules", "network")
    verdicts = [[name, *_verdict(figures[name])] for name in systems]
    head = [f"{changed} changed, {same} unchanged pairs of {figures['documents']} documents", "AUROC"]
    names = {
        "kind": "kind (of eight)",
        "pointing": "pointing",
        "place": "IoU of at least .5",
        "statement": "kind and pointing",
    }
    shares = [
        [label, *(_percents(figures[name][share]) for name in (*systems, "difference"))]
        for share, label in names.items()
    ]
    parts = [
        [f"{part} ({own['pairs']})"]
        + [
            f"{100 * figures[name][group][part][share]:.1f}"
            for share in ("statement", "place")
            for name in systems
        ]
        for group in ("families", "kinds")
        for part, own in figures["rules"][group].items()
    ]
    columns = [
        f"{label}, {name}" for label in ("kind and pointing", "IoU of at least .5") for name in systems
    ]
    return "\n\n".join(
        [
            table([*head, "change, %", "no change, %"], *verdicts),
            table(["first statement of the changed pairs, %", *systems, "difference"], *shares),
            table(["changed pairs, %", *columns], *parts),
        ]
    )


def statements(result: Result) -> str:
    """The shipped statements beside the rules' on drawn pairs, and some of the sentences."""
    figures = result.figures
    systems = ("rules", "model")
    changed, same = figures["rules"]["pairs"]
    names = {
        "change accuracy": "verdict of the changed pairs",
        "no-change accuracy": "verdict of the others",
        "auroc": "AUROC of the verdict",
        "kind": "kind (of eight) of the first statement",
        "pointing": "its pointing",
        "overlap": "its IoU of at least .5",
        "statement": "its kind and pointing",
        "element": "its element, where it points",
        "wholly true": "sentence wholly true, all pairs",
        "wholly true, changed": "sentence wholly true, changed pairs",
    }
    shares = [[label, *(_percents(figures[name][key]) for name in systems)] for key, label in names.items()]
    grades = [
        [label, *(_of(*figures[name][f"sentence: {key}"]) for name in systems)]
        for key, label in {
            "element_right": "of the sentences, the element right",
            "value_right": "values right",
            "place_right": "place right",
        }.items()
    ]
    later = [figures[name]["later statements"] for name in systems]
    shares += [
        *grades,
        ["second and third statements that point", *(_of(o["precision"], o["count"]) for o in later)],
    ]
    parts = [
        [f"{part} ({figures['rules'][group][part][2]})"]
        + [f"{100 * figures[name][group][part][k]:.1f}" for k in (0, 1) for name in systems]
        for group in ("by family", "by kind")
        for part in figures["rules"][group]
    ]
    columns = [f"{label}, {name}" for label in ("kind and pointing", "wholly true") for name in systems]
    said = [
        [one["said"], "true" if one["true"] else one["fault"] or "not read", one["truth"]]
        for one in figures["examples"]
    ]
    return "\n\n".join(
        [
            table([f"{changed} changed, {same} unchanged pairs; %", *systems], *shares),
            table(["changed pairs, %", *columns], *parts),
            table(
                ["a pair drawn at random: what the model says", "verdict", "one of the true captions"], *said
            ),
        ]
    )


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
