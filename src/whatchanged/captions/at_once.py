"""Caption many pairs in batches, by a trained run or by a model that reads stored features.

At the end, one line is written for each pair. No pair is measured without a model, because the pictures
themselves may be missing.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from whatchanged.captions.maps import CHUNK, Maps
from whatchanged.captions.one_by_one import BATCH, PairToCaption, identity_of_list, named_from, sidecar
from whatchanged.errors import ImageError
from whatchanged.files import whole, write_output
from whatchanged.launch import Launch
from whatchanged.remarks import progress
from whatchanged.urls import is_remote

if TYPE_CHECKING:
    from whatchanged.captioner.attention import WordMaps


class PairDescription(Protocol):
    """The prediction for a pair: the sentence, the probability of no change, and the words.

    The probability is None if the model does not compute a probability. Each word comes with its attention
    maps if maps were requested.
    """

    @property
    def sentence(self) -> str:
        """The caption."""

    @property
    def no_change(self) -> float | None:
        """The probability that nothing changed, from 0 to 1."""

    @property
    def words(self) -> "WordMaps":
        """The words in the order of the sentence, with their maps."""


class PairCaptioner(Protocol):
    """A captioner of pairs: a run that reads pictures, or a model that reads stored features."""

    @property
    def name(self) -> str:
        """The captioner's name, written as ``answer`` in each line."""

    @property
    def grid(self) -> tuple[int, int]:
        """The numbers of rows and columns of the attention map of each picture."""

    @property
    def layer(self) -> str:
        """The name of the attention layer from which the maps are taken."""

    def about(self) -> dict[str, str]:
        """The fields that identify the model."""

    def describe(
        self, pairs: Sequence[tuple[Path, Path]], batch_size: int
    ) -> "Iterator[PairDescription | ImageError]":
        """Yield the prediction for each pair in order, or the error about the pictures of the pair."""


class CaptionerChoice(Protocol):
    """The selected captioner, which is opened after the data set."""

    @property
    def reads_pictures(self) -> bool:
        """Whether the captioner reads the pictures themselves.

        Otherwise the captioner reads stored features.
        """

    def open(self, root: Path, beams: int, maps: bool) -> PairCaptioner:
        """Open the captioner for the data set at ``root``.

        maps: whether each word comes with its attention map.
        """


@dataclass(frozen=True)
class PairsOfRun:
    """The pairs to caption, and the output.

    base: the folder to which picture paths are relative. span: the index of the first captioned pair in
    ``listed``, and the index after the last captioned pair. attention: the folder of the maps, or None.
    replace: whether existing maps may be replaced.
    """

    base: Path
    listed: Sequence[PairToCaption]
    span: tuple[int, int]
    output: Path
    attention: Path | None
    replace: bool

    @property
    def pairs(self) -> Sequence[PairToCaption]:
        """The pairs that are captioned."""
        return self.listed[slice(*self.span)]

    def maps(self, captioner: PairCaptioner) -> Maps | None:
        """Return the object that writes the maps, or None if no maps are written.

        Raises OutputError if existing maps may not be replaced.
        """
        if self.attention is None:
            return None
        about = {
            "model": captioner.about(),
            "list": identity_of_list(self.base, self.listed)["sha256"],
            "grid": list(captioner.grid),
            "layer": captioner.layer,
        }
        maps = Maps(self.attention, self.span[0], len(self.pairs), about)
        maps.check_free(self.replace)
        return maps


def caption_at_once(choice: CaptionerChoice, job: PairsOfRun, beams: int, launch: Launch) -> int:
    """Write a line for every pair, and maps if requested.

    Return the number of pairs that failed. A line has the keys of ``Answer.as_json``, without the keys whose
    values require a calibration. Maps are written during the run, and lines are written at the end.
    """
    captioner = choice.open(job.base, beams, job.attention is not None)
    maps = job.maps(captioner)
    paths = [(pair.before, pair.after) for pair in job.pairs]
    failed = 0
    lines = []
    words: dict[str, Any] = {}  # of the pairs whose maps are not written yet
    with progress("captioning", len(paths), launch.quiet) as advance:
        for done, (pair, description) in enumerate(
            zip(job.pairs, captioner.describe(paths, launch.batch_size or BATCH), strict=True), 1
        ):
            if isinstance(description, ImageError):
                failed += 1
            elif maps is not None and description.words:
                words[pair.pair_id] = description.words
            if maps is not None and maps.ends_file(done):
                _write_maps(maps, done, words)
                words = {}
            fields = _fields(pair, description, captioner.name, job.base)
            lines.append(json.dumps(fields, ensure_ascii=False) + "\n")
            advance(1)
    _write(job.output, "".join(lines))
    return failed


def _write_maps(maps: Maps, done: int, words: dict[str, Any]) -> None:
    """Write the next file of maps.

    Before the first file is written, the folder is created and maps of earlier runs are removed.
    """
    maps.folder.mkdir(exist_ok=True)
    if done == min(maps.pairs, CHUNK):
        for earlier in maps.existing():
            earlier.unlink()
    maps.write(done, words)


def _fields(
    pair: PairToCaption, description: "PairDescription | ImageError", run: str, root: Path
) -> dict[str, Any]:
    """Return the fields of one line.

    run: the name of the recipe, which is written instead of the name of a model.
    """
    if isinstance(description, ImageError):
        return {"id": pair.pair_id, "error": str(description)}
    fields: dict[str, Any] = {"id": pair.pair_id, "caption": description.sentence}
    if description.no_change is not None:
        fields["no_change"] = round(description.no_change, 4)
    before, after = (named_from(root, picture) for picture in (pair.before, pair.after))
    return {**fields, "answer": run, "before": before, "after": after}


def _write(output: Path, text: str) -> None:
    """Write the lines, and remove the sidecar file of an earlier output, which does not belong to the new
    lines.
    """
    if not output.is_file() or is_remote(output):
        write_output(output, text)
        with suppress(FileNotFoundError):
            sidecar(output).unlink()
        return
    target = output.resolve()
    with whole(target) as draft:
        draft.write_text(text, encoding="utf-8", errors="backslashreplace")
        sidecar(output).unlink(missing_ok=True)
