"""Compares our runner of the text recogniser with RapidOCR itself, on drawn lines of text.

    python -m benchmarks.screens.line_reader [--lines 400] [--seed 0] [--record]

This needs the extra ``text`` and RapidOCR's own libraries. Lines of words, numbers and marks are drawn in the
fonts of this machine, 9 to 28 pixels high, dark on light, light on dark and in colours. Both read each line.
A reading is right if every letter is right; spaces do not count.
"""

import argparse
import importlib
import json
import random
import subprocess
import time
from collections.abc import Callable, Sequence

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from benchmarks.record import Watch, add_record_option, write_result
from whatchanged.measured.pixels.boxes import union
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.telemetry import import_silent
from whatchanged.text.finding import find_lines
from whatchanged.text.reader import LineAt, PairReader
from whatchanged.text.recogniser import read_lines

WORDS = (
    "Save", "Cancel", "Delete", "file", "Upload", "image", "Notifications", "Settings", "Profile",
    "Sign", "in", "Total", "items", "Dark", "mode", "Language", "Country", "Name", "Email", "address",
    "Password", "required", "Learn", "more", "about", "pricing", "Search", "results", "Show", "all",
    "filters", "train", "test", "accuracy", "loss", "epoch", "feature", "importance", "SHAP", "value",
    "Figure", "3", "12", "24.5", "1,204", "$19.99", "80%", "2024-11-05", "v1.2.3", "(optional)",
    "user@example.org", "https://example.org", "Option", "A/B", "#42", "+3", "-0.75", "10:45", "Größe",
    "prénom", "Öffnen", "año",
)  # fmt: skip
COLORS = (
    ("black", "white"), ("#333333", "#f5f5f5"), ("white", "#1a73e8"), ("#dddddd", "#20242c"),
    ("#777777", "white"), ("#b00020", "#fdecea"), ("#4b5563", "#e5e7eb"),
)  # fmt: skip
NO_LETTERS = ("D050000L", "Symbol", "Dingbat", "Math", "Emoji")
"""In the names of fonts whose letters are other signs."""
READ = Callable[[Sequence[Pixels]], list[tuple[str, float]]]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lines", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    add_record_option(parser, "line_reader")
    options = parser.parse_args()
    with Watch() as watch:
        drawn = draw(options.lines, options.seed)
        pictures = [picture for picture, _ in drawn]
        truth = ["".join(text.split()) for _, text in drawn]
        found = {}
        rows = []
        for name, read in (
            ("RapidOCR", by_rapidocr),
            ("own runner", one_by_one),
            ("own, batches", by_batches),
        ):
            read(pictures[:2])  # built before the clock starts
            began = time.process_time()
            found[name] = read(pictures)
            seconds = time.process_time() - began
            texts = ["".join(text.split()) for text, _ in found[name]]
            sure = [
                own == wanted
                for own, wanted, (_, p) in zip(texts, truth, found[name], strict=True)
                if p >= 0.9
            ]
            rows.append(
                {
                    "reader": name,
                    "lines": len(texts),
                    "right": float(
                        np.mean([own == wanted for own, wanted in zip(texts, truth, strict=True)])
                    ),
                    "sure (.9)": len(sure),
                    "right where sure": float(np.mean(sure)),
                    "as RapidOCR": float(
                        np.mean([a[0] == b[0] for a, b in zip(found[name], found["RapidOCR"], strict=True)])
                    ),
                    "ms a line": 1000 * seconds / len(texts),
                }
            )
            print(json.dumps(rows[-1]))
    if options.record:
        write_result(options.record, "rows", {"rows": rows}, watch=watch, seeds={"lines": options.seed})


def draw(count: int, seed: int) -> list[tuple[Pixels, str]]:
    """Cut lines and what they say."""
    rng = random.Random(seed)
    listed = subprocess.run(
        ["fc-list", "--format=%{file}\n", ":lang=en:scalable=true:variable=false"],
        capture_output=True,
        text=True,
        check=True,
    )
    listed_fonts = (path for path in listed.stdout.splitlines() if path.endswith((".ttf", ".otf")))
    fonts = sorted(path for path in listed_fonts if not any(name in path for name in NO_LETTERS))
    results: list[tuple[Pixels, str]] = []
    while len(results) < count:
        text = " ".join(rng.choices(WORDS, k=rng.randint(1, 6)))
        font = ImageFont.truetype(rng.choice(fonts), rng.randint(9, 28))
        ink, ground = rng.choice(COLORS)
        box = ImageDraw.Draw(Image.new("RGB", (8, 8))).textbbox((30, 30), text, font=font)
        image = Image.new("RGB", (int(box[2]) + 30, int(box[3]) + 30), ground)
        ImageDraw.Draw(image).text((30, 30), text, ink, font)
        picture = np.asarray(image)
        lines = find_lines(picture, (0, 0, image.width, image.height))
        if lines:
            reader = PairReader((picture, picture))
            results.append((reader.cut(LineAt(1, union(lines)))[0], text))
    return results


def by_rapidocr(pictures: Sequence[Pixels]) -> list[tuple[str, float]]:
    """Text and confidence of each line, as RapidOCR reads it."""
    import_silent("onnxruntime")  # with its reports switched off, before it is imported from there
    rapidocr = importlib.import_module("rapidocr")
    engine = rapidocr.RapidOCR(
        params={"Global.log_level": "error", "EngineConfig.onnxruntime.intra_op_num_threads": 1}
    )
    results = []
    for picture in pictures:
        found = engine(picture[..., ::-1], use_det=False, use_cls=False, use_rec=True, text_score=0.0)
        results.append((" ".join(found.txts[0].split()), float(found.scores[0])) if found.txts else ("", 0.0))
    return results


def one_by_one(pictures: Sequence[Pixels]) -> list[tuple[str, float]]:
    """The same by our runner, a line at a time."""
    return [own for picture in pictures for own in by_batches([picture])]


def by_batches(pictures: Sequence[Pixels]) -> list[tuple[str, float]]:
    """The same, lines of about one width side by side."""
    return [(line.text, line.confidence) for line in read_lines(pictures)]


if __name__ == "__main__":
    main()
