"""``whatchanged compare``: compare many pairs, and group pairs with a common change.

Write a page, a summary and messages for CI.

Exit codes: 0 nothing changed; 1 a picture changed, was added or removed, or could not be compared; 2 nothing
done. With ``--fail-on never`` a change does not cause exit code 1.
"""

import shlex
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from whatchanged.cli import completion
from whatchanged.cli.accept import show_accepted
from whatchanged.cli.calibrate import calibrate as learn
from whatchanged.cli.console import hold, note, progress, show
from whatchanged.cli.options import PolicyName, Ray, ReadText, answering, note_policy
from whatchanged.cli.pdf import PDFDensity
from whatchanged.cli.urls import any_remote, only_here
from whatchanged.errors import OutputError, WhatchangedError
from whatchanged.launch import Launch
from whatchanged.opening import read_regular
from whatchanged.scale.sharing import on_cluster
from whatchanged.scale.urls import path_of
from whatchanged.urls import is_remote
from whatchanged.words import counted

if TYPE_CHECKING:
    from whatchanged.compare.comparison import Comparison
    from whatchanged.compare.pairs import Matched
    from whatchanged.compare.settings import CompareSettings

EXAMPLES = (
    "whatchanged compare old new -o compared",
    "whatchanged compare --git main -o compared",
)
MOST_GROUPS = 10
"""The largest number of groups on the terminal, and also the largest number of pictures without a group."""


def compare(
    old: Annotated[
        Path | None,
        typer.Argument(
            help="The old pictures, or a folder with both; or a URL.", parser=path_of, metavar="OLD"
        ),
    ] = None,
    new: Annotated[
        Path | None, typer.Argument(help="The new pictures.", parser=path_of, metavar="NEW")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="The folder for the results.", parser=path_of),
    ] = None,
    git: Annotated[
        str | None,
        typer.Option(metavar="REV", help="Compare a revision with the work tree; or REV..REV, REV...REV."),
    ] = None,
    fail_on: Annotated[
        Literal["changed", "never"], typer.Option("--fail-on", help="Exit with 1 after a change, or never.")
    ] = "changed",
    annotations: Annotated[
        Literal["github"] | None, typer.Option(help="Print messages that GitHub shows in a pull request.")
    ] = None,
    ignore: Annotated[
        Path | None,
        typer.Option(metavar="BOXES.json", help="A file with boxes in which differences do not count."),
    ] = None,
    noise: Annotated[
        Path | None,
        typer.Option(metavar="NOISE.json", help="The noise of this machine, a file that calibrate wrote."),
    ] = None,
    calibrate: Annotated[
        bool,
        typer.Option(
            "--calibrate", help="Deprecated, gone in the next minor version: use whatchanged calibrate."
        ),
    ] = False,
    policy: PolicyName = None,
    policies: Annotated[
        Path | None,
        typer.Option(metavar="POLICIES.json", help="A file with policies for some pictures, by their names."),
    ] = None,
    sensitivity: Annotated[
        float,
        typer.Option(min=0.01, max=100.0, help="Deprecated, gone in the next minor version: use --policy."),
    ] = 1.0,
    strict: Annotated[
        bool, typer.Option("--strict", help="Deprecated likewise: every differing pixel is a change.")
    ] = False,
    read_text: ReadText = None,
    accept: Annotated[
        list[str] | None,
        typer.Option(metavar="GROUP|FILE", help="Deprecated likewise: use whatchanged accept."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="A shipped model or a model folder, which always answers; measured: no model.",
            autocompletion=completion.answering,
        ),
    ] = None,
    pdf_dpi: PDFDensity = None,
    embed: Annotated[bool, typer.Option("--embed", help="Embed the pictures in index.html.")] = False,
    workers: Annotated[int | None, typer.Option(min=1, max=256, help="Processes (one a core).")] = None,
    ray: Ray = None,
    force: Annotated[bool, typer.Option("--force", help="Ignore the answers of an earlier run.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress and no remarks.")] = False,
) -> None:
    """Compare many pairs of pictures: two folders, a git revision, or a testing tool's results."""
    from whatchanged.compare.ignore import read_ignored
    from whatchanged.compare.noise import read_noise
    from whatchanged.compare.policies import read_policies
    from whatchanged.compare.settings import CompareSettings
    from whatchanged.measured.policy import DEFAULT, find_policy
    from whatchanged.text.recogniser import reads_words

    _check(old, new, git)
    others = git or accept or ignore or noise or strict or model or policy or policies
    if calibrate and (others or read_text is not None):
        raise typer.BadParameter("--calibrate goes with two folders and -o FILE alone")
    if calibrate:
        _calibrate(old, new, output, workers, quiet)
        return
    model = answering(model, quiet)
    usual = find_policy(policy or DEFAULT.name)
    settings = CompareSettings(
        model,
        sensitivity,
        strict,
        read_ignored(ignore) if ignore else (),
        read_text=reads_words(read_text, quiet),
        policy=usual,
        policies=read_policies(policies, usual) if policies else (),
    )
    note_policy(sensitivity, strict, quiet)
    if model is not None:
        from whatchanged.answers import Answerer

        Answerer(model)  # an invalid one stops the command here, before anything is written
    if noise is not None:
        settings = read_noise(noise).applied(settings)
    if accept and any_remote(old, new, output):
        only_here({"--accept": accept}, "copy the pictures there with its own tools")
    if accept and (output is None or not output.is_dir()):
        raise typer.BadParameter("--accept wants -o DIR, the results that were looked at")
    if output is not None and not is_remote(output) and output.absolute().parent.is_dir():
        hold(output)
    with _matched(old, new, git, output, pdf_dpi, quiet) as (matched, folder):
        launch = Launch(workers=workers, ray=ray, quiet=quiet)
        with on_cluster(launch, [path for path in (old, new) if path is not None]) as launch:
            comparison = _run(matched, settings, folder, launch.workers, force, quiet)
        if accept:
            _accept(comparison, accept, folder, quiet)
            return
        if output is not None:
            from whatchanged.compare.outputs import write_outputs

            page = embed or not any_remote(old, new, output)
            write_outputs(comparison, output, embed, page)
            if not page:
                note(
                    "index.html is not written, as it cannot link across a URL. Pass --embed to write it.",
                    quiet,
                )
    _print_results(comparison, output, annotations is not None, quiet)
    if fail_on == "changed" and not comparison.passes:
        raise typer.Exit(1)


def _check(old: Path | None, new: Path | None, git: str | None) -> None:
    """Check that the arguments do not contradict each other."""
    if git is not None and new is not None:
        raise typer.BadParameter("--git compares one folder; name one, or none for this one")
    if any_remote(old, new):
        one = new is None and old is not None and old.suffix.lower() not in (".csv", ".jsonl")
        only_here({"--git": git, "one folder with both": one}, "name two folders, or a list of pairs")
    if git is None and old is None:
        raise typer.BadParameter("name two folders, OLD and NEW; one folder with both; or --git REV")


@contextmanager
def _matched(
    old: Path | None, new: Path | None, git: str | None, output: Path | None, dpi: float | None, quiet: bool
) -> "Iterator[tuple[Matched, Path]]":
    """Yield the pairs and the folder for the stored answers.

    This folder is the folder of results, or a temporary folder.
    """
    from whatchanged.compare.outputs import STORED, claim

    if output is None or is_remote(output):
        if output is not None:
            claim(output)
        with tempfile.TemporaryDirectory(prefix="whatchanged-") as place:
            yield _match(old, new, git, Path(place), dpi), Path(place)
        return
    made, begun = not output.exists(), (output / STORED).exists()
    if claim(output):
        note(
            f"{output}: its answers were not stored here, by this user, so all pairs are compared anew.",
            quiet,
        )
    try:
        matched = _match(old, new, git, output, dpi)
    except WhatchangedError:
        if made:
            shutil.rmtree(output)
        elif not begun:
            (output / STORED).unlink()
        raise
    yield matched, output


def _match(old: Path | None, new: Path | None, git: str | None, folder: Path, dpi: float | None) -> "Matched":
    """Return the pairs to compare. Each page of a PDF file is a separate pair."""
    from whatchanged.compare.pdf_pages import with_pages
    from whatchanged.pdf import DPI

    return with_pages(_match_files(old, new, git, folder), folder, dpi or DPI)


def _match_files(old: Path | None, new: Path | None, git: str | None, folder: Path) -> "Matched":
    """Return the pairs to compare, with one pair for each file."""
    from whatchanged.compare.git import match_revisions
    from whatchanged.compare.layouts import match_results
    from whatchanged.compare.pairs import match_folders, match_list
    from whatchanged.compare.pdf_pages import are_files, match_files
    from whatchanged.datasets.plain import recognises

    if git is not None:
        return match_revisions(git, old or Path(), folder, folder)
    assert old is not None
    if new is not None and are_files(old, new):
        return match_files(old, new)
    if new is not None:
        return match_folders(old, new, [folder], pages=True)
    return match_list(old) if recognises(old) else match_results(old, folder, folder)


def _run(
    matched: "Matched",
    settings: "CompareSettings",
    folder: Path,
    workers: int | None,
    force: bool,
    quiet: bool,
) -> "Comparison":
    """Compare all pairs and return the comparison.

    Answers of an earlier run in the same folder are reused.
    """
    from whatchanged.compare.comparison import compare as compare_pairs
    from whatchanged.compare.outputs import STORED
    from whatchanged.compare.stored import StoredAnswers

    try:
        with (
            StoredAnswers(folder / STORED, settings.identity(), force) as stored,
            progress("comparing", len(matched.pairs), quiet) as advance,
        ):
            return compare_pairs(matched, settings, stored, workers, advance)
    except KeyboardInterrupt:
        note("Interrupted. The same command goes on from here.")
        raise


def _print_results(comparison: "Comparison", output: Path | None, github: bool, quiet: bool) -> None:
    """Print the headline and the largest groups on stdout, or the messages that GitHub reads."""
    from whatchanged.compare.annotations import github_annotations
    from whatchanged.compare.words import group_sentence, headline, looked_by, otherwise, outcome_sentence

    if github:
        for line in github_annotations(comparison):
            typer.echo(line)  # GitHub acts on these; text that they quote is escaped
    show(headline(comparison))
    note(looked_by(comparison), quiet)
    if otherwise(comparison):
        show(otherwise(comparison))
    changed = [group for group in comparison.groups if group.changed]
    for group in changed[:MOST_GROUPS]:
        show(f"group {group.number}: {group_sentence(comparison, group)}")
    if len(changed) > MOST_GROUPS:
        show(f"and {counted(len(changed) - MOST_GROUPS, 'more group')}")
    for outcome in comparison.alone[:MOST_GROUPS]:
        show(f"{outcome.pair.pair_id}: {outcome_sentence(outcome)}")
    if len(comparison.alone) > MOST_GROUPS:
        show(f"and {counted(len(comparison.alone) - MOST_GROUPS, 'more picture')}")
    for outcome in comparison.failed[:MOST_GROUPS]:
        note(f"{outcome.pair.pair_id}: {outcome_sentence(outcome)}")
    for one in comparison.unused:
        note(f"This ignored box touches no difference any more: {one}", quiet)
    for text in comparison.matched.notes:
        note(text, quiet)
    if output is not None and not any_remote(output):
        note(f"To look at: {output / 'index.html'}", quiet)


def _calibrate(
    old: Path | None, new: Path | None, output: Path | None, workers: int | None, quiet: bool
) -> None:
    """Run ``--calibrate``, which does the same as the command ``calibrate``."""
    if old is None or new is None or output is None:
        raise typer.BadParameter("--calibrate wants two folders, RUN1 and RUN2, and -o FILE")
    words = shlex.join(["whatchanged", "calibrate", str(old), str(new), "-o", str(output)])
    note(f"--calibrate goes with the next minor version; type: {words}", quiet)
    learn(old, new, output, workers, quiet)


def _accept(comparison: "Comparison", wanted: "Sequence[str]", folder: Path, quiet: bool) -> None:
    """Copy new pictures over old pictures, if no picture changed since the results were written."""
    from whatchanged.compare.accept import carry_out, plan, to_do
    from whatchanged.compare.lines import results_text
    from whatchanged.compare.record import AGAIN, RESULTS, digest_of_results, record_of

    words = shlex.join(["whatchanged", "accept", str(folder), *wanted])
    note(f"--accept goes with the next minor version; type: {words}", quiet)
    try:
        seen = read_regular(folder / RESULTS)
    except OSError as error:
        raise OutputError(f"{folder / RESULTS}: cannot be read. Compare first, look, then accept.") from error
    text = results_text(comparison)
    if seen != text.encode("utf-8", "backslashreplace"):
        raise OutputError(
            f"{folder / RESULTS}: the pictures or the settings have changed since it was written. {AGAIN}"
        )
    copies = to_do(plan(record_of(comparison, digest_of_results(text)), wanted))
    carry_out(copies, folder, " ".join(wanted))
    show_accepted(copies)
