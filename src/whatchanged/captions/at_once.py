"""Caption many pairs in batches, by a trained run or by a model that reads stored features.

One line for each pair is written at the end. No pair is measured here: the pictures themselves may be
missing.
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
    """The prediction for a pair: the sentence, the probability of no change where it is known, and the words.

    Each word comes with its attention maps where they were requested.
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
    """A captioner of pairs by their pictures or by stored features: a run, or a model of features."""

    @property
    def name(self) -> str:
        """The captioner's name, written as ``answer`` in each line."""

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns of the attention over each picture."""

    @property
    def layer(self) -> str:
        """The name of the attention layer of the maps."""

    def about(self) -> dict[str, str]:
        """The fields that identify the model."""

    def describe(
        self, pairs: Sequence[tuple[Path, Path]], batch_size: int
    ) -> "Iterator[PairDescription | ImageError]":
        """Yield for each pair, in order, its prediction, or the error about its pictures."""


class CaptionerChoice(Protocol):
    """The selected captioner, before the data set is open."""

    @property
    def reads_pictures(self) -> bool:
        """Whether it reads the pictures themselves, or else stored features."""

    def open(self, root: Path, beams: int, maps: bool) -> PairCaptioner:
        """Open the captioner for the data set at ``root``. maps: whether each word comes with its
        attention.
        """


@dataclass(frozen=True)
class PairsOfRun:
    """The pairs to caption, and the output.

    base: the folder to which picture paths are relative. span: the first and the last pair (excluded) of
    ``listed`` that are captioned. attention: the folder of the maps, or None. replace: whether existing maps
    may be replaced.
    """

    base: Path
    listed: Sequence[PairToCaption]
    span: tuple[int, int]
    output: Path
    attention: Path | None
    replace: bool

    @property
    def pairs(self) -> Sequence[PairToCaption]:
        """The pairs of the span."""
        return self.listed[slice(*self.span)]

    def maps(self, captioner: PairCaptioner) -> Maps | None:
        """Return the folder of the maps, if maps are written. Raises OutputError where maps exist that may
        not be replaced.
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
    """Write a line for every pair, and its maps if requested; return how many pairs failed.

    A line has the keys of ``Answer.as_json``, as far as a run without calibration knows their values. Maps
    are written as they come, the lines at the end.
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
    """Write the next file of maps; before the first one, make the folder and remove maps of earlier runs."""
    maps.folder.mkdir(exist_ok=True)
    if done == min(maps.pairs, CHUNK):
        for earlier in maps.existing():
            earlier.unlink()
    maps.write(done, words)


def _fields(
    pair: PairToCaption, description: "PairDescription | ImageError", run: str, root: Path
) -> dict[str, Any]:
    """Return the fields of one line. run: the name of the recipe, written in place of a model's name."""
    if isinstance(description, ImageError):
        return {"id": pair.pair_id, "error": str(description)}
    fields: dict[str, Any] = {"id": pair.pair_id, "caption": description.sentence}
    if description.no_change is not None:
        fields["no_change"] = round(description.no_change, 4)
    before, after = (named_from(root, picture) for picture in (pair.before, pair.after))
    return {**fields, "answer": run, "before": before, "after": after}


def _write(output: Path, text: str) -> None:
    """Write the lines, and remove the sidecar of the former lines: it does not belong to these."""
    if not output.is_file() or is_remote(output):
        write_output(output, text)
        with suppress(FileNotFoundError):
            sidecar(output).unlink()
        return
    target = output.resolve()
    with whole(target) as draft:
        draft.write_text(text, encoding="utf-8", errors="backslashreplace")
        sidecar(output).unlink(missing_ok=True)
