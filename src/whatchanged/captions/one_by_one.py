"""The run of ``whatchanged caption``: write the output, resume an interrupted run, and caption each pair."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from whatchanged.captions.maps import Maps
from whatchanged.errors import ImageError, OutputError
from whatchanged.files import room_for, whole, whole_elsewhere, write_output
from whatchanged.json_values import read_json
from whatchanged.launch import Launch
from whatchanged.opening import open_regular, read_regular_text
from whatchanged.processes import in_order, worker_pool, works_elsewhere
from whatchanged.remarks import note, progress
from whatchanged.urls import is_remote

if TYPE_CHECKING:
    from whatchanged.answers import Answer, Answerer

BATCH = 16
"""The default number of pairs in a batch."""


class PairToCaption(NamedTuple):
    """Two pictures to caption."""

    pair_id: str
    before: Path
    after: Path


@dataclass(frozen=True)
class Standing:
    """The progress of an output."""

    done: int = 0
    """The number of pairs with a line in the output."""
    failed: int = 0
    """The number of failed pairs with a line in the output."""
    offset: int = 0
    """The byte position of the next line."""


@dataclass(frozen=True)
class CaptionRun:
    """One run: the path of the output, the pairs, and the settings on which the predictions depend."""

    pairs: Sequence[PairToCaption]
    base: Path
    """The folder to which picture paths are relative, which is the folder of the list or of the data set."""
    output: Path
    identity: dict[str, Any]
    """The settings that ``--resume`` compares, as ``identity_of`` returns them."""
    maps: Maps | None

    @property
    def meta(self) -> Path:
        """The path of the sidecar file beside the output, which contains ``identity``."""
        return sidecar(self.output)

    def standing(self, resume: bool) -> Standing:
        """Return the progress of the output, from which the run continues.

        Raises OutputError if the output belongs to another model, list or setting.
        """
        if not resume or not self.output.exists():
            return Standing()
        self._check_identity()
        standing = self._count()
        if self.maps is not None:
            self.maps.check_written(standing.done, self.output)
        return standing

    def open(self, standing: Standing) -> AbstractContextManager[BinaryIO]:
        """Yield the opened output, and write its sidecar file.

        An incomplete last line is removed, so that the next line can be written. The sidecar file gets its
        final name last, so that a sidecar file never belongs to the lines of another run. The sidecar file is
        checked to be writable before anything else changes. Maps of earlier runs are removed. Raises
        OutputError before anything is changed.
        """
        if is_remote(self.output):
            return self._open_elsewhere()
        folder = self.maps.folder if self.maps is not None else None
        made = folder if folder is not None and not folder.exists() else None
        try:
            with whole(self.meta) as draft:
                draft.write_text(json.dumps(self.identity, indent=1) + "\n", encoding="utf-8")
                if made is not None:
                    made.mkdir()
                stream = self.output.open("r+b" if self.output.exists() else "wb")
                if self.maps is not None and not standing.done:
                    for path in self.maps.existing():
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

    @contextmanager
    def _open_elsewhere(self) -> Iterator[BinaryIO]:
        """Yield a stream to a remote output.

        The remote file appears when all lines are written, and its sidecar file is written afterwards.
        """
        with whole_elsewhere(self.output) as stream:
            yield stream
        write_output(self.meta, json.dumps(self.identity, indent=1) + "\n")

    def _check_identity(self) -> None:
        try:
            known = read_json(read_regular_text(self.meta))
        except (OSError, ValueError) as error:
            raise OutputError(
                f"{self.meta}: cannot read it; without it {self.output} cannot be continued. "
                "Pass --force to start anew."
            ) from error
        for key, value in self.identity.items():
            if key == "whatchanged":  # another version of the program may continue the output
                continue
            if not isinstance(known, dict) or known.get(key) != value:
                raise OutputError(
                    f"{self.output}: it was made with another {key} (see {self.meta.name}), so it cannot be "
                    "continued. Pass --force to replace it, or choose another name."
                )

    def _count(self) -> Standing:
        """Count the complete lines for the first pairs of the run, in order.

        If maps are written, only lines up to the last complete map file count.
        """
        standing = Standing()
        kept = standing
        with open_regular(self.output) as stream:
            for pair, line in zip(self.pairs, stream, strict=False):
                if not line.endswith(b"\n"):
                    break
                fields = _line_fields(line)
                if fields.get("id") != pair.pair_id:
                    raise OutputError(
                        f"{self.output}, line {standing.done + 1}: it is not the prediction for "
                        f"{pair.pair_id!r}. Pass --force to start anew."
                    )
                standing = Standing(
                    standing.done + 1, standing.failed + ("error" in fields), standing.offset + len(line)
                )
                if self.maps is None or self.maps.ends_file(standing.done):
                    kept = standing
        return kept


@dataclass(frozen=True)
class Captioned:
    """The result for one pair, captioned or failed.

    line: the line of the pair in the output. words: the words with their attention maps, if maps are
    requested.
    """

    line: bytes
    failed: bool = False
    unfamiliar: bool = False
    measured: bool = False
    words: Any = None


def caption_all(answerer: "Answerer", run: CaptionRun, standing: Standing, launch: Launch) -> int:
    """Caption the remaining pairs of the run and write their lines.

    Return the number of failed pairs in the whole run.
    """
    failed = standing.failed
    unfamiliar = measured = 0
    words: dict[str, Any] = {}  # of the pairs whose maps are not written yet
    left = run.pairs[standing.done :]
    with (
        room_for(run.output),  # outside the stream's block too: closing the stream writes buffered lines
        run.open(standing) as stream,
        progress("captioning", len(run.pairs), launch.quiet, standing.done) as advance,
    ):
        try:
            for done, (pair, captioned) in enumerate(
                _captioned(answerer, run, left, launch.batch_size or BATCH), standing.done + 1
            ):
                failed += captioned.failed
                unfamiliar += captioned.unfamiliar
                measured += captioned.measured
                if captioned.words:
                    words[pair.pair_id] = captioned.words
                if run.maps is not None and run.maps.ends_file(done):
                    run.maps.write(done, words)
                    words = {}
                stream.write(captioned.line)
                stream.flush()
                advance(1)
        except (KeyboardInterrupt, SystemExit):
            if is_remote(run.output):
                note(f"Interrupted. {run.output} appears only when it is whole; start again.")
            else:
                note(f"Interrupted. {run.output} is whole up to its last line; continue with --resume.")
            raise
    if unfamiliar:
        note(
            f"{unfamiliar:,} of the pairs captioned now hold a picture unlike anything that "
            f'{answerer.models[0].card.name} has seen ("unfamiliar"); do not rely on their sentences.',
            launch.quiet,
        )
    if measured:
        note(f"{measured:,} of the pairs captioned now were measured, without a model.", launch.quiet)
    return failed


def identity_of(
    answerer: "Answerer", base: Path, pairs: Sequence[PairToCaption], span: tuple[int, int], attention: bool
) -> dict[str, Any]:
    """Return the settings that the predictions depend on.

    Picture paths are relative to ``base``, so that a data set can be moved. span: the index of the first pair
    of this shard, and the index after the last pair. If the user named no model, the settings list every
    model that may have captioned pairs, with the threshold of each model.
    """
    from whatchanged import __version__
    from whatchanged.answers.models import identity_of_models
    from whatchanged.text.recogniser import reading_identity

    reading = reading_identity(answerer.read_text)
    return {
        **identity_of_models(answerer.models, answerer.insists),
        **({} if reading is None else {"read_text": reading}),
        "list": identity_of_list(base, pairs),
        "shard": {"first": span[0], "last": span[1]},
        "beams": answerer.beams,
        "attention": attention,
        "whatchanged": __version__,
    }


def identity_of_list(base: Path, pairs: Sequence[PairToCaption]) -> dict[str, Any]:
    """Return the number of pairs, and a hash of their ids and of their picture paths relative to ``base``."""
    digest = hashlib.sha256()
    for pair in pairs:
        paths = (named_from(base, path) for path in (pair.before, pair.after))
        digest.update("\0".join((pair.pair_id, *paths, "\n")).encode("utf-8", "surrogateescape"))
    return {"pairs": len(pairs), "sha256": digest.hexdigest()}


def named_from(base: Path, picture: Path) -> str:
    """Return the path of a picture relative to the folder ``base``."""
    return str(picture).removeprefix(f"{base}/")


def sidecar(output: Path) -> Path:
    """Return the path of the sidecar file, which contains the model, list and settings of an output."""
    return output.with_name(output.name + ".meta.json")


def _captioned(
    answerer: "Answerer", run: CaptionRun, pairs: Sequence[PairToCaption], batch_size: int
) -> Iterator[tuple[PairToCaption, Captioned]]:
    """Yield every captioned pair in order.

    Pairs are captioned in this process, or by the workers of a cluster. The batches are the same in both
    cases, so the numbers in the output are also the same.
    """
    from whatchanged.answers import Answerer, worker

    batches = [pairs[start : start + batch_size] for start in range(0, len(pairs), batch_size)]
    keeps_words = run.maps is not None
    if not works_elsewhere():
        for batch in batches:
            yield from zip(batch, caption_batch(answerer, run.base, keeps_words, batch), strict=True)
        return
    make = partial(Answerer, answerer.named, beams=answerer.beams, read_text=answerer.read_text)
    with worker_pool(len(batches), worker.start, (make,)) as pool:
        begun = (
            pool.submit(worker.with_answerer, caption_batch, run.base, keeps_words, batch)
            for batch in batches
        )
        for batch, captioned in zip(batches, in_order(begun), strict=True):
            yield from zip(batch, captioned, strict=True)


def caption_batch(
    answerer: "Answerer", base: Path, keeps_words: bool, batch: Sequence[PairToCaption]
) -> list[Captioned]:
    """Return the pairs of one batch with their lines. Picture paths in lines are relative to ``base``."""
    from whatchanged.answers import MEASURED

    results = []
    for pair, answer in zip(batch, answerer.answer_batch([(p.before, p.after) for p in batch]), strict=True):
        line = _line(pair, answer, base)
        if isinstance(answer, ImageError):
            results.append(Captioned(line, failed=True))
            continue
        said = answer.description
        words = said.words if said is not None and keeps_words else None
        results.append(
            Captioned(
                line, unfamiliar=bool(answer.unfamiliar), measured=answer.answer == MEASURED, words=words
            )
        )
    return results


def _line(pair: PairToCaption, answer: "Answer | ImageError", base: Path) -> bytes:
    """Return one line of the output."""
    if isinstance(answer, ImageError):
        fields: dict[str, Any] = {"id": pair.pair_id, "error": str(answer)}
    else:
        before, after = (named_from(base, picture) for picture in (pair.before, pair.after))
        fields = answer.as_json(pair.pair_id, before, after)
    # A file name need not be UTF-8. What cannot be encoded becomes an escape, which JSON reads as the same.
    return (json.dumps(fields, ensure_ascii=False, allow_nan=False) + "\n").encode(
        "utf-8", "backslashreplace"
    )


def _line_fields(line: bytes) -> dict[str, Any]:
    """Return the fields of an existing line; {} if the line is invalid."""
    try:
        fields = read_json(line)
    except ValueError:
        return {}
    return fields if isinstance(fields, dict) else {}
