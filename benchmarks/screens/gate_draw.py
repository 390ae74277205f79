"""Draws pairs with truth for the gate: structured changes, however faint, and noise of every sort.

    python -m benchmarks.screens.gate_draw FOLDER [--count 200] [--seed 1] [--kinds radius,fill]

The program writes the pictures and FOLDER/pairs.jsonl. Its keys are ``id``, ``kind``, ``changed``, ``half``
(half 0 sets limits, half 1 is used once), ``detail``, and ``levels``, the largest difference of a pixel.
Chromium draws pages of random designs at scales from 1 to 2. If both pictures of a pair are equal, the pair
is drawn again.

The pictures of a changed pair differ by one value: radius, weight, fill, border, text colour, the position of
a part by one pixel of the picture, the width of a focus ring, the size of a plot's dots, one digit, or a
shadow. An unchanged pair shows the same page after JPEG, or drawn in another way: with other settings of the
font library, with text moved by a fraction of a pixel, with letters at fractions of pixels, or in a separate
layer.
"""

import argparse
import io
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from benchmarks.screens.gate_pages import FACES, Color, Look, Rng, page, random_look, with_digit
from whatchanged.synth.screens.browser import Browser

SCALES = (1.0, 1.0, 1.0, 1.25, 1.5, 2.0)
RADII = ((0, 2), (0, 4), (0, 6), (2, 4), (2, 8), (4, 8), (8, 12), (6, 12), (4, 99), (8, 99))
REDRAWN = ("unhinted", "slight", "full", "autohint", "lcd", "lcd-light", "full-lcd")
"""Settings of the font library beside the usual one."""
ASIDE = ("0.33px, 0px", "0.25px, 0.2px", "0px, 0.4px", "-0.3px, 0.1px")


@dataclass(frozen=True)
class Drawing:
    """How a document is photographed: under which settings of the font library."""

    document: str
    fonts: str = "grey"


Pair = tuple[Drawing, Drawing, str]
"""Both pictures and what was done, in words."""


def _both(one: Look, other: Look, detail: str, rng: Rng) -> Pair:
    """The two looks in either order."""
    pair = (Drawing(page(one)), Drawing(page(other)))
    return (*pair, detail) if rng.random() < 0.5 else (pair[1], pair[0], detail)


def _stepped(rng: Rng, color: Color, least: int, most: int) -> Color:
    """Another colour at most so many levels away in its largest channel, all channels in one direction."""
    step = int(rng.integers(least, most + 1))
    parts = rng.uniform(0.5, 1, 3)
    parts[rng.integers(3)] = 1
    sign = -1 if sum(color) > 384 else 1
    red, green, blue = (
        int(np.clip(c + sign * round(step * p), 0, 255)) for c, p in zip(color, parts, strict=True)
    )
    return red, green, blue


def radius(rng: Rng) -> Pair:
    """Corners of buttons, cards or inputs."""
    look = random_look(rng, ("buttons", str(rng.choice(["card", "table", "form"]))))
    before, after = RADII[rng.integers(len(RADII))]
    return _both(replace(look, radius=before), replace(look, radius=after), f"{before} to {after}", rng)


def weight(rng: Rng) -> Pair:
    """The weight of all text: two steps of the face."""
    look = random_look(rng)
    weights = FACES[look.face]
    before, after = (weights[0], weights[-1]) if len(weights) < 3 else (weights[-3], weights[-1])
    return _both(
        replace(look, weight=before),
        replace(look, weight=after),
        f"{before} to {after} {look.face} {look.size}",
        rng,
    )


def fill(rng: Rng) -> Pair:
    """The fill of buttons, cards and inputs, 4 to 16 levels apart."""
    look = random_look(rng)
    other = _stepped(rng, look.fill, 4, 16)
    return _both(look, replace(look, fill=other), f"{look.fill} to {other}", rng)


def border(rng: Rng) -> Pair:
    """The colour of borders, 5 to 25 levels apart."""
    look = random_look(rng)
    other = _stepped(rng, look.border, 5, 25)
    return _both(look, replace(look, border=other), f"{look.border} to {other}", rng)


def text_color(rng: Rng) -> Pair:
    """The colour of text, 5 to 25 levels apart."""
    look = random_look(rng)
    other = _stepped(rng, look.ink, 5, 25)
    return _both(look, replace(look, ink=other), f"{look.ink} to {other}", rng)


def one_pixel(rng: Rng) -> Pair:
    """A part with a border or a fill lies one pixel of the picture elsewhere; or its padding grows by one."""
    look = random_look(rng, ("table", str(rng.choice(["card", "form", "buttons"]))))
    if rng.random() < 0.5:
        way = [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1)][rng.integers(5)]
        return _both(look, replace(look, move=way), f"moved {way}", rng)
    look = replace(look, parts=("buttons", "table"))
    return _both(look, replace(look, pad=(look.pad[0] + 1, look.pad[1])), "padding", rng)


def ring(rng: Rng) -> Pair:
    """The ring of what has the focus is a pixel thinner."""
    look = random_look(rng, ("buttons", str(rng.choice(["card", "form", "table"]))))
    wide = int(rng.integers(2, 4))
    return _both(replace(look, ring=wide), replace(look, ring=wide - 1), f"{wide} to {wide - 1}", rng)


def dots(rng: Rng) -> Pair:
    """The dots of a plot grow, or shrink to almost nothing."""
    look = random_look(rng, ("dots", "buttons"))
    small = look.dot * float(rng.uniform(0.2, 0.7))
    return _both(look, replace(look, dot=small), f"{look.dot:.2f} to {small:.2f}", rng)


def digits(rng: Rng) -> Pair:
    """One digit of a number."""
    look = random_look(rng)
    if rng.random() < 0.4:
        look = replace(look, face="Liberation Sans", weight=400)
    one, other = with_digit(rng, replace(look, parts=("buttons", "card", "table")))
    return _both(one, other, f"{look.face} {look.size}", rng)


def shadow(rng: Rng) -> Pair:
    """A card's shadow comes, goes, or becomes stronger."""
    look = random_look(rng, ("card", "buttons"))
    sizes = f"0 {rng.integers(1, 5)}px {rng.integers(2, 16)}px"
    first = 0.0 if rng.random() < 0.5 else float(rng.uniform(0.02, 0.1))
    second = first + float(rng.uniform(0.03, 0.2))
    one, other = (replace(look, shadow=f"{sizes} rgba(0,0,0,{alpha:.3f})") for alpha in (first, second))
    return _both(one, other, f"{sizes} {first:.2f} to {second:.2f}", rng)


def jpeg(rng: Rng) -> Pair:
    """The page as it is; the picture is compressed when it is drawn."""
    look = random_look(rng, ("dots", "card") if rng.random() < 0.4 else ())
    drawn = Drawing(page(look))
    return drawn, drawn, f"jpeg {rng.integers(80, 97)} {rng.choice(['4:4:4', '4:2:0'])}"


def redrawn(rng: Rng) -> Pair:
    """The same page, drawn in another way."""
    look = random_look(rng, ("dots", "table", "buttons") if rng.random() < 0.2 else ())
    if rng.random() < 0.3:
        look = replace(look, face="Liberation Sans", weight=400)
    way = int(rng.integers(6))
    if way <= 1:
        fonts = rng.choice(["grey", *REDRAWN], 2, replace=False).tolist()
        return Drawing(page(look), fonts[0]), Drawing(page(look), fonts[1]), " to ".join(fonts)
    aside = str(rng.choice(ASIDE))
    css = {
        2: f"em{{transform:translate({aside})}}",
        3: f"section:nth-child({rng.integers(1, 3)}) em{{transform:translate({aside})}}",
        4: "body{text-rendering:geometricPrecision}",
        5: "em{will-change:transform}",
    }[way]
    fonts = str(rng.choice(["grey", "unhinted", "lcd", "slight"]))
    return Drawing(page(look), fonts), Drawing(page(look, css), fonts), f"{fonts} {css}"


KINDS: dict[str, tuple[Callable[[Rng], Pair], bool]] = {
    "radius": (radius, True),
    "weight": (weight, True),
    "fill": (fill, True),
    "border": (border, True),
    "text colour": (text_color, True),
    "one pixel": (one_pixel, True),
    "ring": (ring, True),
    "dots": (dots, True),
    "digits": (digits, True),
    "shadow": (shadow, True),
    "jpeg": (jpeg, False),
    "re-rendering": (redrawn, False),
}
"""Kind -> what draws it, and whether it is a change."""


BOXES = (
    "[...document.querySelectorAll('section *')].flatMap(e => { const r = document.createRange(); "
    "r.selectNodeContents(e); return [e.getBoundingClientRect(), ...r.getClientRects()]})"
    ".flatMap(r => [r.left, r.top, r.right, r.bottom])"
)
"""Where all elements and lines of text of a page lie."""
TEXTS = (
    "[...document.querySelectorAll('em')].flatMap(e => { const r = document.createRange(); "
    "r.selectNodeContents(e); return [...r.getClientRects()]}).map(r => [r.left, r.top, r.right, r.bottom])"
)
"""The boxes of its lines of text."""
STILL = 0.5
"""Pixels of the picture by which a box of a page that is drawn in another way may lie elsewhere."""
ASIDE_MOST = 0.8
"""Pixels of the picture by which its text may lie elsewhere in its box: less than one."""


@dataclass(frozen=True)
class Photograph:
    """A picture, and where its boxes (N,) and its lines of text (T, 4) lie in it, in pixels."""

    picture: Image.Image
    boxes: NDArray[np.float64]
    texts: NDArray[np.float64]


class Photographer:
    """Browsers by the settings of their font library, each started when it is first needed."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._browsers: dict[str, Browser] = {}

    def photograph(self, drawing: Drawing, scale: float) -> Photograph:
        """The picture of a document 400 CSS pixels wide."""
        if drawing.fonts not in self._browsers:
            self._browsers[drawing.fonts] = self._stack.enter_context(Browser(drawing.fonts))
        browser = self._browsers[drawing.fonts]
        browser.show(drawing.document, 400, 260, scale)
        browser.resize(400, int(browser.run("Math.ceil(document.body.scrollHeight)")), scale)
        boxes, texts = (scale * np.array(browser.run(script), np.float64) for script in (BOXES, TEXTS))
        return Photograph(browser.photograph(), boxes, texts)


def is_still(before: Photograph, after: Photograph) -> bool:
    """Whether no box and no line of text lies elsewhere, and no text within its box."""
    if before.boxes.shape != after.boxes.shape or before.picture.size != after.picture.size:
        return False
    if np.abs(before.boxes - after.boxes).max() >= STILL:
        return False
    return all(
        np.abs(middle_of_ink(before.picture, box) - middle_of_ink(after.picture, box)).max() <= ASIDE_MOST
        for box in before.texts
    )


def middle_of_ink(picture: Image.Image, box: NDArray[np.float64]) -> NDArray[np.float64]:
    """The middle, across and down, of what differs from the usual level in a box."""
    left, top, right, bottom = (int(side) for side in (*np.floor(box[:2]), *np.ceil(box[2:])))
    levels = np.asarray(picture.convert("L").crop((left, top, right, bottom)), np.float64)
    ink = np.abs(levels - np.median(levels))
    total = ink.sum() or 1.0
    return np.array([ink.sum(axis=1 - axis) @ np.arange(levels.shape[axis]) / total for axis in (1, 0)])


def compressed(picture: Image.Image, detail: str) -> Image.Image:
    """After JPEG of the quality and the sampling that the detail names."""
    _, quality, sampling = detail.split()
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=int(quality), subsampling=sampling)
    return Image.open(buffer).convert("RGB")


def drawn_pair(photographer: Photographer, kind: str, rng: Rng) -> tuple[Image.Image, Image.Image, str]:
    """One pair of a kind whose pictures differ."""
    while True:
        before, after, detail = KINDS[kind][0](rng)
        scales = {"one pixel": (1.0,), "re-rendering": (1.0, 1.0, 2.0)}.get(kind, SCALES)
        scale = float(rng.choice(scales))
        one = photographer.photograph(before, scale)
        if kind == "jpeg":
            return one.picture, compressed(one.picture, detail), f"{detail} at {scale:g}"
        other = photographer.photograph(after, scale)
        if kind == "re-rendering" and not is_still(one, other):
            continue
        if one.picture.size == other.picture.size and one.picture.tobytes() != other.picture.tobytes():
            return one.picture, other.picture, f"{detail} at {scale:g}"


def draw(folder: Path, kinds: list[str], count: int, seed: int) -> Iterator[dict[str, object]]:
    """The pairs, one record each; the first half of a kind sets limits."""
    with ExitStack() as stack:
        photographer = Photographer(stack)
        for kind in kinds:
            for index in range(count):
                rng = np.random.default_rng([seed, list(KINDS).index(kind), index])
                before, after, detail = drawn_pair(photographer, kind, rng)
                name = f"{kind.replace(' ', '-')}-{index:03d}"
                names = [f"images/{name}_{end}.png" for end in ("before", "after")]
                for picture, path in zip((before, after), names, strict=True):
                    picture.save(folder / path, compress_level=3)
                step = np.abs(np.asarray(before, np.int16) - np.asarray(after, np.int16)).max()
                yield {
                    "id": name,
                    "kind": kind,
                    "changed": KINDS[kind][1],
                    "half": int(index >= count // 2),
                    "levels": int(step),
                    "detail": detail,
                    "before": names[0],
                    "after": names[1],
                }


def main() -> None:
    """Draws the pairs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", default=",".join(KINDS))
    options = parser.parse_args()
    (options.folder / "images").mkdir(parents=True, exist_ok=True)
    with (options.folder / "pairs.jsonl").open("a", encoding="utf-8") as stream:
        for record in draw(options.folder, options.kinds.split(","), options.count, options.seed):
            stream.write(json.dumps(record) + "\n")
            stream.flush()


if __name__ == "__main__":
    main()
