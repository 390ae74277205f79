"""``whatchanged retrieve``: compute the similarity of every caption with every pair by a trained run."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from whatchanged.cli.console import check_output, check_outputs, show
from whatchanged.errors import MissingExtra
from whatchanged.launch import Launch

EXAMPLES = ("whatchanged retrieve run pairs.csv -o similarities.npy",)


def retrieve(
    run: Annotated[Path, typer.Argument(help="The run folder of a method with retrieval, written by train.")],
    dataset: Annotated[Path, typer.Argument(help="The data set folder or list, with captions.")],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="The file for the similarities, NAME.npy; NAME.json is written beside it."
        ),
    ],
    split: Annotated[
        Literal["all", "train", "val", "test"], typer.Option(help="Rank this split only.")
    ] = "all",
    checkpoint: Annotated[
        str,
        typer.Option(help="best, last, a stage's name (its best), or auto: the retrieval stage's, if kept."),
    ] = "auto",
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
) -> None:
    """Compare every caption with every pair; `whatchanged evaluate FILE DATASET` ranks them."""
    try:
        from whatchanged.training.retrieve import retrieve_run
    except ModuleNotFoundError as error:
        raise MissingExtra("Retrieving", error.name or "torch", "train") from error

    check_output(output, force=True)  # an empty name has no suffix, and is a folder
    check_outputs([output, output.with_suffix(".json")], [])
    made = retrieve_run(run, dataset, output, split, checkpoint, Launch(device))
    show(f"{output}: {len(made.texts)} captions against {len(made.pairs)} pairs")
