"""``whatchanged export``: turn a training run into a model bundle that the captioner reads."""

from pathlib import Path

import typer

from whatchanged.cli.console import hold
from whatchanged.errors import MissingExtra

EXAMPLES = ("whatchanged export run my-model --data twin",)


def export(
    run: Path = typer.Argument(..., help="The run folder that train wrote."),
    output: Path = typer.Argument(..., help="The model folder to write."),
    name: str | None = typer.Option(None, "--name", help="The model's name; default: the output folder's."),
    data: Path | None = typer.Option(
        None,
        "--data",
        help="Data set folder for calibration and the check of the graphs; default: the run's.",
    ),
    fp16: bool = typer.Option(
        False, "--fp16", help="Store large weights as fp16; refused if any word changes."
    ),
    checkpoint: str = typer.Option(
        "auto",
        "--checkpoint",
        help="best, last, a stage's name (its best), or auto: best if there is one.",
    ),
    weights: Path | None = typer.Option(
        None,
        "--weights",
        help="For models of stored features: the backbone's weights, unless a package has them.",
    ),
    in_distribution: Path | None = typer.Option(
        None,
        "--familiar",
        metavar="POOL",
        help="Pool of drawn pictures; the bundle then warns of pictures unlike them.",
    ),
    unfinished: bool = typer.Option(
        False, "--unfinished", help="Also export an unfinished run; the card records its progress."
    ),
    force: bool = typer.Option(False, "--force", help="Replace the output folder if it exists."),
) -> None:
    """Export a run as two ONNX graphs, after a check that they write exactly the words that torch writes."""
    import json

    try:
        from whatchanged.training.export import export_run
    except ModuleNotFoundError as error:
        raise MissingExtra("Exporting", error.name or "torch", "train") from error

    hold(output)
    bundle = export_run(
        run,
        output,
        name or output.name,
        data=data,
        fp16=fp16,
        checkpoint=checkpoint,
        force=force,
        weights=weights,
        in_distribution=in_distribution,
        unfinished=unfinished,
    )
    typer.echo(json.dumps({"model": str(output), "bytes": bundle.size, "files": sorted(bundle.files)}))
