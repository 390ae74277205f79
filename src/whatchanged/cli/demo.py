"""``whatchanged demo``: shipped pairs whose truth is known, what the model says of them, what is right.

The pairs show the model's world. A model whose world brings no pairs is shown those of the first world that
does.
"""

import json
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whatchanged.cli.console import check_output
from whatchanged.errors import DatasetError

if TYPE_CHECKING:
    from whatchanged.captioner.runtime import Description
    from whatchanged.page import Page
    from whatchanged.worlds import Demo, Truth, World


@dataclass(frozen=True)
class KnownPair:
    """Two pictures and the truth about them."""

    before: Path
    after: Path
    truth: "Truth"


@dataclass(frozen=True)
class Outcome:
    """What the model said of a pair, whether that is wholly true, and a sentence that is."""

    pair: KnownPair
    found: "Description"
    right: bool
    truth: str


def demo(
    page: Annotated[
        Path | None,
        typer.Option("--html", metavar="OUT", help="Write a page with pictures and where the words looked."),
    ] = None,
    model: Annotated[str | None, typer.Option(help="A shipped model or a model folder.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the page.")] = False,
) -> None:
    """Describe the shipped pairs and say which sentences are wholly true."""
    if page is not None:
        check_output(page, force)
    from whatchanged.captioner.runtime import load

    captioner = load(model)
    world, shown = demo_of(captioner.card.world)
    outcomes = []
    for number, pair in enumerate(read_pairs(shown), 1):
        found = captioner.describe(pair.before, pair.after)
        right = world.judge(found.sentence, pair.truth).true
        outcome = Outcome(pair, found, right, shown.true_sentence(pair.truth))
        outcomes.append(outcome)
        typer.echo(f"{number:2d}  {'right' if right else 'WRONG'}  {found.sentence}")
        if not right:
            typer.echo(f"           true: {outcome.truth}")
    summary = f"{sum(o.right for o in outcomes)} of {len(outcomes)} sentences are wholly true"
    typer.echo(f"{summary} ({shown.true_means}).")
    if page is not None:
        from whatchanged.page import write_page

        write_page(page, _page(summary, outcomes), embed=True)


def demo_of(world: str) -> "tuple[World, Demo]":
    """The world of this name and its part of the demonstration, or the first world that has one.

    Raises DatasetError where no world has one.
    """
    from whatchanged.worlds import all_worlds, find_world, world_names

    asked = [find_world(world)] if world in world_names() else []
    for known in chain(asked, all_worlds()):
        if known.demo is not None:
            return known, known.demo
    raise DatasetError("No world brings pairs for the demonstration. Install again.")


def read_pairs(shown: "Demo") -> list[KnownPair]:
    """The pairs of ``demo.json``. Raises DatasetError where the folder is not what it should be."""
    path = shown.folder / "demo.json"
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))["pairs"]
        return [
            KnownPair(
                shown.folder / Path(entry["before"]).name,
                shown.folder / Path(entry["after"]).name,
                shown.truth(entry, f"{path}, pair {i}"),
            )
            for i, entry in enumerate(entries)
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DatasetError(
            f"{path}: the demo's pairs cannot be read ({type(error).__name__}: {error}). Install again."
        ) from error


def _page(summary: str, outcomes: list[Outcome]) -> "Page":
    """The pairs with their sentences; those that are not true have a true one beside them."""
    from whatchanged.page import Badge, Page, Pair

    shown = [
        Pair(
            id=f"pair {number}",
            before=outcome.pair.before,
            after=outcome.pair.after,
            line={"caption": outcome.found.sentence, "no_change": outcome.found.no_change},
            heatmaps=outcome.found.heatmaps,
            badges=[Badge("right", "good") if outcome.right else Badge("wrong", "bad")],
            facts=() if outcome.right else [f"true: {outcome.truth}"],
        )
        for number, outcome in enumerate(outcomes, 1)
    ]
    return Page(title="What changed?", pairs=shown, summary=[f"{summary}."])
