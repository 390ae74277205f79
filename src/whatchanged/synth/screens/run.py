"""Draw a set for ``whatchanged synth screens``: workers draw documents and write the set.

    OUT/pairs.jsonl     a line for each pair: id, before, after, changed, split, document, captions, truth
    OUT/images/FAMILY/  PNG files; pictures that pairs of one document share are there once
    OUT/drawing.json    how it was drawn: seed, size, families, renderers, documents, pairs
    OUT/parts/          the finished parts of a set that is not complete yet

The families take turns. Document i of a family depends only on (seed, i) and the renderer. Of ten documents
of a family, eight belong to the training split, one to validation, one to test. The same command continues an
interrupted set, and with more documents it extends a complete one.
"""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any

import numpy as np

from whatchanged.errors import OutputError
from whatchanged.files import clear_drafts, write_whole
from whatchanged.json_values import read_json
from whatchanged.opening import read_regular_text
from whatchanged.processes import worker_pool
from whatchanged.records import Split
from whatchanged.synth.screens import FAMILIES, DrawnPair, Family, FamilyOptions, find_family
from whatchanged.worlds import Drawing
from whatchanged.worlds.screens.truth import LIST, SETTINGS, to_json
from whatchanged.worlds.screens.writing import write_captions

PART = 40
"""Documents that a worker draws and writes in one task."""
FORMAT = 1
DESIGNS = 6
"""Increased whenever the same seed gives other documents, so that a set from an earlier version is not
extended.
"""
LEAST_SIDE = 64
SPLITS: Mapping[int, Split] = {8: "val", 9: "test"}
"""The split of a document by its number in its family modulo 10; training for all other numbers."""


@dataclass(frozen=True)
class _SetToDraw:
    """The settings of a set that all workers share."""

    out: Path
    seed: int
    families: tuple[str, ...]
    options: FamilyOptions


@dataclass(frozen=True)
class _Counts:
    """The number of pairs, and how many of them changed."""

    documents: int = 0
    pairs: int = 0
    changed: int = 0

    def plus(self, other: "_Counts") -> "_Counts":
        """Return the sum of both counts."""
        return _Counts(
            self.documents + other.documents, self.pairs + other.pairs, self.changed + other.changed
        )


def draw_screens(drawing: Drawing, family: str, styles: str, changes: str) -> str:
    """Draw a set, or the missing part of it, and print how many pairs were drawn, and how fast.

    Raises OutputError where OUT is something else or was drawn with other settings, MissingProgram and
    MissingExtra where a family's requirements are not installed.
    """
    if min(drawing.size) < LEAST_SIDE:
        raise OutputError(f"--size: screens have at least {LEAST_SIDE} pixels a side.")
    families = tuple(FAMILIES) if family == "all" else (family,)
    folder = Path(styles).absolute() if styles else None
    options = FamilyOptions(folder, drawing.size, several=changes == "several")
    task = _SetToDraw(drawing.out.absolute(), drawing.seed, families, options)
    settings = _settings(task)
    done, listed = _begin(task, settings)
    if done >= drawing.scenes:
        _clear_parts(task.out, done)
        drawing.advance(drawing.scenes)
        return f"all of {done:,} documents were there"
    began = time.monotonic()
    drawing.advance(done)
    drawn = _Counts()
    for counts in _draw_all(task, done, drawing.scenes, drawing.workers):
        drawn = drawn.plus(counts)
        drawing.advance(counts.documents)
    seconds = time.monotonic() - began
    pairs = _finish(task, settings, done, listed, drawing.scenes)
    return (
        f"{drawing.scenes:,} documents, {pairs:,} pairs; {drawn.pairs:,} of them drawn now "
        f"({drawn.changed:,} changed), {drawn.pairs / max(seconds, 1e-9):.1f} a second"
    )


def _settings(task: _SetToDraw) -> dict[str, Any]:
    """Return the settings that all parts of a set must share. It opens every family, which reports missing
    programs.
    """
    renderers = {}
    for name in task.families:
        with find_family(name)(task.options) as family:
            renderers[name] = family.renderer
    return {
        "format": FORMAT,
        "designs": DESIGNS,
        "seed": task.seed,
        "size": list(task.options.size),
        "families": list(task.families),
        "renderers": renderers,
        "changes": "several" if task.options.several else "mixed",
    }


def _begin(task: _SetToDraw, settings: Mapping[str, Any]) -> tuple[int, int]:
    """Make the folder, or open an existing set; return how many documents and pairs it has."""
    file = task.out / SETTINGS
    if not task.out.exists():
        if not task.out.parent.is_dir():
            raise OutputError(f"{task.out}: the folder {task.out.parent} is not there. Make it first.")
        write_whole(file, _json({**settings, "documents": 0, "pairs": 0}))
        return 0, 0
    if not file.is_file():
        raise OutputError(f"{task.out}: exists already. Choose another name, or remove it first.")
    clear_drafts(task.out)
    try:
        known = read_json(read_regular_text(file))
        done, listed = known["documents"], known["pairs"]
        if not all(type(count) is int and count >= 0 for count in (done, listed)):
            raise ValueError(f"documents {done!r}, pairs {listed!r}")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise OutputError(f"{file}: not the settings of a drawn set ({error}). Remove the folder.") from error
    known.setdefault("changes", "mixed")  # sets of earlier versions had no choice
    for name, value in settings.items():
        if known.get(name) != value:
            raise OutputError(
                f"{task.out}: it was drawn with {name} {known.get(name)!r}, this would be with {value!r}. "
                "Choose another folder, or the same settings."
            )
    return done, listed


def _json(content: Mapping[str, Any]) -> bytes:
    return (json.dumps(content, indent=1) + "\n").encode("utf-8")


def _ranges(first: int, last: int) -> Iterator[range]:
    """Yield the documents from first to last, in parts."""
    while first < last:
        end = min((first // PART + 1) * PART, last)
        yield range(first, end)
        first = end


def _part_file(out: Path, numbers: range) -> Path:
    return out / "parts" / f"{numbers.start:07d}-{numbers.stop:07d}.jsonl"


def _draw_all(task: _SetToDraw, first: int, last: int, workers: int) -> Iterator[_Counts]:
    """Draw the missing parts; yield the counts of each part, those of existing parts first."""
    missing = []
    for numbers in _ranges(first, last):
        if _part_file(task.out, numbers).is_file():
            yield _Counts(documents=len(numbers))
        else:
            missing.append(numbers)
    if workers == 1 or len(missing) < 2:
        with ExitStack() as stack:
            families = _open(task, stack)
            for numbers in missing:
                yield _draw_part(task, families, numbers)
        return
    with worker_pool(min(workers, len(missing)), _start, (task,)) as pool:
        yield from pool.map(_draw_here, missing)


def _open(task: _SetToDraw, stack: ExitStack) -> dict[str, Family]:
    return {name: stack.enter_context(find_family(name)(task.options)) for name in task.families}


_here: dict[str, Any] = {}
"""The data of a worker process: its task and its open families."""


def _start(task: _SetToDraw) -> None:
    """Open the families in a new worker, and close them when the process ends."""
    stack = ExitStack()
    _here.update(task=task, families=_open(task, stack))
    Finalize(None, stack.close, exitpriority=10)


def _draw_here(numbers: range) -> _Counts:
    return _draw_part(_here["task"], _here["families"], numbers)


def _draw_part(task: _SetToDraw, families: Mapping[str, Family], numbers: range) -> _Counts:
    """Draw these documents: write their pictures first, then the file with the lines of their pairs, at
    once.
    """
    lines: list[str] = []
    changed = 0
    for place in numbers:
        index, turn = divmod(place, len(task.families))
        name = task.families[turn]
        family = list(FAMILIES).index(name)  # the same whatever else is drawn
        split = SPLITS.get(index % 10, "train")
        pairs = families[name].draw(task.seed, index, split)
        files = _write_pictures(task.out, f"images/{name}/{index // 1000:04d}", index, pairs)
        for number, (pair, (before, after)) in enumerate(zip(pairs, files, strict=True)):
            rng = np.random.default_rng([task.seed, 5, family, index, number])
            changed += bool(pair.truth.changes)
            line = {
                "id": f"{name}-{index:06d}-{number}",
                "before": before,
                "after": after,
                "changed": bool(pair.truth.changes),
                "split": split,
                "document": f"{name}-{index:06d}",
                "captions": list(write_captions(pair.truth, rng)),
                **to_json(pair.truth),
            }
            lines.append(json.dumps(line, ensure_ascii=False))
    text = "".join(f"{line}\n" for line in lines)
    write_whole(_part_file(task.out, numbers), text.encode("utf-8"))
    return _Counts(len(numbers), len(lines), changed)


def _write_pictures(out: Path, folder: str, index: int, pairs: Sequence[DrawnPair]) -> list[tuple[str, str]]:
    """Write the pictures of one document, identical ones once; return the names of both pictures of each
    pair.
    """
    names: dict[bytes, str] = {}
    for pair in pairs:
        for picture in (pair.before, pair.after):
            if picture not in names:
                names[picture] = f"{folder}/{index:06d}-{len(names)}.png"
                write_whole(out / names[picture], picture)
    return [(names[pair.before], names[pair.after]) for pair in pairs]


def _finish(task: _SetToDraw, settings: Mapping[str, Any], first: int, listed: int, last: int) -> int:
    """Combine the parts into the list; return how many pairs it has.

    first, listed: documents and pairs of the set so far. The list may already have more pairs, of a run that
    was killed before it recorded them.
    """
    path = task.out / LIST
    lines = read_regular_text(path).split("\n")[:listed] if first else []
    if len(lines) < listed:
        raise OutputError(f"{path}: {len(lines):,} pairs of {listed:,} are left. Remove the folder.")
    text = "".join(f"{line}\n" for line in lines)
    for numbers in _ranges(first, last):
        text += read_regular_text(_part_file(task.out, numbers))
    pairs = text.count("\n")
    write_whole(path, text.encode("utf-8"))
    write_whole(task.out / SETTINGS, _json({**settings, "documents": last, "pairs": pairs}))
    _clear_parts(task.out, last)
    return pairs


def _clear_parts(out: Path, done: int) -> None:
    """Remove the parts of documents that the list contains."""
    parts = out / "parts"
    for file in parts.glob("*.jsonl"):
        if int(file.name.partition("-")[0]) < done:
            file.unlink()
    with suppress(OSError):  # parts of further documents lie there, or it is not there
        parts.rmdir()
