"""``whatchanged caption`` with --run or --features: a line a pair, written when all is done.

By a run, with torch; or by a model that reads stored features. No answer is measured here: pictures may not
even be there.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import typer

from whatchanged.cli.caption_maps import CHUNK, Maps
from whatchanged.cli.caption_run import PairToCaption, identity_of_list, named_from, sidecar
from whatchanged.cli.console import note, progress
from whatchanged.errors import ImageError, MissingExtra
from whatchanged.files import whole, write_output
from whatchanged.urls import is_remote
from whatchanged.words import counted

if TYPE_CHECKING:
    from whatchanged.captioner.attention import WordMaps
    from whatchanged.recipes.schema import Precision


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


@dataclass(frozen=True)
class RunChoice:
    """A run that is to caption, and how."""

    refusal: ClassVar[str] = "a run (--run) goes without {}; for that, export it to a model"

    run: Path
    features: Path | None
    device: str
    checkpoint: str
    precision: "Precision"

    @property
    def reads_pictures(self) -> bool:
        """Whether the run reads the pictures themselves, not what was stored of them."""
        try:
            from whatchanged.training.run_folder import read_recipe
        except ModuleNotFoundError as error:
            raise _needs_torch(error) from error
        return not read_recipe(self.run).vision.stored

    def open(self, root: Path, beams: int, maps: bool) -> PairCaptioner:
        """The run's captioner for the data set at ``root``. maps: whether words come with their attention."""
        try:
            from whatchanged.training.caption import open_run_captioner
        except ModuleNotFoundError as error:
            raise _needs_torch(error) from error
        return open_run_captioner(
            self.run, root, self.features, self.device, self.checkpoint, self.precision, beams, maps
        )


@dataclass(frozen=True)
class FeaturesChoice:
    """A model of stored features that is to caption, and where these lie."""

    refusal: ClassVar[str] = "captions from --features go without {}"
    reads_pictures: ClassVar[bool] = False

    model: str
    features: Path

    def open(self, root: Path, beams: int, maps: bool) -> PairCaptioner:
        """The model's captioner for the data set at ``root``; words always come with their attention.

        Raises BundleError where the model reads something else, DatasetError where these features are not of
        the kind that it reads.
        """
        from whatchanged.captioner.bundle import open_bundle
        from whatchanged.captioner.features import FeatureCaptioner, declared_features
        from whatchanged.training.data.feature_folders import check_made_by, features_reader

        bundle = open_bundle(self.model)
        declared = declared_features(bundle)
        check_made_by(self.features, declared.made_by)
        grid = (declared.rows, declared.columns, declared.width)
        return FeatureCaptioner(bundle, features_reader(grid, self.features, root), beams)


def _needs_torch(error: ModuleNotFoundError) -> MissingExtra:
    return MissingExtra("whatchanged caption --run", error.name or "torch", "train")


def chosen_run(
    run: Path | None,
    model: str | None,
    features: Path | None,
    device: str,
    checkpoint: str,
    precision: "Precision",
) -> RunChoice | FeaturesChoice | None:
    """What ``--run`` and the options that go with it say, or ``--model`` with ``--features``.

    None without them, for pictures that are answered for one by one. Refuses what is for a run without one.
    """
    if run is not None:
        return RunChoice(run, features, device, checkpoint, precision)
    given = {
        "--features": features is not None and model is None,
        "--device": device not in ("auto", "cpu"),
        "--checkpoint": checkpoint != "auto",
        "--precision": precision != "fp32",
    }
    for option in (option for option, asked in given.items() if asked):
        raise typer.BadParameter(f"{option} is for a run's sentences; name the run (--run), or leave it out")
    return None if model is None or features is None else FeaturesChoice(model, features)


def refuse_others(choice: RunChoice | FeaturesChoice | None, used: dict[str, bool]) -> None:
    """Refuse options that such sentences cannot have. used: option -> whether it is used."""
    for option, asked in used.items():
        if asked and choice is not None:
            raise typer.BadParameter(choice.refusal.format(option))


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


def caption_by_run(
    choice: RunChoice | FeaturesChoice, job: PairsOfRun, beams: int, batch_size: int, quiet: bool
) -> int:
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
    with progress("captioning", len(paths), quiet) as advance:
        for done, (pair, description) in enumerate(
            zip(job.pairs, captioner.describe(paths, batch_size), strict=True), 1
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


def report_captioned(failed: int, pairs: int, lines: Path, output: Path, quiet: bool) -> None:
    """Say how it went; exit code 1 where pairs failed. lines: the file that says of each why."""
    if failed:
        note(f"{failed:,} of {counted(pairs, 'pair')} failed; the file says why: {lines}")
        raise typer.Exit(1)
    note(f"{counted(pairs, 'pair')} captioned: {output}", quiet)


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
