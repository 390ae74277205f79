"""``whatchanged figure``: draw figures for papers, of a pair of pictures or of reports."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from whatchanged.cli import completion
from whatchanged.cli.console import check_output, check_outputs, note
from whatchanged.errors import ImageError, MissingExtra, PredictionsError

if TYPE_CHECKING:
    from PIL import Image

    from whatchanged.figures import Figure
    from whatchanged.figures.maps import TitledMaps
    from whatchanged.training.figures import FigureSource

FigureKind = Literal["words", "text-to-image", "alignment", "blocks", "overlap"]
SHIPPED = {"alignment": "clevr-scorer", "blocks": "clevr-clip4idc"}
"""A mapping from the kind of figure to the default model of the figure.

For other kinds, the default model of the package is used.
"""
BLANK = (360, 240)
"""The width and height of the blank picture in a figure, if only the features of a picture are available."""

EXAMPLES = (
    "whatchanged figure words before.png after.png -o words.png",
    "whatchanged figure alignment before.png after.png --run run -o alignment.svg",
    "whatchanged figure overlap report.json -o overlap.svg",
)


def figure(
    kind: Annotated[FigureKind, typer.Argument(help="words, text-to-image, alignment, blocks or overlap.")],
    before: Annotated[
        Path, typer.Argument(help="The picture before; for overlap, a report of `evaluate --json`.")
    ],
    after: Annotated[
        Path | None, typer.Argument(help="The picture after; for overlap, another report, if any.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The figure to write: NAME.png or NAME.svg.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help="A shipped model or a model folder.", autocompletion=completion.models),
    ] = None,
    run: Annotated[Path | None, typer.Option(help="A run that train wrote (needs the extra train).")] = None,
    checkpoint: Annotated[
        str, typer.Option(help="The run's checkpoint: best, last, a stage's name (its best), or auto.")
    ] = "auto",
    features: Annotated[
        Path | None, typer.Option(help="Stored features, for a run or model trained on features.")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help="The folder to which the features' picture paths are relative.",
            show_default="the run's data",
        ),
    ] = None,
    caption: Annotated[
        str | None, typer.Option(help="The caption whose words a figure text-to-image shows.")
    ] = None,
    cell: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROW,COLUMN", help="A cell whose match the figure alignment shows; repeat for more."
        ),
    ] = None,
    tile: Annotated[
        int | None,
        typer.Option(min=40, max=2000, metavar="PIXELS", help="Width of a picture in the figure."),
    ] = None,
    beams: Annotated[int, typer.Option(min=1, max=64, help="Hypotheses of beam search; 1 is greedy.")] = 1,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda, for what needs torch.")] = "auto",
    force: Annotated[bool, typer.Option("--force", help="Replace the figure's file.")] = False,
) -> None:
    """Draw a figure as papers show it, of one pair of pictures.

    words: both pictures once for each word of the caption, under that word's
    attention map. text-to-image: the same for the words of a given --caption
    (pcl). alignment: the cells of the other picture from which a cell is
    reconstructed (scorer). blocks: the attention of the joint token in the
    last blocks (clip4idc). overlap: a report's CIDEr-D against the overlap of
    the two views. All kinds need the extra train, except overlap, and words
    of a model.
    """
    _check_options(kind, after, output, model, run, caption, cell)
    assert output is not None
    from whatchanged.figures.figure import check_suffix

    check_suffix(output)
    check_output(output, force)
    check_outputs([output], [path for path in (before, after) if path is not None])
    if kind == "overlap":
        drawn = _overlap([before] if after is None else [before, after])
    else:
        assert after is not None
        subject = _Subject(kind, model or SHIPPED.get(kind), run, checkpoint, features, data, device)
        drawn = subject.draw(
            (before, after), caption or "", [_cell(text) for text in cell or ()], beams, tile
        )
    drawn.save(output)
    note(f"{kind}: {output}")


def _check_options(
    kind: str,
    after: Path | None,
    output: Path | None,
    model: str | None,
    run: Path | None,
    caption: str | None,
    cell: list[str] | None,
) -> None:
    """Refuse options that a kind of figure does not use, and require the options that the kind needs."""
    if output is None:
        raise typer.BadParameter("name the figure's file", param_hint="--output")
    if model is not None and run is not None:
        raise typer.BadParameter("--model and --run both say whose figure it is: leave one out.")
    if kind == "overlap" and (model is not None or run is not None):
        raise typer.BadParameter("overlap is drawn from reports: leave --model and --run out.")
    if kind != "overlap" and after is None:
        raise typer.BadParameter(f"{kind} needs both pictures.", param_hint="AFTER")
    if (kind == "text-to-image") != (caption is not None):
        raise typer.BadParameter("text-to-image, and no other kind, needs the sentence: --caption TEXT")
    if cell and kind != "alignment":
        raise typer.BadParameter("--cell is for alignment.")


@dataclass(frozen=True)
class _Subject:
    """The run or the model for a figure, with the options that select the run or model."""

    kind: FigureKind
    model: str | None
    run: Path | None
    checkpoint: str
    features: Path | None
    data: Path | None
    device: str

    def draw(
        self,
        pair: tuple[Path, Path],
        caption: str,
        cells: list[tuple[int, int]],
        beams: int,
        tile: int | None,
    ) -> "Figure":
        """Draw the figure of a pair."""
        from whatchanged.figures import draw_alignment, draw_maps

        pictures, size = self._pictures(pair), {} if tile is None else {"tile": tile}
        if self.kind == "alignment":
            return draw_alignment(pictures, self._open().alignment(*pair), cells, **size)
        if self.kind == "words":
            maps = self._words(pair, beams)
        elif self.kind == "blocks":
            maps = self._open().blocks(*pair)
        else:
            maps = self._open().text_to_image(*pair, caption)
        return draw_maps(pictures, maps, **size)

    def _words(self, pair: tuple[Path, Path], beams: int) -> "TitledMaps":
        """Return the words with their attention maps. For a model, this works without torch."""
        if self.run is not None:
            return self._open().words(*pair, beams)
        if self.features is not None:
            from whatchanged.cli.caption_choice import FeaturesChoice

            root = self.data or pair[0].absolute().parent.parent
            captioner = FeaturesChoice(self.model or "", self.features).open(root, beams, True)
            (described,) = captioner.describe([pair], 1)
            if isinstance(described, ImageError):
                raise described
            return described.words
        from whatchanged.captioner.runtime import load

        return load(self.model).describe(*pair, beams=beams).words

    def _open(self) -> "FigureSource":
        """Open the run, or the model's weights, with torch. Raises MissingExtra without torch."""
        try:
            from whatchanged.training.figures import open_source
        except ModuleNotFoundError as error:
            raise MissingExtra(f"figure {self.kind}", error.name or "torch", "train") from error
        from whatchanged.captioner.bundle import DEFAULT

        place = self.run or Path(self.model or DEFAULT)
        return open_source(place, self.checkpoint, self.features, self.data, self.device)

    def _pictures(self, pair: tuple[Path, Path]) -> "tuple[Image.Image, Image.Image]":
        """Return the two pictures. If only the features of a picture are available, the picture is blank."""
        from PIL import Image

        from whatchanged.images import open_image

        first, second = (
            Image.new("RGB", BLANK, (150, 150, 150))
            if self.features is not None and not path.exists()
            else open_image(path)
            for path in pair
        )
        return first, second


def _cell(text: str) -> tuple[int, int]:
    """Return row and column of ``--cell``."""
    found = re.fullmatch(r"(\d{1,5}),(\d{1,5})", text)
    if found is None:
        raise typer.BadParameter(f"{text!r} is not ROW,COLUMN, counted from 0, for example 3,5.")
    return int(found[1]), int(found[2])


def _overlap(reports: list[Path]) -> "Figure":
    """Draw the plot of CIDEr-D against overlap for one or two reports."""
    from whatchanged.figures import draw_overlap
    from whatchanged.json_values import read_json
    from whatchanged.opening import read_regular_text

    opened = []
    for path in reports:
        try:
            content = read_json(read_regular_text(path))
        except (OSError, ValueError) as error:
            raise PredictionsError(
                f"{path}: no report can be read here ({error}). Give what `evaluate --json` wrote."
            ) from error
        opened.append((path.name, content if isinstance(content, dict) else {}))
    return draw_overlap(opened)
