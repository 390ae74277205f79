"""Draws labelled pairs of screens for the thresholds of the measured answer.

    python -m benchmarks.screen_pairs OUT --styles NODE_MODULES [--pairs 2000] [--seed 0] [--alike 0.4]

Needs Chromium and the stylesheets that ``screen_documents`` names. Writes ``pairs.jsonl`` and ``images/``.
Everything follows from (seed, index) on one version of the browser. Half of the pairs have noise alone, a
third a change alone, the rest a change beside noise. What is too faint to call is labelled uncertain:

visible  no where a change stays within 6 levels or moves by half a pixel at most, and for noise; uncertain
up to
         14 levels (thin things: 24), moves below 2 pixels, fewer than 10 pixels beyond 10 levels; else yes
place    the box of what the change is about, as somebody would draw it: of what differs in the changed
         elements, of what moved, or of the new element; of a removed one where it was

``--alike``: this share of the changes of style is made in all elements of the same tag and class at once.
"""

import argparse
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from benchmarks.screen_changes import (
    DESCRIBE,
    WORD_BOXES,
    Deed,
    Element,
    make_change,
    make_noise,
    parse_color,
)
from benchmarks.screen_documents import FONTS, HELD_OUT_FONTS, HELD_OUT_STYLES, STYLES, write_document
from whatchanged.worlds.screens.drawing.browser import Browser

Rng = np.random.Generator
BROWSERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "full": ("full", ()),
    "unhinted": ("unhinted", ()),
    "autohint": ("autohint", ()),
    "gpu": ("full", ("--use-angle=swiftshader", "--enable-gpu-rasterization", "--ignore-gpu-blocklist")),
}
"""Renderers that draw one document slightly differently: font settings and the browser's flags."""


def read_elements(browser: Browser) -> list[Element]:
    """All elements with their boxes."""
    return list(json.loads(browser.run(DESCRIBE)))


def read_boxes(browser: Browser) -> list[list[float]]:
    """The boxes of all elements and all words."""
    return [e["box"] for e in read_elements(browser)] + list(json.loads(browser.run(WORD_BOXES)))


def farthest(before: list[list[float]], after: list[list[float]]) -> float:
    """The largest step of a box's side, in pixels of the document; of all boxes that both hold."""
    steps = [
        abs(a - b) for one, other in zip(before, after, strict=False) for a, b in zip(one, other, strict=True)
    ]
    return max(steps, default=0.0)


def in_place(before: list[list[float]], after: list[list[float]]) -> bool:
    """Whether every box stays within half a pixel: what differs then is noise."""
    return len(before) == len(after) and farthest(before, after) <= 0.5


def recode(rng: Rng, picture: Image.Image) -> tuple[str, Image.Image]:
    """The same picture after a lossy step that nobody sees."""
    way = str(rng.choice(["jpeg", "levels", "palette", "webp"]))
    pixels = np.asarray(picture).astype(np.int16)
    if way == "levels":
        spread = int(rng.integers(1, 3))
        noisy = pixels + rng.integers(-spread, spread + 1, pixels.shape)
        return way, Image.fromarray(np.clip(noisy, 0, 255).astype(np.uint8))
    if way == "palette":
        return way, picture.quantize(256, dither=Image.Dither.NONE).convert("RGB")
    buffer = io.BytesIO()
    picture.save(buffer, way.upper(), quality=int(rng.integers(92, 99)))
    return way, Image.open(buffer).convert("RGB")


def label(before: NDArray[np.uint8], after: NDArray[np.uint8], deed: Deed, shift: float) -> str:
    """Whether somebody who flips between the two would see the change; ``shift``: how far boxes moved."""
    step = np.abs(before.astype(np.int16) - after).max(axis=2)
    thin = deed.aspect in ("border", "ink", "border width", "outline", "radius")
    if step.max() <= 6 or (deed.kind == "moved" and shift <= 0.5):
        return "no"
    faint = step.max() <= (24 if thin else 14) or np.count_nonzero(step > 10) < 10
    if faint or (deed.kind in ("moved", "resized") and shift < 2):
        return "uncertain"
    return "yes"


def union(boxes: list[list[float]]) -> list[float]:
    """The box around boxes."""
    columns = list(zip(*boxes, strict=True))
    return [min(columns[0]), min(columns[1]), max(columns[2]), max(columns[3])]


def whole(box: list[float], scale: float, size: tuple[int, int]) -> list[int]:
    """A box in whole pixels of the picture."""
    left, top = (max(0, int(np.floor(v * scale))) for v in box[:2])
    return [left, top, min(size[0], int(np.ceil(box[2] * scale))), min(size[1], int(np.ceil(box[3] * scale)))]


def spread(deed: Deed, target: Element, elements: list[Element]) -> tuple[Deed, list[Element]]:
    """A change of style made in all elements of the same tag and class."""
    if deed.kind not in ("recolored", "restyled", "resized", "moved") or deed.aspect == "alignment":
        return deed, [target]
    alike = [e for e in elements if (e["tag"], e["cls"]) == (target["tag"], target["cls"]) and e["seen"]]
    name = f"window.elements[{target['i']}]"
    scripts = [deed.script.replace(name, f"window.elements[{e['i']}]") for e in alike]
    return replace(deed, script=";".join(scripts)), alike


def place(
    record: dict[str, Any],
    boxes: list[tuple[list[int], list[int]]],
    clean: NDArray[np.uint8],
    after: NDArray[np.uint8],
) -> list[int]:
    """The box that somebody would draw around the change.

    boxes: of each changed element, before and after.
    """
    kind, aspect = record["kind"], record["aspect"]
    around = 14 if aspect in ("shadow", "outline") else 0 if kind in ("added", "removed", "moved") else 3
    parts = [box for pair in boxes for box in pair]
    if kind == "added":
        parts = [record["box"]]
    if kind == "removed":
        parts = [record["box_before"]]
    if kind == "moved":
        parts = [now for _, now in boxes] + [now for _, now in record["moved"]]
    if kind == "resized" and aspect != "text size" and record["framed"]:
        return [int(end) for end in union([[float(end) for end in now] for _, now in boxes])]
    near = np.zeros(clean.shape[:2], bool)
    for left, top, right, bottom in parts:
        near[max(0, top - around) : bottom + around, max(0, left - around) : right + around] = True
    step = np.abs(clean.astype(np.int16) - after).max(axis=2)
    differs = near & (step > min(8, int(step.max()) // 2))
    rows, columns = np.flatnonzero(differs.any(axis=1)), np.flatnonzero(differs.any(axis=0))
    if not len(rows):
        return list(record["box"] or record["box_before"])
    return [int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1]


def draw(
    index: int, seed: int, styles: Path, browsers: dict[str, Browser], out: Path, alike: float
) -> dict[str, Any] | None:
    """One pair and its truth; None where the change altered no pixel."""
    rng = np.random.default_rng([seed, index])
    held = index % 4 == 3
    names = [name for name in STYLES if (name in HELD_OUT_STYLES) == held]
    style = str(rng.choice(names))
    font = str(rng.choice(HELD_OUT_FONTS if held else FONTS))
    large = rng.random() < 0.12
    width, height = (1000, 700) if large else (int(rng.integers(110, 620)), int(rng.integers(50, 460)))
    scale = float(rng.choice([1, 1, 1, 1.5, 2])) if not large else 1.0
    count = int(rng.integers(8, 16)) if large else 1 + int(width * height / 30_000 * rng.uniform(0.3, 1.5))
    document = write_document(rng, style, font, styles, count, width)
    what = str(rng.choice(["noise", "change", "both"], p=[0.52, 0.34, 0.14]))
    first = str(rng.choice(list(BROWSERS)))
    browser = browsers[first]
    browser.show(document, width, height, scale)
    elements, boxes = read_elements(browser), read_boxes(browser)
    before = browser.photograph()
    deed, target, noise = Deed("noise", "none", 0, ""), None, ""
    changed: list[Element] = []
    if what != "noise":
        made = make_change(rng, elements, width, height)
        if made is None:
            return None
        deed, target = made
        changed = [target]
        if alike and rng.random() < alike:
            deed, changed = spread(deed, target, elements)
    if what != "change":
        noise = str(rng.choice(["local", "local", "renderer", "recode"]))
    if noise == "renderer" and any(e["tag"] in ("textarea", "input", "select") for e in elements):
        noise = "local"  # how their words lie is not told
    if noise == "renderer":
        second = str(rng.choice([name for name in BROWSERS if name != first]))
        noise = f"{first} to {second}"
        browser = browsers[second]
        browser.show(document, width, height, scale)
    if noise == "local":
        browser.run(make_noise(rng, elements))
    if noise and not in_place(boxes, read_boxes(browser)):
        return None
    noisy = read_elements(browser)
    moving = read_boxes(browser)
    clean = browser.photograph()  # with noise, before the change
    if deed.script:
        browser.run(deed.script)
    after = browser.photograph()
    final = read_elements(browser)
    visible = "no"
    record: dict[str, Any] = {}
    if target is not None:
        visible = label(
            np.asarray(clean), np.asarray(after), deed, farthest(moving, read_boxes(browser)) * scale
        )
        if not np.any(np.asarray(clean) != np.asarray(after)):
            return None
        record = truth(target, deed, noisy, final, scale, before.size)
        ends = [
            [whole(e[i]["box"], scale, before.size) for e in (noisy, final)]
            for i in (c["i"] for c in changed)
        ]
        shown = [(was, now) for was, now in ends if min(was[2] - was[0], was[3] - was[1]) > 0]
        record["alike"] = len(shown)
        record["framed"] = bool(
            target["border"] > 0.9 or parse_color(target["fill"])[3] > 0.1 or target["tag"] == "rect"
        )
        record["place"] = place(
            {"kind": deed.kind, "aspect": deed.aspect, **record}, shown, np.asarray(clean), np.asarray(after)
        )
    if noise == "recode":
        noise, after = recode(rng, after)
    if before.tobytes() == after.tobytes():
        return None
    name = f"{seed}-{index:06d}"
    for end, picture in (("before", before), ("after", after)):
        picture.save(out / "images" / f"{name}_{end}.png", compress_level=1)
    return {
        "id": name, "held": held, "style": style, "font": font, "scale": scale, "noise": noise,
        "kind": deed.kind, "aspect": deed.aspect, "size": round(deed.size, 2), "visible_change": visible,
        "before": f"images/{name}_before.png", "after": f"images/{name}_after.png", **record,
    }  # fmt: skip


def truth(
    target: Element,
    deed: Deed,
    before: list[Element],
    after: list[Element],
    scale: float,
    size: tuple[int, int],
) -> dict[str, Any]:
    """Where the changed element was and is, and what moved as a consequence."""
    was, now = before[target["i"]], after[target["i"]]
    if deed.kind == "added":
        was, now = {"box": None}, after[-1]
    if deed.kind == "removed":
        now = {"box": None}
    moved = [
        [whole(a["box"], scale, size), whole(b["box"], scale, size)]
        for a, b in zip(before, after, strict=False)
        if a["i"] != target["i"]
        and a["leaf"]
        and max(abs(p - q) for p, q in zip(a["box"], b["box"], strict=True)) >= 1
    ]
    return {
        "element": target["tag"],
        "box_before": whole(was["box"], scale, size) if was["box"] else None,
        "box": whole(now["box"], scale, size) if now["box"] else None,
        "moved": moved,
    }


def main() -> None:
    """Draws the pairs and says how many of each label there are."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--styles", type=Path, required=True, help="node_modules with the stylesheets")
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--alike", type=float, default=0.0)
    options = parser.parse_args()
    (options.out / "images").mkdir(parents=True, exist_ok=True)
    browsers = {name: Browser(fonts, flags) for name, (fonts, flags) in BROWSERS.items()}
    counts: dict[str, int] = {}
    with (options.out / "pairs.jsonl").open("a", encoding="utf-8") as lines:
        for index in range(options.first, options.first + options.pairs):
            record = draw(index, options.seed, options.styles, browsers, options.out, options.alike)
            key = "nothing to see" if record is None else record["visible_change"]
            counts[key] = counts.get(key, 0) + 1
            if record is not None:
                print(json.dumps(record), file=lines, flush=True)
    for browser in browsers.values():
        browser.__exit__(None, None, None)
    print(counts)


if __name__ == "__main__":
    main()
