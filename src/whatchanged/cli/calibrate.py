"""``whatchanged calibrate``: compare the pictures of two runs without a change, and store the differences as
noise to ignore.
"""

from pathlib import Path
from typing import Annotated

import typer

from whatchanged.cli.console import check_output, check_outputs, note, progress, show
from whatchanged.cli.options import COMPUTED
from whatchanged.files import write_output
from whatchanged.words import counted

EXAMPLES = ("whatchanged calibrate run1 run2 -o noise.json",)


def calibrate(
    run1: Annotated[Path, typer.Argument(help="The pictures of one run.", metavar="RUN1")],
    run2: Annotated[
        Path, typer.Argument(help="The pictures of another run of the same state.", metavar="RUN2")
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="NOISE.json",
            help="The file for compare --noise; an existing file is replaced.",
        ),
    ],
    workers: Annotated[
        int | None, typer.Option(min=1, max=256, help="Processes (one a core).", rich_help_panel=COMPUTED)
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress and no remarks.")] = False,
) -> None:
    """Learn a machine's noise: regions that differ from run to run, and how small a difference counts."""
    from whatchanged.compare.noise import learn_noise, most_covered
    from whatchanged.compare.pairs import match_folders

    check_outputs([output], [run1, run2])
    check_output(output, force=True)
    runs = match_folders(run1, run2)
    both = sum(pair.status == "both" for pair in runs.pairs)
    with progress("calibrating", both, quiet) as advance:
        learned = learn_noise(runs, workers, advance)
    write_output(output, learned.to_json())
    show(
        f"{counted(learned.pictures, 'picture')} compared; sensitivity {learned.sensitivity:g}; "
        f"unsteady places in {counted(len(learned.unsteady), 'picture')}{most_covered(learned)}. Use it with"
        f" --noise {output}"
    )
    for pair_id, why in learned.unexplained.items():
        note(f"{pair_id}: left out, because {why}")
