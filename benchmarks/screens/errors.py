"""Draws a random sample of wrong answers on labelled real pairs of screens.

    python -m benchmarks.screens.errors $UI_DEV docs/screens-errors.png [--count 12]

The sample, drawn with seed 0, is from changed pairs whose first statement has the wrong kind or position. The
figure shows each before and after, cropped around two boxes: the label's (green) and the statement's (red,
dashed).
"""

import argparse
import io
import json
import textwrap
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from PIL import Image

from benchmarks.screens.judged import Judged, place
from benchmarks.screens.real import judge
from whatchanged.measured import Box

ROOM = 24
"""Pixels around both boxes."""
FRAMES = (("#0a8a3a", "-"), ("#d02020", "--"))
"""Colour and line of the label's box and of the statement's."""
COLUMNS = 3
COLORS = 96
"""Of the file, which is made smaller so."""


def boxes_of(one: Judged) -> list[Box]:
    """The label's box, and the first statement's where there is one."""
    left, top, right, bottom = one.pair["box"]
    return [(left, top, right, bottom), *(place(statement) for statement in one.answer.changes[:1])]


def around(one: Judged) -> Box:
    """What holds both boxes and some room, in pixels of either picture."""
    left, top, right, bottom = zip(*boxes_of(one), strict=True)
    return min(left) - ROOM, min(top) - ROOM, max(right) + ROOM, max(bottom) + ROOM


def show(axes: Axes, picture: Path, one: Judged, view: Box) -> None:
    """A part of one picture with both boxes."""
    axes.imshow(np.asarray(Image.open(picture).convert("RGB")))
    for (left, top, right, bottom), (color, style) in zip(boxes_of(one), FRAMES, strict=False):
        frame = Rectangle((left, top), right - left, bottom - top, fill=False, ec=color, ls=style, lw=1.6)
        axes.add_patch(frame)
    axes.set_xlim(view[0], view[2])
    axes.set_ylim(view[3], view[1])
    axes.set_xticks([])
    axes.set_yticks([])
    for side in axes.spines.values():
        side.set_color("#bbbbbb")


def draw(folder: Path, wrong: list[Judged], out: Path) -> None:
    """The sheet."""
    rows = -(-len(wrong) // COLUMNS)
    figure = plt.figure(figsize=(5.2 * COLUMNS, 2.9 * rows), layout="constrained")
    parts = figure.subfigures(rows, COLUMNS, squeeze=False).ravel()
    for part, one in zip(parts, wrong, strict=False):
        said, label = one.answer.sentence, one.pair["sentences"][0]
        lines = [*textwrap.wrap(f"said: {said}", 72), *textwrap.wrap(f"label: {label}", 72)]
        part.suptitle("\n".join(lines), fontsize=8, ha="left", x=0.02)
        for axes, end in zip(part.subplots(1, 2), ("before", "after"), strict=True):
            show(axes, folder / one.pair[end], one, around(one))
    large = io.BytesIO()
    figure.savefig(large, dpi=90)
    plt.close(figure)
    Image.open(large).convert("RGB").quantize(COLORS).save(out, optimize=True)


def main() -> None:
    """Writes the sheet."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--count", type=int, default=12)
    options = parser.parse_args()
    lines = (options.folder / "pairs.jsonl").read_text(encoding="utf-8").splitlines()
    pairs = [pair for pair in map(json.loads, lines) if pair["visible_change"] == "yes"]
    wrong = [one for one in judge(options.folder, pairs) if not one.statement]
    chosen = np.random.default_rng(0).permutation(len(wrong))[: options.count]
    draw(options.folder, [wrong[int(number)] for number in chosen], options.out)
    print(
        f"{len(wrong)} of {len(pairs)} changed pairs are told wrongly; {len(chosen)} of them: {options.out}"
    )


if __name__ == "__main__":
    main()
