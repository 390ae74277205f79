"""``whatchanged features``: run a trained backbone over a pool once and store its tokens."""

from pathlib import Path
from typing import Annotated

import typer

from whatchanged.errors import MissingExtra


def features(
    pool: Annotated[Path, typer.Argument(help="A pool drawn by: whatchanged synth clevr-pool")],
    out: Annotated[Path, typer.Argument(help="Folder for the tokens; shards that are there are kept")],
    run: Annotated[Path, typer.Option(help="The run whose backbone to use")],
    variants: Annotated[int, typer.Option(min=1, help="Copies of each picture: plain, then varied")] = 2,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda")] = "auto",
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bar")] = False,
) -> None:
    """Store what a trained backbone sees, so that later stages need no pictures."""
    try:
        from whatchanged.training.features import store_tokens
    except ModuleNotFoundError as error:
        raise MissingExtra("whatchanged features", str(error.name), "train") from error
    written = store_tokens(run, pool, out, variants, device, quiet)
    typer.echo(f"{out}: {written} shards of tokens written")
