"""``whatchanged accept``: copy new pictures over old ones, after a look at the report of a comparison.

Exit codes: 0 done, or nothing was left to do; 2 nothing done. If the user answers no on a terminal, the exit
code is 2.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whatchanged.cli import completion
from whatchanged.cli.console import hold, note, show
from whatchanged.errors import OutputError
from whatchanged.words import counted

if TYPE_CHECKING:
    from whatchanged.compare.accept import Copy
    from whatchanged.compare.record import Record

EXAMPLES = (
    "whatchanged accept compared 3 home/login.png",
    "whatchanged accept compared --decisions decisions.json --dry-run",
)
MOST_SHOWN = 20
"""The largest number of pictures that are listed before the question. A dry run lists all pictures."""


def accept(
    report: Annotated[
        Path,
        typer.Argument(
            help="The folder of results that compare wrote, after you have looked at them.", metavar="REPORT"
        ),
    ],
    wanted: Annotated[
        list[str] | None,
        typer.Argument(
            help="Pairs by their names, groups by their numbers.",
            metavar="NAME|GROUP",
            autocompletion=completion.acceptable,
        ),
    ] = None,
    decisions: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The decisions that the report's page saved."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be copied, and copy nothing.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask on a terminal.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No remarks.")] = False,
) -> None:
    """Copy new pictures over old ones: those of a group, single ones, or those accepted on the report's
    page.
    """
    from whatchanged.compare.accept import carry_out, check_log, plan, plan_decided, to_do
    from whatchanged.compare.decisions import read_decisions
    from whatchanged.compare.record import read_record

    if bool(wanted) == (decisions is not None):
        raise typer.BadParameter("name pairs or groups of the report, or --decisions FILE")
    if not report.is_dir():
        raise OutputError(f"{report}: there is no such folder. Name the results of a comparison.")
    hold(report)
    record = read_record(report)
    rejected: Sequence[str] = ()
    if decisions is not None:
        decided = read_decisions(decisions, record)
        copies, rejected, by = plan_decided(record, decided.accept), decided.reject, decisions.name
    else:
        copies, by = plan(record, wanted or ()), " ".join(wanted or ())
    check_log(report)
    left = to_do(copies)
    asking = sys.stdin.isatty() and sys.stdout.isatty() and not yes
    if dry_run or asking:
        _show_groups(record, wanted or ())
        _show_copies(left, len(left) if dry_run else MOST_SHOWN)
    if dry_run:
        show(f"{counted(len(left), 'picture')} would be accepted, {len(rejected):,} rejected.")
        return
    if asking and left and not _agreed(f"Accept {counted(len(left), 'picture')}? [y/N] "):
        note("Nothing was accepted.")
        raise typer.Exit(2)
    carry_out(left, report, by, rejected)
    show_accepted(left)
    if len(left) < len(copies):
        note(f"{counted(len(copies) - len(left), 'picture')} had been accepted before.", quiet)
    if rejected:
        show(f"{counted(len(rejected), 'picture')} rejected; the old ones stay.")


def _agreed(question: str) -> bool:
    """Return whether the user at the terminal answers yes. The end of the input counts as no."""
    typer.echo(question, nl=False)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def show_accepted(copies: "Sequence[Copy]") -> None:
    """Print how many pictures were copied."""
    show(f"{counted(len(copies), 'picture')} accepted. The next comparison takes them as old.")


def _show_groups(record: "Record", wanted: Sequence[str]) -> None:
    """Print the groups that the user named, with the common change of each group."""
    from whatchanged.compare.accept import group_called

    for name in wanted:
        group = group_called(record, name)
        if group is not None:
            show(f"group {name}: {counted(len(group.members), 'picture')}: {group.sentence}")


def _show_copies(copies: "Sequence[Copy]", most: int) -> None:
    """Print the source and the target of each copy, for at most ``most`` pictures."""
    for copy in copies[:most]:
        new = " (new)" if copy.was is None else ""
        show(f"{_from_here(copy.source)} -> {_from_here(copy.target)}{new}")
    if len(copies) > most:
        show(f"and {len(copies) - most:,} more; --dry-run lists all")


def _from_here(path: Path) -> Path:
    """Return the path relative to the working directory if the path is below it.

    Return other paths unchanged.
    """
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
