"""``whatchanged demo``: shipped pairs whose truth is known, what the model says of them, what is right.

The pairs show the model's world. A model whose world brings no pairs is shown those of the first world that
does.
"""

import base64
import html
import io
import json
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from whatchanged.cli import completion
from whatchanged.cli.console import check_output
from whatchanged.errors import DatasetError, OutputError
from whatchanged.files import write_output

if TYPE_CHECKING:
    from whatchanged.captioner.card import GridAttention
    from whatchanged.captioner.runtime import Description
    from whatchanged.worlds import Demo, Truth, World


EXAMPLES = (
    "whatchanged demo",
    "whatchanged demo --save pairs",
)


@dataclass(frozen=True)
class Pair:
    """Two pictures and the truth about them."""

    before: Path
    after: Path
    truth: "Truth"


@dataclass(frozen=True)
class Outcome:
    """What the model said of a pair, whether that is wholly true, and a sentence that is."""

    pair: Pair
    found: "Description"
    right: bool
    truth: str


def demo(
    page: Annotated[
        Path | None, typer.Option("--html", metavar="OUT", help="Write a page with pictures and heat maps.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="A shipped model or a model folder.", autocompletion=completion.models)
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the page.")] = False,
    save: Annotated[
        Path | None,
        typer.Option("--save", metavar="DIR", help="Copy the pairs into a new folder, to try; no more."),
    ] = None,
) -> None:
    """Describe the shipped pairs and say which sentences are wholly true."""
    if save is not None:
        if page is not None:
            raise typer.BadParameter("--save copies the pairs and writes no page: leave out --html.")
        _save(save, model)
        return
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
        write_output(page, _page(summary, outcomes, captioner.attention))


def _save(folder: Path, model: str | None) -> None:
    """Copy the pairs of the model's world, and a list of them that `caption` reads, into a new folder."""
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
    typer.echo(f"{len(rows) - 1} pairs and pairs.csv in {folder}. To try them:")
    typer.echo(f"  whatchanged describe {quote(f'{folder}/01-before.png')} {quote(f'{folder}/01-after.png')}")
    typer.echo(f"  whatchanged caption {quote(f'{folder}/pairs.csv')} -o captions.jsonl")


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


def read_pairs(shown: "Demo") -> list[Pair]:
    """The pairs of ``demo.json``. Raises DatasetError where the folder is not what it should be."""
    path = shown.folder / "demo.json"
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))["pairs"]
        return [
            Pair(
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


STYLE = """
body { font: 16px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
figure { margin: 0 0 2.5rem; } img { max-width: 100%; display: block; }
figcaption { font-size: 1.1rem; margin-bottom: .4rem; }
.right { color: #17692b; } .wrong { color: #a3271f; } .truth { color: #555; font-size: 1rem; }
"""


def _page(summary: str, outcomes: list[Outcome], grid: "GridAttention") -> str:
    """One file that needs nothing else; everything shown is escaped."""
    figures = "\n".join(_figure(outcome, grid) for outcome in outcomes)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>whatchanged: demo</title>\n'
        f"<style>{STYLE}</style></head><body>\n<h1>What changed?</h1>\n<p>{html.escape(summary)}. "
        "Left before, right after; warm is where the words looked.</p>\n"
        f"{figures}\n</body></html>\n"
    )


def _figure(outcome: Outcome, grid: "GridAttention") -> str:
    from whatchanged.captioner.heatmap import overlay
    from whatchanged.images import open_image

    picture = io.BytesIO()
    pair = outcome.pair
    before, after = open_image(pair.before), open_image(pair.after)
    overlay(before, after, outcome.found.heatmaps, grid).save(picture, "PNG")
    data = base64.b64encode(picture.getvalue()).decode("ascii")
    verdict = "right" if outcome.right else "wrong"
    truth = "" if outcome.right else f'<br><span class="truth">True: {html.escape(outcome.truth)}</span>'
    sentence = html.escape(outcome.found.sentence)
    return (
        f'<figure><figcaption><span class="{verdict}">{verdict}</span>: {sentence} '
        f'<span class="truth">(nothing changed: {outcome.found.no_change:.2f})</span>{truth}</figcaption>'
        f'<img alt="{sentence}" src="data:image/png;base64,{data}"></figure>'
    )
