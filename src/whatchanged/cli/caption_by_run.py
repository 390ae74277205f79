"""``whatchanged caption --run``: a run's sentences by torch, a line a pair, written when all is done."""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from whatchanged.cli.caption_run import PairToCaption, named_from, sidecar
from whatchanged.cli.console import note, progress
from whatchanged.errors import ImageError, MissingExtra
from whatchanged.files import whole, write_output
from whatchanged.plurals import counted
from whatchanged.urls import is_remote

if TYPE_CHECKING:
    from whatchanged.recipes.schema import Precision
    from whatchanged.training.caption import RunDescription


@dataclass(frozen=True)
class RunChoice:
    """A run that is to caption, and how."""

    run: Path
    features: Path | None
    device: str
    checkpoint: str
    precision: "Precision"


def chosen_run(
    run: Path | None, features: Path | None, device: str, checkpoint: str, precision: "Precision"
) -> RunChoice | None:
    """What ``--run`` and the options that go with it say; None without it. Refuses them without it."""
    if run is not None:
        return RunChoice(run, features, device, checkpoint, precision)
    given = {
        "--features": features is not None,
        "--device": device not in ("auto", "cpu"),
        "--checkpoint": checkpoint != "auto",
        "--precision": precision != "fp32",
    }
    for option in (option for option, asked in given.items() if asked):
        raise typer.BadParameter(f"{option} is for a run's sentences; name the run (--run), or leave it out")
    return None


def refuse_others(choice: RunChoice | None, used: dict[str, bool]) -> None:
    """Refuse options that a run's sentences cannot have. used: option -> whether it is used."""
    for option, asked in used.items():
        if asked and choice is not None:
            raise typer.BadParameter(f"a run (--run) goes without {option}; for that, export it to a model")


def caption_by_run(
    choice: RunChoice, root: Path, pairs: Sequence[PairToCaption], output: Path, batch_size: int, quiet: bool
) -> None:
    """Write a line for every pair, with pictures named from ``root``; exit code 1 where some failed.

    A line has the names of ``Answer.as_json``: what a run without calibration knows of them.
    """
    try:
        from whatchanged.training.caption import open_run_captioner
    except ModuleNotFoundError as error:
        raise MissingExtra("whatchanged caption --run", error.name or "torch", "train") from error

    captioner = open_run_captioner(
        choice.run, root, choice.features, choice.device, choice.checkpoint, choice.precision
    )
    paths = [(pair.before, pair.after) for pair in pairs]
    failed = 0
    lines = []
    with progress("captioning", len(pairs), quiet) as advance:
        for pair, said in zip(pairs, captioner.describe(paths, batch_size), strict=True):
            failed += isinstance(said, ImageError)
            fields = _fields(pair, said, captioner.name, root)
            lines.append(json.dumps(fields, ensure_ascii=False) + "\n")
            advance(1)
    _write(output, "".join(lines))
    if failed:
        note(f"{failed:,} of {counted(len(pairs), 'pair')} failed; the file says why: {output}")
        raise typer.Exit(1)
    note(f"{counted(len(pairs), 'pair')} captioned: {output}", quiet)


def _fields(
    pair: PairToCaption, description: "RunDescription | ImageError", run: str, root: Path
) -> dict[str, Any]:
    """The fields of one line. run: the name of the recipe, which stands where a model's would."""
    if isinstance(description, ImageError):
        return {"id": pair.pair_id, "error": str(description)}
    fields: dict[str, Any] = {"id": pair.pair_id, "caption": description.sentence}
    if description.no_change is not None:
        fields["no_change"] = round(description.no_change, 4)
    before, after = (named_from(root, picture) for picture in (pair.before, pair.after))
    return {**fields, "answer": run, "before": before, "after": after}


def _write(output: Path, text: str) -> None:
    """Write the lines. What a model noted beside those that lay here before goes: it is not of these."""
    if not output.is_file() or is_remote(output):
        write_output(output, text)
        with suppress(FileNotFoundError):
            sidecar(output).unlink()
        return
    target = output.resolve()
    with whole(target) as draft:
        draft.write_text(text, encoding="utf-8", errors="backslashreplace")
        sidecar(output).unlink(missing_ok=True)
