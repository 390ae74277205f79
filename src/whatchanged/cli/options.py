"""Options with the same meaning in several commands, the groups of options in their help, and the remarks and
checks that go with these options.
"""

from dataclasses import replace
from typing import Annotated

import typer

from whatchanged.cli import completion
from whatchanged.cli.console import note
from whatchanged.launch import Launch, Precision

# Groups. Common options appear above all groups, without a group.
PAIRS = "Which pairs"
WRITTEN = "What is written"
SCORES = "How scores are computed"
RUNS = "By a run of train, or from stored features"
POOLS = "Tokens of pools"
PLAN = "What a recipe will need"
COMPUTED = "Where and how it is computed"

ModelName = Annotated[
    str | None,
    typer.Option(
        "--model",
        help="A shipped model or a model folder, which always answers; measured: no model.",
        autocompletion=completion.answering,
    ),
]
ReadText = Annotated[
    bool | None,
    typer.Option(
        "--read-text/--no-read-text",
        help="Read text in the pictures, name things by it, and quote text that changed. Default: if the "
        "extra text is installed.",
        show_default=False,
    ),
]
DatasetName = Annotated[
    str | None,
    typer.Option(
        "--dataset",
        help="The name of the data set, if it is not recognised.",
        autocompletion=completion.data_sets,
        rich_help_panel=PAIRS,
    ),
]
SkipMissing = Annotated[
    bool,
    typer.Option("--skip-missing", help="Leave out pairs whose pictures are missing.", rich_help_panel=PAIRS),
]
Embed = Annotated[
    bool,
    typer.Option(
        "--embed", help="Embed the pictures in the page, so that it can be mailed.", rich_help_panel=WRITTEN
    ),
]
PolicyName = Annotated[
    str | None,
    typer.Option(
        "--policy",
        metavar="NAME",
        help="lenient, default or design-system: from which size on a change counts.",
        autocompletion=completion.policies,
    ),
]
Ray = Annotated[
    str | None,
    typer.Option(
        "--ray",
        metavar="ADDRESS",
        rich_help_panel=COMPUTED,
        help="Work on a Ray cluster: local (this machine), auto (the one it belongs to) or HOST:PORT.",
    ),
]

PrecisionOption = Annotated[
    Precision,
    typer.Option(
        help="Precision of the network's arithmetic; bf16: products in 16 bit, weights in 32.",
        rich_help_panel=COMPUTED,
    ),
]


def answering(model: str | None, quiet: bool) -> str | None:
    """Return the model or the measurement for the value of ``--model``.

    Print a remark if the model is from an earlier version.
    """
    if model is None:
        return None
    from whatchanged.answers.models import who_answers

    today, told = who_answers(model)
    if told:
        note(told, quiet)
    return str(today)


def note_policy(sensitivity: float, strict: bool, quiet: bool) -> None:
    """Print the policy that replaces deprecated options."""
    if strict:
        note(
            "--strict goes with the next minor version; the strictest policy is --policy design-system, and "
            'every pixel counts by {"*": {"every_pixel": true}} in a file for --policies.',
            quiet,
        )
    if sensitivity != 1:
        name = "design-system" if sensitivity > 1 else "lenient"
        note(
            f"--sensitivity goes with the next minor version; {sensitivity:g} means --policy {name}, or "
            f'{{"*": {{"sensitivity": {sensitivity:g}}}}} in a file for --policies.',
            quiet,
        )


def on_cpu(launch: Launch) -> Launch:
    """Return the launch settings for the workers of a cluster.

    Raises BadParameter if the device is not the CPU.
    """
    if launch.ray is None:
        return launch
    if launch.device not in ("auto", "cpu"):
        raise typer.BadParameter(
            f"--ray works on CPUs; leave out --device {launch.device}, or leave out --ray"
        )
    return replace(launch, device="cpu")
