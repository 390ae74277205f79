"""Groups many pictures with eleven causes of change: is each cause one group, without unmarked other pairs?

    python -m benchmarks.screens.eleven_causes [--count 1500] [--seed 1] [--record]

Chromium draws small pages of one design, each with its own words, numbers and rows. Each page shows one of
eleven changes, as if one commit had made them all. Nothing is fitted or chosen here. But ``groups.py`` draws
other pages with the same causes, by which the weights of groups are fitted.
"""

import argparse
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from benchmarks.record import Watch, add_record_option, write_result
from benchmarks.screens.gate_pages import WORDS, Rng
from whatchanged.answers.by_measurement import of_measured
from whatchanged.compare.groups import OutcomeGroup, group_outcomes
from whatchanged.compare.pairs import PairToCompare
from whatchanged.compare.run import Outcome
from whatchanged.measured import measure
from whatchanged.synth.screens.browser import Browser

SIZE = (400, 300)
CSS = (
    "*{box-sizing:border-box}"
    "body{margin:0;padding:16px;background:#fff;color:#222;font:14px 'Inter',sans-serif}"
    "h4{margin:0 0 10px;font-size:17px}table{border-collapse:collapse;margin-bottom:12px}"
    "td{border-bottom:1px solid #ccc;padding:4px 18px 4px 0}section{margin-bottom:12px}"
    ".b{display:inline-block;padding:7px 14px;margin-right:8px;border-radius:4px}"
    ".b{background:#2457c5;color:#fff}"
    ".c{border:1px solid #bbb;border-radius:4px;background:#f6f6f6;padding:10px;max-width:300px}"
)


@dataclass(frozen=True)
class Page:
    """What a page shows: its heading, a table of three columns, two buttons, a card, what stands above all,
    and further rules of its stylesheet."""

    heading: str
    rows: tuple[tuple[str, str, str], ...]
    buttons: tuple[str, str]
    card: str
    above: str = ""
    style: str = ""


def random_page(rng: Rng) -> Page:
    """A page with words of its own."""

    def words(least: int, most: int) -> str:
        return " ".join(rng.choice(WORDS, int(rng.integers(least, most + 1)))).capitalize()

    rows = tuple((words(1, 2), f"{rng.integers(1, 2000)}", words(1, 1)) for _ in range(rng.integers(3, 7)))
    return Page(words(2, 3), rows, (words(1, 1), words(1, 1)), words(4, 7))


def document(page: Page) -> str:
    """The page as HTML."""
    rows = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in page.rows)
    buttons = "".join(f'<span class="b">{text}</span>' for text in page.buttons)
    return (
        f"<!doctype html><html><head><style>{CSS}{page.style}</style></head><body>{page.above}"
        f"<h4>{page.heading}</h4><table>{rows}</table><section>{buttons}</section>"
        f'<div class="c">{page.card}</div></body></html>'
    )


def without_row(page: Page, rng: Rng) -> Page:
    """A row less."""
    gone = int(rng.integers(len(page.rows) - 1))
    return replace(page, rows=page.rows[:gone] + page.rows[gone + 1 :])


def with_row(page: Page, rng: Rng) -> Page:
    """A row more."""
    at = int(rng.integers(len(page.rows)))
    return replace(page, rows=(*page.rows[:at], *random_page(rng).rows[:1], *page.rows[at:]))


def exchanged(page: Page, _: Rng) -> Page:
    """The first two columns exchanged."""
    return replace(page, rows=tuple((two, one, three) for one, two, three in page.rows))


def with_banner(page: Page, _: Rng) -> Page:
    """A banner above all."""
    banner = '<div style="background:#ffe9a8;padding:8px;margin-bottom:10px">Maintenance tonight</div>'
    return replace(page, above=banner)


def renamed(page: Page, _: Rng) -> Page:
    """The first button has another label."""
    return replace(page, buttons=("Continue", page.buttons[1]))


def styled(rule: str) -> Callable[[Page, Rng], Page]:
    """A rule of the stylesheet altered."""
    return lambda page, _: replace(page, style=rule)


CAUSES: dict[str, Callable[[Page, Rng], Page]] = {
    "row removed": without_row,
    "row added": with_row,
    "columns exchanged": exchanged,
    "banner added": with_banner,
    "button renamed": renamed,
    "button fill": styled(".b{background:#1d8a4c}"),
    "button radius": styled(".b{border-radius:14px}"),
    "heading larger": styled("h4{font-size:23px}"),
    "cells bold": styled("td{font-weight:700}"),
    "card border": styled(".c{border:3px solid #c2410c}"),
    "card text colour": styled(".c{color:#b00020}"),
}


def draw(count: int, seed: int) -> Iterator[tuple[str, NDArray[np.uint8], NDArray[np.uint8]]]:
    """Of each pair its cause and its pictures; each cause as often as the others."""
    with Browser("grey") as browser:
        for index in range(count):
            rng = np.random.default_rng([seed, index])
            cause = list(CAUSES)[index % len(CAUSES)]
            page = random_page(rng)
            pictures = []
            for one in (page, CAUSES[cause](page, rng)):
                browser.show(document(one), *SIZE, 1.0)
                pictures.append(np.asarray(browser.photograph().convert("RGB")))
            yield cause, pictures[0], pictures[1]


def rows_of(causes: Sequence[str], outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """A row a cause, and one of all: how many changed, in how many groups they are, how many in the largest,
    how many in none, how many unmarked in a group of another cause; and the adjusted Rand index."""
    groups = group_outcomes(outcomes)
    labels = [-1 - index for index in range(len(causes))]  # what is in no group is one by itself
    for group in groups:
        for member in group.members:
            labels[member] = group.number
    seen = [index for index, outcome in enumerate(outcomes) if outcome.changed]
    index = adjusted_rand_score([causes[k] for k in seen], [labels[k] for k in seen])
    astray = Counter(causes[member] for group in groups for member in unmarked(group, causes))
    results: list[dict[str, Any]] = []
    for cause in dict.fromkeys(causes):
        own = [k for k in seen if causes[k] == cause]
        sizes = Counter(labels[k] for k in own)
        results.append(
            {
                "cause": cause,
                "pairs": causes.count(cause),
                "called changed": len(own),
                "groups": sum(label > 0 for label in sizes),
                "in the largest": max(sizes.values(), default=0),
                "alone": sum(label < 0 for label in sizes),
                "elsewhere unmarked": astray[cause],
            }
        )
    totals = {name: sum(row[name] for row in results) for name in list(results[0])[1:]}
    return [*results, {"cause": "all", **totals, "groups": len(groups), "ARI": float(index)}]


def unmarked(group: OutcomeGroup, causes: Sequence[str]) -> list[int]:
    """The members that are neither of the cause of most nor marked as odd."""
    told: dict[str, list[int]] = defaultdict(list)
    for member in group.members:
        told[causes[member]].append(member)
    most = max(told.values(), key=len)
    return [member for member in group.members if member not in most and member not in group.odd]


def main() -> None:
    """Prints the rows, and records them where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=1)
    add_record_option(parser, "eleven_causes")
    options = parser.parse_args()
    causes, outcomes = [], []
    with Watch() as watch:
        for number, (cause, before, after) in enumerate(draw(options.count, options.seed)):
            causes.append(cause)
            pair = PairToCompare(f"{number:04d}.png", None, None)
            outcomes.append(Outcome(pair, of_measured(measure(before, after))))
        rows = rows_of(causes, outcomes)
    for row in rows:
        print(row)
    if options.record:
        figures = {"rows": rows, "decimals": {"ARI": 3}}
        write_result(options.record, "rows", figures, watch=watch, seeds={"drawn": options.seed})


if __name__ == "__main__":
    main()
