"""The option ``--policy`` of every command that judges whether a pair changed."""

from typing import Annotated

import typer

from whatchanged.cli import completion
from whatchanged.cli.console import note

PolicyName = Annotated[
    str | None,
    typer.Option(
        "--policy",
        metavar="NAME",
        help="lenient, default or design-system: from which size on a change counts.",
        autocompletion=completion.policies,
    ),
]


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
