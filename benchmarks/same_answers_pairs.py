"""The pairs that ``same_answers`` gives to both trees, and the pictures that it draws for them once.

Lists are in ``FOLDER/pairs``, with one line per pair (id, before, after). Drawn pictures are in
``FOLDER/drawn``.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.same_numbers import environment

CLEVR_MODELS = ("clevr-pcl", "clevr-scorer", "clevr-clip4idc")
SCREENS_MODEL = "screens"
SEED = 20261125
"""Of what is drawn."""

Pair = dict[str, str]
Settings = Mapping[str, Any]
BY_WHOEVER_KNOWS: Mapping[str, Settings] = {"unnamed": {}}
BY_CLEVR_MODELS: Mapping[str, Settings] = {name: {"model": name} for name in CLEVR_MODELS}
BY_SCREENS: Mapping[str, Settings] = {SCREENS_MODEL: {"model": SCREENS_MODEL}, "strict": {"strict": True}}


@dataclass(frozen=True)
class PairSet:
    """A list of pairs, and the settings with which an Answerer is asked about them."""

    name: str
    part: str
    asked: Mapping[str, Settings]


SETS = (
    PairSet("blender", "blender", {**BY_WHOEVER_KNOWS, **BY_CLEVR_MODELS}),
    PairSet("ui", "ui", {**BY_WHOEVER_KNOWS, **BY_SCREENS}),
    PairSet("demo", "demo", {**BY_WHOEVER_KNOWS, **BY_CLEVR_MODELS, "beams": {"beams": 3}}),
    PairSet("drawn-clevr", "drawn", BY_WHOEVER_KNOWS),
    PairSet("drawn-plots", "drawn", BY_WHOEVER_KNOWS),
    PairSet("drawn-documents", "drawn", BY_WHOEVER_KNOWS),
    PairSet("drawn-pages", "drawn", BY_WHOEVER_KNOWS),
)
DRAWN: Mapping[str, tuple[tuple[str, ...], int, int]] = {
    "drawn-clevr": (("clevr-change",), 100, 200),
    "drawn-plots": (("screens", "--family", "plots"), 60, 200),
    "drawn-documents": (("screens", "--family", "documents"), 60, 200),
    "drawn-pages": (("screens", "--family", "pages"), 30, 100),
}
"""Name -> what ``synth`` draws, how many scenes or documents, how many of their pairs are kept."""


def make_pairs(one: PairSet, folder: Path, tree: Path, styles: Path | None) -> None:
    """Write the list of a set, unless it is there; what is drawn is drawn by this tree.

    Raises SystemExit where a development set is not named, RuntimeError where ``synth`` fails.
    """
    file = folder / "pairs" / f"{one.name}.jsonl"
    if file.exists():
        return
    if one.name in DRAWN:
        pairs = list(drawn_pairs(one.name, folder / "drawn" / one.name, tree, styles))
    else:
        pairs = list(KEPT[one.name](folder, tree))
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_suffix(".draft")
    draft.write_text("".join(json.dumps(pair) + "\n" for pair in pairs), encoding="utf-8")
    draft.rename(file)


def blender_pairs(folder: Path, tree: Path) -> Iterator[Pair]:
    """Every pair of ``$BLENDER_DEV``."""
    return clevr_pairs(named_folder("BLENDER_DEV"))


def ui_pairs(folder: Path, tree: Path) -> Iterator[Pair]:
    """Every pair of ``$UI_DEV``."""
    return listed_pairs(named_folder("UI_DEV"))


def demo_pairs(folder: Path, tree: Path) -> Iterator[Pair]:
    """The shipped pairs, as the tree saves them."""
    place = folder / "drawn" / "demo"
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        whatchanged(tree, "demo", "--save", str(place))
    for before in sorted(place.glob("*-before.png")):
        name = before.name.removesuffix("-before.png")
        yield {"id": name, "before": str(before), "after": str(place / f"{name}-after.png")}


KEPT: Mapping[str, Callable[[Path, Path], Iterator[Pair]]] = {
    "blender": blender_pairs,
    "ui": ui_pairs,
    "demo": demo_pairs,
}


def drawn_pairs(name: str, place: Path, tree: Path, styles: Path | None) -> list[Pair]:
    """The first pairs of a drawn set, which is drawn where it is not there."""
    drawing, scenes, kept = DRAWN[name]
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        options = ["--styles", str(styles.resolve())] if styles is not None and "pages" in drawing else []
        draft = place.with_name(f"{name}.draft")
        given = [drawing[0], str(draft), "--scenes", str(scenes), "--seed", str(SEED), *drawing[1:], *options]
        whatchanged(tree, "synth", *given, "--quiet")
        draft.rename(place)
    pairs = list(clevr_pairs(place) if drawing[0] == "clevr-change" else listed_pairs(place))
    if len(pairs) < kept:
        raise RuntimeError(f"{place}: {len(pairs)} pairs were drawn of {kept}; draw more scenes.")
    return pairs[:kept]


def clevr_pairs(folder: Path) -> Iterator[Pair]:
    """Pairs of a folder in CLEVR-Change's layout: of each scene the change and the distractor."""
    for before in sorted((folder / "images").glob("CLEVR_default_*.png")):
        number = before.stem.removeprefix("CLEVR_default_")
        for ending, view, part in (("", "semantic", "sc_images"), ("_n", "nonsemantic", "nsc_images")):
            after = folder / part / f"CLEVR_{view}_{number}.png"
            yield {"id": f"{number}.png{ending}", "before": str(before), "after": str(after)}


def listed_pairs(folder: Path) -> Iterator[Pair]:
    """Pairs of a folder with a ``pairs.jsonl``."""
    for line in (folder / "pairs.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield {"id": row["id"], **{side: str(folder / row[side]) for side in ("before", "after")}}


def named_folder(variable: str) -> Path:
    """The folder that a variable of the environment names. Raises SystemExit."""
    value = os.environ.get(variable)
    if not value or not Path(value).is_dir():
        raise SystemExit(f"${variable} names no folder: set it, or leave the part out with --only.")
    return Path(value).resolve()


def whatchanged(tree: Path, *arguments: str) -> str:
    """What a command of a tree prints. Raises RuntimeError with its message where it fails."""
    command = [sys.executable, "-m", "whatchanged", *arguments]
    source = (tree / "src").resolve()
    done = subprocess.run(command, env=environment(source), capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"whatchanged {' '.join(arguments)}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout
