"""A figure: a list of marks that is written as PNG or as SVG."""

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Literal

from PIL import Image, ImageDraw, ImageFont

from whatchanged.errors import OutputError
from whatchanged.files import write_output

RGBColor = tuple[int, int, int]
XY = tuple[float, float]
INK: RGBColor = (40, 40, 40)
FINER = 3
"""A PNG is drawn at this multiple of its size, then reduced, so that lines are smooth."""
SUFFIXES = (".png", ".svg")


@dataclass(frozen=True)
class PictureMark:
    """A picture with its upper left corner at a point, in pixels of the figure."""

    at: XY
    image: Image.Image


@dataclass(frozen=True)
class TextMark:
    """A line of text. at: its beginning, middle or end (``anchor``), at half its height."""

    at: XY
    text: str
    size: int = 13
    anchor: Literal["start", "middle", "end"] = "start"
    color: RGBColor = INK


@dataclass(frozen=True)
class LineMark:
    """A line through points."""

    points: Sequence[XY]
    color: RGBColor = INK
    width: float = 1.5


@dataclass(frozen=True)
class DotMark:
    """A filled circle with a white rim."""

    at: XY
    color: RGBColor = INK
    radius: float = 3.5


@dataclass(frozen=True)
class BoxMark:
    """The outline of a rectangle: left, top, right, bottom."""

    corners: tuple[float, float, float, float]
    color: RGBColor = INK
    width: float = 1.5


Mark = PictureMark | TextMark | LineMark | DotMark | BoxMark


@dataclass(frozen=True, eq=False)
class Figure:
    """A white figure of ``width`` x ``height`` pixels with marks; later marks cover earlier ones.

    >>> from whatchanged.figures.figure import DotMark, Figure
    >>> Figure(20, 10, [DotMark((10, 5))]).svg().count("circle")
    1
    """

    width: int
    height: int
    marks: Sequence[Mark]

    def png(self) -> bytes:
        """Return the bytes of a PNG file."""
        fine = Image.new("RGB", (self.width * FINER, self.height * FINER), "white")
        draw = ImageDraw.Draw(fine)
        for mark in self.marks:
            _paint(fine, draw, mark)
        stream = io.BytesIO()
        fine.resize((self.width, self.height), Image.Resampling.BOX).save(stream, "PNG", optimize=True)
        return stream.getvalue()

    def svg(self) -> str:
        """Return the text of an SVG file with its pictures embedded."""
        size = f'width="{self.width}" height="{self.height}" viewBox="0 0 {self.width} {self.height}"'
        lines = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif">']
        lines.append('<rect width="100%" height="100%" fill="#ffffff"/>')
        lines += [_element(mark) for mark in self.marks]
        return "\n".join([*lines, "</svg>\n"])

    def save(self, path: str | Path) -> None:
        """Write the figure, completely or not at all. Raises OutputError for a suffix other than .png or
        .svg.
        """
        place = Path(path)
        check_suffix(place)
        write_output(place, self.svg() if place.suffix.lower() == ".svg" else self.png())

    def _repr_png_(self) -> bytes:
        """Return the PNG that a notebook shows."""
        return self.png()


def check_suffix(path: Path) -> None:
    """Check the suffix of a figure's path. Raises OutputError."""
    if path.suffix.lower() not in SUFFIXES:
        raise OutputError(
            f"{path}: a figure is written as PNG or SVG. Name a file that ends in .png or .svg."
        )


def _paint(sheet: Image.Image, draw: ImageDraw.ImageDraw, mark: Mark) -> None:
    """Draw one mark on a sheet that is ``FINER`` times as large."""
    match mark:
        case PictureMark((x, y), image):
            larger = image.resize((image.width * FINER, image.height * FINER), Image.Resampling.BICUBIC)
            sheet.paste(larger, (round(x * FINER), round(y * FINER)))
        case TextMark((x, y), text, size, anchor, color):
            font = ImageFont.load_default(size * FINER)
            place = {"start": "lm", "middle": "mm", "end": "rm"}[anchor]
            draw.text((x * FINER, y * FINER), text, fill=color, font=font, anchor=place)
        case LineMark(points, color, width):
            fine = [(x * FINER, y * FINER) for x, y in points]
            draw.line(fine, fill=color, width=round(width * FINER), joint="curve")
        case DotMark((x, y), color, radius):
            for far, fill in ((radius + 1, (255, 255, 255)), (radius, color)):
                corners = [(x - far) * FINER, (y - far) * FINER, (x + far) * FINER, (y + far) * FINER]
                draw.ellipse(corners, fill=fill)
        case BoxMark(corners, color, width):
            draw.rectangle([side * FINER for side in corners], outline=color, width=round(width * FINER))


def _element(mark: Mark) -> str:
    """Return one mark as an element of SVG."""
    match mark:
        case PictureMark((x, y), image):
            stream = io.BytesIO()
            image.save(stream, "PNG", optimize=True)
            data = base64.b64encode(stream.getvalue()).decode("ascii")
            size = f'width="{image.width}" height="{image.height}"'
            return f'<image x="{x:g}" y="{y:g}" {size} href="data:image/png;base64,{data}"/>'
        case TextMark((x, y), text, size, anchor, color):
            place = f'x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}"'
            return (
                f'<text {place} dominant-baseline="central" fill="{_hex(color)}">{_characters(text)}</text>'
            )
        case LineMark(points, color, width):
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            return f'<polyline points="{path}" fill="none" stroke="{_hex(color)}" stroke-width="{width:g}"/>'
        case DotMark((x, y), color, radius):
            place = f'cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}"'
            return f'<circle {place} fill="{_hex(color)}" stroke="#ffffff"/>'
        case BoxMark((left, top, right, bottom), color, width):
            place = f'x="{left:g}" y="{top:g}" width="{right - left:g}" height="{bottom - top:g}"'
            return f'<rect {place} fill="none" stroke="{_hex(color)}" stroke-width="{width:g}"/>'


def _characters(text: str) -> str:
    """Return a stranger's text as XML may contain it: without control characters, and never as markup."""
    return escape("".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text))


def _hex(color: RGBColor) -> str:
    return "#{:02x}{:02x}{:02x}".format(*color)
