"""``whatchanged caption``: a sentence for every pair of a list or data set, one JSON line each, in order.

A line is ``{"id", "caption", "no_change"}``, or ``{"id", "error"}`` for a pair that failed, and is flushed
before the next is written. A model that can tell adds ``"unfamiliar"``: whether a picture of the pair is
unlike anything it has seen. ``OUT.meta.json`` beside it names the model and the list, so ``--resume`` never
mixes two runs. Shards are contiguous: their outputs, one after the other, are the whole.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Literal

import typer

from whatchanged.cli.console import check_output, check_outputs, counted, note, progress
from whatchanged.errors import DatasetError, ImageError, OutputError, PredictionsError
from whatchanged.files import whole, write_output

if TYPE_CHECKING:
    from whatchanged.captioner.runtime import Captioner, Description
    from whatchanged.datasets import Dataset
    from whatchanged.records import PairRecord

CHUNK = 1000
"""Pairs in one file of attention maps."""


def caption(
    pairs: Annotated[Path, typer.Argument(help="A CSV or JSONL list, or a data set's folder.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the predictions go (JSON lines).")],
    model: Annotated[str | None, typer.Option(help="A shipped model or a model folder.")] = None,
    dataset: Annotated[str | None, typer.Option(help="Which data set this is, if not recognised.")] = None,
    split: Annotated[
        Literal["all", "train", "val", "test"], typer.Option(help="Caption this split only.")
    ] = "all",
    skip_missing: Annotated[
        bool, typer.Option("--skip-missing", help="Leave out pairs whose pictures are missing.")
    ] = False,
    batch_size: Annotated[int, typer.Option(min=1, max=1024, help="Pairs side by side.")] = 16,
    beams: Annotated[int, typer.Option(min=1, max=64, help="Hypotheses kept by the search.")] = 1,
    shard: Annotated[
        str, typer.Option(metavar="I/N", help="Only the I-th of N parts, from 1/N to N/N.")
    ] = "1/1",
    attention: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write each word's attention too (safetensors).")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue after the last whole line.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the output.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress and no remarks.")] = False,
) -> None:
    """Caption every pair of a list or data set."""
    part = _part(shard)
    if resume and force:
        raise typer.BadParameter("choose one of --resume and --force")
    _check_output(output, pairs, force or resume)
    if attention is not None:
        _check_attention(attention, output)
    from whatchanged.captioner.runtime import load
    from whatchanged.datasets import open_dataset

    found = open_dataset(pairs, dataset, split, skip_missing)
    records = [record for record in found.records if record.after is not None]
    if not records:
        raise DatasetError(
            f"{pairs}: it holds {counted(len(found.records), 'single picture')} and no pairs; only pairs can "
            "be captioned. Choose another --split or data set."
        )
    _check_no_picture(output, records)
    _report(found, len(found.records) - len(records), quiet)
    first, last = (len(records) * i // part[1] for i in (part[0] - 1, part[0]))
    captioner = load(model)
    identity = _identity(captioner, found.root, records, (first, last), beams, attention is not None)
    run = _Run(records[first:last], first, output, identity, attention, _about_maps(captioner, identity))
    run.check_maps(replace=force or resume)
    failed = _caption_all(captioner, run, batch_size, beams, run.standing(resume), quiet)
    if failed:
        note(f"{failed:,} of {counted(last - first, 'pair')} failed; the file says why: {output}")
        raise typer.Exit(1)
    note(f"{counted(last - first, 'pair')} captioned: {output}", quiet)


@dataclass(frozen=True)
class _Standing:
    """How far an output has come: pairs done, pairs of them that failed, and where the next line begins."""

    done: int = 0
    failed: int = 0
    offset: int = 0


@dataclass(frozen=True)
class _Run:
    """One output: its pairs, the number of the first in the whole list, where it goes and what it is.

    ``attention`` is the folder of its maps, if they are wanted, and ``about`` what their files say of them.
    """

    records: Sequence["PairRecord"]
    first: int
    output: Path
    identity: dict[str, Any]
    attention: Path | None
    about: dict[str, Any]

    @property
    def meta(self) -> Path:
        return _sidecar(self.output)

    def standing(self, resume: bool) -> _Standing:
        """Where to start. Raises OutputError where the output belongs to another model, list or setting."""
        if not resume or not self.output.exists():
            return _Standing()
        try:
            known = json.loads(self.meta.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise OutputError(
                f"{self.meta}: cannot read it; without it {self.output} cannot be continued. "
                "Pass --force to start anew."
            ) from error
        for key, value in self.identity.items():
            if key != "whatchanged" and (not isinstance(known, dict) or known.get(key) != value):
                raise OutputError(
                    f"{self.output}: it was made with another {key} (see {self.meta.name}), so it cannot be "
                    "continued. Pass --force to replace it, or choose another name."
                )
        standing = self._count()
        self._check_written(standing.done)
        return standing

    def check_maps(self, replace: bool) -> None:
        """That no maps lie where this run's go. Raises OutputError unless they may be replaced."""
        lying = self._lying()
        if lying and not replace:
            raise OutputError(
                f"{lying[0]}: there are attention maps already. Pass --resume to continue or --force to "
                "replace them, or choose another folder."
            )

    def _lying(self) -> list[Path]:
        """Files of maps in the folder whose first pair is one of this run's."""
        if self.attention is None:
            return []
        found = re.compile(r"attention-(\d{7,})\.safetensors")
        names = {path: found.fullmatch(path.name) for path in sorted(self.attention.glob("attention-*"))}
        span = range(self.first, self.first + len(self.records))
        return [path for path, name in names.items() if name and int(name[1]) in span]

    def _check_written(self, done: int) -> None:
        """That the maps of the pairs that are done lie in the folder, and are this model's and list's."""
        if self.attention is None:
            return
        from whatchanged.captioner.attention import about_file, file_name

        for start in range(0, done, CHUNK):
            path = self.attention / file_name(self.first + start)
            try:
                about = about_file(path)
            except PredictionsError as error:
                raise OutputError(
                    f"{self.output}: the maps of its pairs are not in {self.attention}: {error} Name their "
                    "folder, or pass --force to start anew."
                ) from error
            if any(about[key] != value for key, value in self.about.items()):
                raise OutputError(
                    f"{path}: these maps were made with another model or list. Name the right folder, or "
                    "pass --force to start anew."
                )

    def write_maps(self, done: int, sentences: dict[str, Any]) -> None:
        """The attention of each word of the last sentences, CHUNK pairs a file; ``done`` pairs are done."""
        if self.attention is None:
            return
        from whatchanged.captioner.attention import file_name, pack

        path = self.attention / file_name(self.first + (done - 1) // CHUNK * CHUNK)
        write_output(path, pack(sentences, self.about))

    def _count(self) -> _Standing:
        """Whole lines that answer the first pairs in order; with maps, up to the last whole file of maps."""
        standing = _Standing()
        kept = standing
        with self.output.open("rb") as stream:
            for record, line in zip(self.records, stream, strict=False):
                if not line.endswith(b"\n"):
                    break
                fields = _line_fields(line)
                if fields.get("id") != record.pair_id:
                    raise OutputError(
                        f"{self.output}, line {standing.done + 1}: it is not the prediction for "
                        f"{record.pair_id!r}. Pass --force to start anew."
                    )
                standing = _Standing(
                    standing.done + 1, standing.failed + ("error" in fields), standing.offset + len(line)
                )
                if self.attention is None or standing.done % CHUNK == 0 or standing.done == len(self.records):
                    kept = standing
        return kept

    def open(self, standing: _Standing) -> BinaryIO:
        """The output, cut to what stands, ready for the next line, with the sidecar; older maps are gone.

        The sidecar takes its place last, so that it never speaks for lines of another run; that it can be
        written is known before anything else is touched. Raises OutputError, with everything as it was.
        """
        made = self.attention if self.attention is not None and not self.attention.exists() else None
        try:
            with whole(self.meta) as draft:
                draft.write_text(json.dumps(self.identity, indent=1) + "\n", encoding="utf-8")
                if made is not None:
                    made.mkdir()
                stream = self.output.open("r+b" if self.output.exists() else "wb")
                for path in [] if standing.done else self._lying():
                    path.unlink()
                stream.truncate(standing.offset)
                stream.seek(standing.offset)
        except OSError as error:
            if made is not None and made.is_dir():
                made.rmdir()
            raise OutputError(
                f"{self.output}: it, its maps or {self.meta.name} cannot be written: {error.strerror}."
            ) from error
        return stream


def _caption_all(
    captioner: "Captioner", run: _Run, batch_size: int, beams: int, standing: _Standing, quiet: bool
) -> int:
    """Caption what is left of the run and write it; how many of its pairs failed, earlier ones included."""
    failed, strange = standing.failed, 0
    looked: dict[str, Any] = {}
    with (
        run.open(standing) as stream,
        progress("captioning", len(run.records), quiet, standing.done) as advance,
    ):
        try:
            for number, (record, answer) in enumerate(
                _answers(captioner, run.records[standing.done :], batch_size, beams), standing.done + 1
            ):
                fields: dict[str, Any] = {"id": record.pair_id}
                if isinstance(answer, ImageError):
                    failed += 1
                    fields["error"] = str(answer)
                else:
                    fields |= {"caption": answer.sentence, "no_change": round(answer.no_change, 4)}
                    if answer.unfamiliar is not None:
                        fields["unfamiliar"] = answer.unfamiliar
                    strange += bool(answer.unfamiliar)
                    if answer.words:
                        looked[record.pair_id] = answer.words
                if number % CHUNK == 0 or number == len(run.records):
                    run.write_maps(number, looked)
                    looked = {}
                stream.write(
                    (json.dumps(fields, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")
                )
                stream.flush()
                advance(1)
        except KeyboardInterrupt:
            note(f"Interrupted. {run.output} is whole up to its last line; continue with --resume.")
            raise
    if strange:
        name = captioner.card.name
        note(
            f"{strange:,} of the pairs captioned now hold a picture unlike anything that {name} has seen"
            ' ("unfamiliar"); do not rely on their sentences.',
            quiet,
        )
    return failed


def _answers(
    captioner: "Captioner", records: Sequence["PairRecord"], batch_size: int, beams: int
) -> Iterator[tuple["PairRecord", "Description | ImageError"]]:
    """Every pair with its description, or with what is wrong with its pictures; in order."""
    import numpy as np

    for start in range(0, len(records), batch_size):
        batch = records[start : start + batch_size]
        pixels: list[Any] = []
        errors: dict[int, ImageError] = {}
        for i, record in enumerate(batch):
            assert record.after is not None  # single pictures were left out above
            try:
                pixels.append(captioner.read(record.before, record.after))
            except ImageError as error:
                errors[i] = error
        described = iter(captioner.describe_pixels(np.stack(pixels), beams) if pixels else ())
        for i, record in enumerate(batch):
            yield record, errors[i] if i in errors else next(described)


def _part(shard: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", shard)
    part = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 1 <= part[0] <= part[1]:
        raise typer.BadParameter(f"--shard is I/N with I from 1 to N, such as 1/4; got {shard!r}")
    return part


def _sidecar(output: Path) -> Path:
    return output.with_name(output.name + ".meta.json")


def _check_output(output: Path, pairs: Path, replace: bool) -> None:
    """That the output may be written, and is neither the list nor a file of the data set.

    In the folder of the data set, a file is known by its sidecar to be captions of an earlier run.
    """
    check_output(output, replace, "--resume to continue it or --force to replace it")
    check_output(_sidecar(output), force=True)
    if not pairs.is_dir() or not _sidecar(output).is_file():
        check_outputs([output], [pairs])


def _check_no_picture(output: Path, records: Sequence["PairRecord"]) -> None:
    """That the output is no picture of the pairs."""
    paths = (path for record in records for path in (record.before, record.after) if path is not None)
    if output.exists() and any(path.samefile(output) for path in paths):
        raise OutputError(f"{output}: this is a picture of the list. Name another file.")


def _check_attention(folder: Path, output: Path) -> None:
    """That maps can be written there at all."""
    if folder.resolve() in (output.resolve(), _sidecar(output).resolve()):
        raise OutputError(f"{folder}: --attention and --output name the same place. Choose another name.")
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{folder}: --attention wants a folder, this is a file. Choose another name.")
    if not folder.absolute().parent.is_dir():
        raise OutputError(f"{folder}: the folder {folder.absolute().parent} is not there. Make it first.")


def _report(found: "Dataset", single: int, quiet: bool) -> None:
    """What the reader of the data set wants a person to know."""
    report = found.report
    if report.skipped:
        note(f"Left out: {counted(len(report.skipped), 'pair')} without a picture.", quiet)
    if report.damaged:
        first = report.damaged[0]
        note(f"Left out, as damaged: {len(report.damaged):,} (first: {first}).", quiet)
    if single:
        note(f"Left out: {counted(single, 'single picture')}; only pairs can be captioned.", quiet)


def _identity(
    captioner: "Captioner",
    root: Path,
    records: Sequence["PairRecord"],
    span: tuple[int, int],
    beams: int,
    attention: bool,
) -> dict[str, Any]:
    """What the predictions depend on; paths count as they lie under the data set, wherever that lies."""
    from whatchanged import __version__

    base = f"{root if root.is_dir() else root.parent}/"
    digest = hashlib.sha256()
    for record in records:
        paths = (str(path).removeprefix(base) for path in (record.before, record.after))
        digest.update("\0".join((record.pair_id, *paths, "\n")).encode("utf-8", "surrogateescape"))
    card = captioner.card
    return {
        "model": {
            "name": card.name,
            "version": card.version,
            "fingerprint": captioner.bundle.fingerprint,
            "preparation": str(card.provenance.get("preparation", "unknown")),
        },
        "list": {"pairs": len(records), "sha256": digest.hexdigest()},
        "shard": {"first": span[0], "last": span[1]},
        "threshold": card.no_change.threshold,
        "beams": beams,
        "attention": attention,
        "whatchanged": __version__,
    }


def _about_maps(captioner: "Captioner", identity: dict[str, Any]) -> dict[str, Any]:
    """What the files of maps say of themselves."""
    card = captioner.card
    unnamed = f"as {card.name} {card.version} ({card.method}) gives it"
    return {
        "model": identity["model"],
        "list": identity["list"]["sha256"],
        "grid": list(card.grid),
        "layer": str(card.provenance.get("attention", unnamed)),
    }


def _line_fields(line: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(line)
    except ValueError:
        return {}
    return fields if isinstance(fields, dict) else {}
