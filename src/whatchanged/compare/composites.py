"""Read the pictures that jest-image-snapshot stores for a failed test, also inside Cypress.

The new picture is stored separately, or as one part of a composite of three pictures:

    D/ID.png                                 the snapshot, which is the old picture
    D/__received_output__/ID-received.png    the new picture, if the tool was configured to store it
    D/__diff_output__/ID-diff.png            old picture, difference and new picture, side by side
    D/NAME.snap.png                          the snapshot of cypress-image-snapshot
    D/__diff_output__/NAME.diff.png          the composite of cypress-image-snapshot

If only the composite exists, its last third is the new picture.
"""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from whatchanged.compare.pairs import PairToCompare
from whatchanged.compare.written import begin_anew
from whatchanged.errors import ImageError
from whatchanged.files import whole
from whatchanged.images import picture_size, stored_picture

RECEIVED_FOLDER = "__received_output__"
DIFF_FOLDER = "__diff_output__"
PARTS = 3


def stored_pairs(pictures: Mapping[str, Path], scratch: Path) -> tuple[list[PairToCompare], tuple[str, ...]]:
    """Return the pairs of all failures, ordered by name, and a note about snapshots that did not fail.

    pictures: a mapping from relative path to file.
    scratch: a folder for the new pictures that are cropped from composites. They are written to its subfolder
        cut/, which is emptied first.
    """
    begin_anew(scratch / "cut")
    pairs: dict[str, PairToCompare] = {}
    for name, path in pictures.items():
        snapshot = _snapshot_of(name, RECEIVED_FOLDER, ((r"(.+)-received(\.\w+)", ""),))
        if snapshot is not None:
            pairs[snapshot] = PairToCompare(snapshot, pictures.get(snapshot), path)
    for name, path in pictures.items():
        snapshot = _snapshot_of(
            name, DIFF_FOLDER, ((r"(.+)-diff(\.\w+)", ""), (r"(.+)\.diff(\.\w+)", ".snap"))
        )
        if snapshot is not None and snapshot in pictures and snapshot not in pairs:
            pairs[snapshot] = _cropped_pair(snapshot, pictures[snapshot], path, scratch)
    quiet = [name for name in pictures if name not in pairs and not _is_output(name)]
    notes = (f"Snapshots without a picture of a failure, not compared: {len(quiet):,}.",) if quiet else ()
    return [pairs[name] for name in sorted(pairs)], notes


def _is_output(name: str) -> bool:
    return any(part in (DIFF_FOLDER, RECEIVED_FOLDER) for part in name.split("/"))


def _snapshot_of(name: str, folder: str, endings: tuple[tuple[str, str], ...]) -> str | None:
    """Return the relative path of the snapshot for an output in ``folder``; None for other names."""
    parts = PurePosixPath(name).parts
    if folder not in parts[:-1]:
        return None
    place = parts.index(folder)
    rest = PurePosixPath(*parts[:place], *parts[place + 1 :])
    for pattern, mark in endings:
        found = re.fullmatch(pattern, rest.name)
        if found is not None:
            return rest.with_name(found[1] + mark + found[2]).as_posix()
    return None


def _cropped_pair(name: str, snapshot: Path, composite: Path, scratch: Path) -> PairToCompare:
    """Return a pair whose new picture is the last third of the composite."""
    try:
        width, height = picture_size(snapshot, least=1)
        whole_width, whole_height = picture_size(composite, least=1)
        if whole_width % PARTS == 0 and whole_width // PARTS >= width and whole_height >= height:
            box = (whole_width // PARTS * 2, 0, whole_width, whole_height)
        elif whole_height % PARTS == 0 and whole_height // PARTS >= height and whole_width >= width:
            box = (0, whole_height // PARTS * 2, whole_width, whole_height)
        else:
            reason = (
                f"{composite}: it shows the difference alone, not the new picture. "
                "Let the tool store it: storeReceivedOnFailure."
            )
            return PairToCompare(name, snapshot, composite, trouble=reason)
        with stored_picture(composite) as image:
            part = image.convert("RGBA" if image.has_transparency_data else "RGB").crop(box)
    except ImageError as error:
        return PairToCompare(name, snapshot, composite, trouble=str(error))
    target = (
        scratch / "cut" / f"{hashlib.sha256(name.encode('utf-8', 'surrogateescape')).hexdigest()[:16]}.png"
    )
    target.parent.mkdir(parents=True, exist_ok=True)
    with whole(target) as draft:
        part.save(draft, "PNG")
    return PairToCompare(name, snapshot, target)
