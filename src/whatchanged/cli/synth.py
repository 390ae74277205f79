"""``whatchanged synth``: draw a data set."""

import re
from pathlib import Path
from typing import Literal

import typer

from whatchanged.cli.console import note, progress
from whatchanged.errors import MissingExtra

WORLDS = ("clevr-change", "clevr-dc", "clevr-pool", "birds")


def _world(name: str) -> str:
    if name not in WORLDS:
        raise typer.BadParameter(f"{name!r} is unknown; known are {', '.join(WORLDS)}.")
    return name


def _size(text: str) -> str:
    if text and not re.fullmatch(r"[1-9]\d{0,4}x[1-9]\d{0,4}", text):
        raise typer.BadParameter(f"{text!r} is not WIDTHxHEIGHT, for example 480x320.")
    return text


def synth(
    world: str = typer.Argument(
        ...,
        callback=_world,
        help="clevr-change, clevr-dc (cameras anywhere around), clevr-pool to train on, or birds.",
    ),
    out: Path = typer.Argument(..., help="The folder to make; it must not exist (a pool grows)."),
    scenes: int = typer.Option(
        ..., "--scenes", min=1, help="Number of scenes; each gives two pairs (birds: one)."
    ),
    seed: int = typer.Option(0, "--seed", min=0, help="The same seed gives the same set."),
    size: str = typer.Option(
        "", "--size", callback=_size, help="WxH; 480x320, 240x160 for a pool, 128x128 for birds."
    ),
    views: Literal["jittered", "around", "mixed"] = typer.Option(
        "jittered",
        "--views",
        help="Pools: cameras after near the first, anywhere around, or mixed, two to one.",
    ),
    doubles: float = typer.Option(
        0.0,
        "--doubles",
        min=0.0,
        max=1.0,
        help="Pools: share of scenes where only a relation tells the changed thing from another.",
    ),
    workers: int = typer.Option(1, "--workers", min=1, help="Processes; any number writes the same bytes."),
    device: str = typer.Option("cpu", "--device", help="auto, cpu, cuda or cuda:NUMBER."),
    quiet: bool = typer.Option(False, "--quiet", help="Nothing on stderr but errors."),
) -> None:
    """Draw CLEVR-like picture pairs, or birds, in the official layouts, with sentences and full truth."""
    pool = world == "clevr-pool"
    if not pool and (doubles or views != "jittered"):
        raise typer.BadParameter(
            "these are for pools; cameras of a twin are its world's.", param_hint="--doubles, --views"
        )
    if world == "birds":
        _birds(out, scenes, seed, size or "128x128", workers, quiet)
        return
    try:
        import numba  # noqa: F401
        import torch  # noqa: F401
    except ModuleNotFoundError as error:
        raise MissingExtra("Drawing a data set", error.name or "numba", "train") from error
    from whatchanged.training.device import choose_device
    from whatchanged.training.objects.pool import draw_pool
    from whatchanged.training.objects.render.synth import write_twin

    width, height = (int(side) for side in (size or ("240x160" if pool else "480x320")).split("x"))
    with progress("scenes", scenes, quiet) as advance:
        what = (out, scenes, seed, (width, height), workers, str(choose_device(device)), advance)
        if pool:
            scenes = draw_pool(*what, views, doubles)
        else:
            write_twin(*what, "around" if world == "clevr-dc" else "jittered")
    note(f"{scenes:,} scenes, {2 * scenes:,} pairs in {out}", quiet)
    typer.echo(str(out))


def _birds(out: Path, pairs: int, seed: int, size: str, workers: int, quiet: bool) -> None:
    """Three sets of drawn birds; needs no extra."""
    from whatchanged.worlds.birds.twin import LABELLED, SINGLES, write_birds

    width, height = (int(side) for side in size.split("x"))
    if width != height:
        raise typer.BadParameter(f"{size}: birds are drawn on squares.", param_hint="--size")
    with progress("pairs", pairs, quiet) as advance:
        write_birds(out, pairs, seed, width, workers, advance)
    note(
        f"{pairs:,} pairs, {SINGLES * pairs:,} captioned and {LABELLED * pairs:,} labelled pictures in {out}",
        quiet,
    )
    typer.echo(str(out))
