"""Fits on drawn pairs which places of two screens a model is asked about first.

    python tools/fit order FOLDER [FOLDER ...] [--pairs 800] [--write]

FOLDER: drawn by ``whatchanged synth screens --family FAMILY``; of its first pairs those of training and
validation designs count. A place is known by how it was found and around which seed (``Slot``), and finds a
change where it overlaps its box by half (intersection over union). Each next slot is that which finds most of
the changes that the slots before found least often. Prints the constant of ``regions/proposals.py``;
``--write`` puts it into ``regions/fitted.py``.
"""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from fit.constants import REGIONS, write_constants
from whatchanged.measured.compared import Compared
from whatchanged.measured.pixels.boxes import iou
from whatchanged.measured.pixels.reading import read_picture
from whatchanged.measured.result import Box
from whatchanged.regions.fitted import ORDER
from whatchanged.regions.proposals import Proposal, Slot, candidates

FINDS = 0.5
"""How far a place overlaps a change that it finds."""


def finds(proposal: Proposal, boxes: tuple[Box | None, Box | None]) -> bool:
    """Whether a place shows a change, in each picture in which the change has a box."""
    return all(
        box is None or iou(mine, box) >= FINDS for mine, box in zip(proposal.boxes, boxes, strict=True)
    )


def found_by(folder: Path, most: int) -> tuple[dict[Slot, set[str]], int]:
    """The changes that each slot finds in the pairs of a folder, and how many changes there are."""
    results: dict[Slot, set[str]] = defaultdict(set)
    count = 0
    with (folder / "pairs.jsonl").open(encoding="utf-8") as lines:
        pairs = [pair for pair in map(json.loads, lines) if pair["split"] != "test"][:most]
    for pair in pairs:
        before, after = (read_picture(folder / pair[end]).on_white for end in ("before", "after"))
        places, _ = candidates(Compared(before, after))
        for number, change in enumerate(pair["changes"]):
            count += 1
            boxes = change["box_before"], change["box_after"]
            for slot, proposal in places:
                if finds(proposal, boxes):
                    results[slot].add(f"{folder} {pair['id']} {number}")
    return results, count


def best_order(found: Mapping[Slot, set[str]], length: int) -> list[Slot]:
    """So many slots, each next one that which finds most of the changes found least often before.

    Of changes found equally often as many as possible count first, then those found once more, and so on.
    """
    order: list[Slot] = []
    often: Counter[str] = Counter()
    left = sorted(slot for slot in found if found[slot])
    while left and len(order) < length:
        levels = range(max(often.values(), default=0) + 1)

        def gain(slot: Slot, levels: Sequence[int] = levels) -> tuple[int, ...]:
            counts = Counter(often[change] for change in found[slot])
            return tuple(counts[level] for level in levels)

        best = max(left, key=gain)
        order.append(best)
        left.remove(best)
        often.update(found[best])
    return order


def main() -> None:
    """Prints the order, and how many changes its first places find."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--pairs", type=int, default=800, help="of each folder")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    found: dict[Slot, set[str]] = defaultdict(set)
    count = 0
    for folder in options.folders:
        own, changes = found_by(folder, options.pairs)
        count += changes
        for slot, names in own.items():
            found[slot] |= names
    order = best_order(found, len(ORDER))
    for name, slots in (("present", ORDER), ("new", order)):
        for most in (1, 3, 12):
            reached = set[str]().union(*(found.get(slot, set()) for slot in slots[:most]))
            print(f"{name} order: its first {most:2} places find {len(reached)} of {count} changes")
    print(order)
    if options.write:
        write_constants({"ORDER": tuple(order)}, REGIONS)


if __name__ == "__main__":
    main()
