"""Real pairs of screens with full labels: the old and the new version of a PNG in one public commit.

    pairs.jsonl                       one JSON object a pair (see below)
    images/bw-001_before.webp ...     the pictures that it names, or, after restoring, ``.png``

An object holds id, split ("train" or "validation"), repo, licence, commit, path, before, after,
visible_change ("yes", "no", "uncertain"), changes (kind, element, aspect, detail, box_before, box_after ...,
the most important first), and two sentences. ``changed`` is None where the change is uncertain. ``extra``
contains the labels as in the file. The world of screens converts these labels to the truth of a pair.

The project publishes the labels without the pictures (``labels.jsonl``); ``tools/ui_train/restore.py``
restores the pictures from clones and writes a folder in this form.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from whatchanged.datasets.reading import Reading, first_entry
from whatchanged.errors import DatasetError
from whatchanged.records import PairRecord, SizedBox, Split

NAME = "ui_train"
LIST = "pairs.jsonl"
MARKS = frozenset({"visible_change", "changes", "sentences", "before", "after"})
"""The keys by which a list in this form is recognised."""
SPLIT_NAMES: Mapping[str, Split] = {"train": "train", "validation": "val"}
CHANGED: Mapping[str, bool | None] = {"yes": True, "no": False, "uncertain": None}
"""A mapping from ``visible_change`` to ``PairRecord.changed``."""
KINDS = frozenset(
    ("added", "removed", "moved", "resized", "recolored", "restyled", "rewritten", "replaced"),
)
LABELS = (
    "changes",
    "visible_change",
    "size_before",
    "size_after",
    "group",
    "sample",
    "confidence",
    "repo",
    "licence",
    "commit",
    "path",
)
"""The keys of a line whose values are stored in ``PairRecord.extra``."""


def recognises(path: Path) -> bool:
    """Return whether the path is a list in this form, or a folder that contains such a list as
    ``pairs.jsonl``.
    """
    return path.suffix != ".csv" and first_entry(_list_of(path)).keys() >= MARKS


def read(path: Path, reading: Reading) -> list[PairRecord]:
    """Return one record for each line, in the order of the list."""
    listed = _list_of(path)
    if not listed.is_file():
        raise DatasetError(f"{listed}: missing. Copy the data set again, or restore its pictures.")
    results = [_record(listed.parent, where, line, reading) for where, line in reading.entries(listed)]
    return [record for record in results if record is not None]


def _list_of(path: Path) -> Path:
    return path if path.is_file() else path / LIST


def _record(root: Path, where: str, line: Mapping[str, Any], reading: Reading) -> PairRecord | None:
    """Return the record of a pair. An invalid pair counts as damage, and the result is None."""
    name, split, visible = (line.get(key) for key in ("id", "split", "visible_change"))
    if not isinstance(name, str) or not name:
        reading.damage(f"{where}: 'id' should be a text, not {name!r}.")
        return None
    if not isinstance(split, str) or split not in SPLIT_NAMES:
        reading.damage(f"{where}: unknown split {split!r}. Known: {', '.join(SPLIT_NAMES)}.")
        return None
    if not isinstance(visible, str) or visible not in CHANGED:
        reading.damage(f"{where}: unknown visible_change {visible!r}. Known: {', '.join(CHANGED)}.")
        return None
    captions = reading.sentences(f"{where}: 'sentences'", line.get("sentences"))
    before, after = (reading.picture(root, line.get(key), f"{where}: {key!r}") for key in ("before", "after"))
    changes = line.get("changes")
    problem = _problem(changes, CHANGED[visible])
    if problem:
        reading.damage(f"{where}: {problem}.")
        return None
    if captions is None or before is None or after is None:
        return None
    assert isinstance(changes, list)
    changed = CHANGED[visible]
    boxes: tuple[SizedBox | None, SizedBox | None] = (None, None)
    if changed:
        boxes = (_sized(changes[0]["box_before"]), _sized(changes[0]["box_after"]))
    return PairRecord(
        dataset=NAME,
        pair_id=name,
        group_id=str(line.get("commit", name)),
        split=SPLIT_NAMES[split],
        kind="pair_caption",
        before=before,
        after=after,
        captions=captions,
        changed=changed,
        change_type={True: changes[0]["kind"] if changes else None, False: "none", None: None}[changed],
        boxes=boxes,
        extra={key: line[key] for key in LABELS if key in line},
    )


def _problem(changes: Any, changed: bool | None) -> str:
    """Return a text about the fault in the labelled changes of a pair, or "" if there is no fault."""
    if not isinstance(changes, list) or not all(isinstance(change, dict) for change in changes):
        return "'changes' should be a list of objects"
    if changed and not changes:
        return "a visible change needs an entry in 'changes'"
    for number, change in enumerate(changes, start=1):
        if change.get("kind") not in KINDS:
            return f"change {number}: unknown kind {change.get('kind')!r}. Known: {', '.join(sorted(KINDS))}"
        boxes = [change.get("box_before"), change.get("box_after")]
        if not any(boxes) or not all(box is None or _is_box(box) for box in boxes):
            return f"change {number}: a box is left, top, right, bottom in pixels, and one at least is there"
    return ""


def _is_box(box: Any) -> bool:
    if not isinstance(box, list) or len(box) != 4 or not all(type(end) is int for end in box):
        return False
    left, top, right, bottom = box
    return bool(0 <= left < right <= 10**6 and 0 <= top < bottom <= 10**6)


def _sized(box: list[int] | None) -> SizedBox | None:
    """Return left, top, width and height of a box."""
    return None if box is None else (box[0], box[1], box[2] - box[0], box[3] - box[1])
