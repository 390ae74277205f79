"""``whatchanged demo``: caption shipped pairs with known changes, and check the captions.

The pairs come from the world of the model. If this world has no demonstration pairs, the model captions the
pairs of the first world with demonstration pairs.
"""

from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from whatchanged.cli import completion
from whatchanged.cli.console import check_output, show
from whatchanged.errors import DatasetError, OutputError
from whatchanged.json_values import read_json

if TYPE_CHECKING:
    from whatchanged.captioner.description import Description
    from whatchanged.page import Page
    from whatchanged.worlds import Demo, Truth, World


EXAMPLES = (
    "whatchanged demo",
    "whatchanged demo --save pairs",
)


@dataclass(frozen=True)
class KnownPair:
    """Two pictures and the known change between the pictures."""

    before: Path
    after: Path
    truth: "Truth"


@dataclass(frozen=True)
class DemoOutcome:
    """The caption of a pair, whether the caption is completely true, and a true caption."""

    pair: KnownPair
    description: "Description"
    right: bool
    truth: str


def demo(
    page: Annotated[
        Path | None,
        typer.Option(
            "--html", metavar="OUT", help="Write a page with the pictures and the attention of the words."
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="A shipped model or a model folder.", autocompletion=completion.models)
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the page.")] = False,
    save: Annotated[
        Path | None,
        typer.Option("--save", metavar="DIR", help="Only copy the pairs into a new folder, to try them."),
    ] = None,
) -> None:
    """Caption the shipped pairs and print which captions are wholly true."""
    if save is not None:
        if page is not None:
            raise typer.BadParameter("--save copies the pairs and writes no page: leave out --html.")
        _save(save, model)
        return
    if page is not None:
        check_output(page, force)
    from whatchanged.captioner.bundle import open_bundle
    from whatchanged.captioner.runtime import Captioner

    bundle = open_bundle(model)
    captioner = Captioner(bundle)
    world, shown = demo_of(captioner.card.world)
    outcomes = []
    for number, pair in enumerate(read_pairs(shown), 1):
        found = captioner.describe(pair.before, pair.after)
        right = world.language.judge(found.sentence, pair.truth).true
        outcome = DemoOutcome(pair, found, right, shown.true_sentence(pair.truth))
        outcomes.append(outcome)
        show(f"{number:2d}  {'right' if right else 'WRONG'}  {found.sentence}")
        if not right:
            show(f"           true: {outcome.truth}")
    summary = f"{sum(o.right for o in outcomes)} of {len(outcomes)} sentences are wholly true"
    show(f"{summary} ({shown.true_means}).")
    if page is not None:
        from whatchanged.page import write_page

        write_page(page, _page(summary, outcomes), embed=True)


def _save(folder: Path, model: str | None) -> None:
    """Copy the pairs of the model's world into a new folder, and write a list of the pairs that `caption`
    reads.
    """
    from whatchanged.captioner.bundle import open_bundle

    if folder.exists() or folder.is_symlink():
        raise OutputError(f"{folder}: this is there already. Name a new folder.")
    if not folder.absolute().parent.is_dir():
        raise OutputError(f"{folder}: the folder {folder.absolute().parent} is not there. Make it first.")
    _, shown = demo_of(open_bundle(model).card.world)
    rows = ["before,after"]
    with TemporaryDirectory(dir=folder.absolute().parent, prefix=".whatchanged-") as made:
        draft = Path(made) / folder.name
        draft.mkdir()
        for number, pair in enumerate(read_pairs(shown), 1):
            names = [f"{number:02d}-{side}.png" for side in ("before", "after")]
            for name, source in zip(names, (pair.before, pair.after), strict=True):
                (draft / name).write_bytes(source.read_bytes())
            rows.append(",".join(names))
        (draft / "pairs.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
        draft.rename(folder)
    show(f"{len(rows) - 1} pairs and pairs.csv in {folder}. To try them:")
    show(f"  whatchanged describe {quote(f'{folder}/01-before.png')} {quote(f'{folder}/01-after.png')}")
    show(f"  whatchanged caption {quote(f'{folder}/pairs.csv')} -o captions.jsonl")


def demo_of(world: str) -> "tuple[World, Demo]":
    """Return the world with this name and its demonstration pairs.

    If the world has no demonstration pairs, return the first world with demonstration pairs. Raises
    DatasetError if no world has demonstration pairs.
    """
    from whatchanged.worlds import all_worlds, find_world, world_names

    asked = [find_world(world)] if world in world_names() else []
    for known in chain(asked, all_worlds()):
        if known.demo is not None:
            return known, known.demo
    raise DatasetError("No world brings pairs for the demonstration. Install again.")


def read_pairs(shown: "Demo") -> list[KnownPair]:
    """Read the demonstration pairs in ``demo.json``. Raises DatasetError if the folder is invalid."""
    path = shown.folder / "demo.json"
    try:
        entries = read_json(path.read_text(encoding="utf-8"))["pairs"]
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


def _page(summary: str, outcomes: list[DemoOutcome]) -> "Page":
    """Return a page of the pairs with their captions. A true caption is shown beside each wrong caption."""
    from whatchanged.page import Badge, Page, Pair

    shown = [
        Pair(
            id=f"pair {number}",
            before=outcome.pair.before,
            after=outcome.pair.after,
            line={"caption": outcome.description.sentence, "no_change": outcome.description.no_change},
            heatmaps=outcome.description.heatmaps,
            badges=[Badge("right", "good") if outcome.right else Badge("wrong", "bad")],
            facts=() if outcome.right else [f"true: {outcome.truth}"],
        )
        for number, outcome in enumerate(outcomes, 1)
    ]
    return Page(title="What changed?", pairs=shown, summary=[f"{summary}."])
