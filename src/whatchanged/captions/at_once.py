"""Captions by who answers many pairs together: a run, or a model that reads stored features.

A line a pair, written when all is done. No answer is measured here: pictures may not even be there.
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
    """What is said of a pair: the sentence, the probability that nothing changed where it is known, and each
    word with its maps where these were asked for."""

    @property
    def sentence(self) -> str:
        """The sentence."""

    @property
    def no_change(self) -> float | None:
        """From 0 to 1."""

    @property
    def words(self) -> "WordMaps":
        """In the order of the sentence."""


class PairCaptioner(Protocol):
    """Who captions pairs by their pictures, or by what was stored of these: a run, or a model of features."""

    @property
    def name(self) -> str:
        """Stands as ``answer`` in each line."""

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns of the attention over each picture."""

    @property
    def layer(self) -> str:
        """Which attention the maps are of."""

    def about(self) -> dict[str, str]:
        """What tells the model from others."""

    def describe(
        self, pairs: Sequence[tuple[Path, Path]], batch_size: int
    ) -> "Iterator[PairDescription | ImageError]":
        """What is said of each pair in order, or what is wrong with its pictures."""


class CaptionerChoice(Protocol):
    """Which such captioner, before the data set is open."""

    @property
    def reads_pictures(self) -> bool:
        """Whether it reads the pictures themselves, not what was stored of them."""

    def open(self, root: Path, beams: int, maps: bool) -> PairCaptioner:
        """The captioner for the data set at ``root``. maps: whether words come with their attention."""


@dataclass(frozen=True)
class PairsOfRun:
    """The pairs to caption at once, and where it goes.

    base: the folder that pictures are named from. span: the first and the last pair (excluded) of ``listed``
    that are captioned. attention: the folder of the maps, or None. replace: whether maps there may go.
    """

    base: Path
    listed: Sequence[PairToCaption]
    span: tuple[int, int]
    output: Path
    attention: Path | None
    replace: bool

    @property
    def pairs(self) -> Sequence[PairToCaption]:
        """Those of the span."""
        return self.listed[slice(*self.span)]

    def maps(self, captioner: PairCaptioner) -> Maps | None:
        """Where maps go, if they do. Raises OutputError where some lie there that may not be replaced."""
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
    """Write a line for every pair, and its maps where they are wanted; returns how many pairs failed.

    A line has the names of ``Answer.as_json``: what a run without calibration knows of them. Maps are written
    as they come, the lines when all is done.
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
    """Write the next file of maps; before the first one, the folder is made and those of earlier runs go."""
    maps.folder.mkdir(exist_ok=True)
    if done == min(maps.pairs, CHUNK):
        for earlier in maps.existing():
            earlier.unlink()
    maps.write(done, words)


def _fields(
    pair: PairToCaption, description: "PairDescription | ImageError", run: str, root: Path
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
