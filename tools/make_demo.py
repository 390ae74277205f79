"""Draws the ten pairs of ``whatchanged demo``: pictures and truth, from a seed that no training uses.

    python tools/make_demo.py [--seed S] [--output src/whatchanged/models/demo]

Eight pairs have a change, and each type of change occurs. In the other two pairs only camera and light
moved. The tool needs the extra ``train`` (for the renderer). The same seed gives the same bytes.
"""

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from PIL import Image

from whatchanged.synth.clevr import render
from whatchanged.synth.clevr.sampling import sample_triple
from whatchanged.synth.clevr.truth import triple_entries
from whatchanged.worlds.clevr.change import NOTHING, SceneChange

SEED = 2_000_003
"""Kept apart from every seed that trains or validates."""
SIZE = (240, 160)
CHANGES, DISTRACTORS = 8, 2


def main() -> None:
    """Write the PNGs and ``demo.json``."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--output", type=Path, default=Path("src/whatchanged/models/demo"))
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    pairs = []
    for index in range(CHANGES + DISTRACTORS):
        pairs.append(_draw(options.output, options.seed, index, distractor=index >= CHANGES))
    truth = {"world": "clevr", "seed": options.seed, "size": SIZE, "pairs": pairs}
    (options.output / "demo.json").write_text(json.dumps(truth) + "\n", encoding="utf-8")
    print(f"{len(pairs)} pairs in {options.output}")


def _draw(folder: Path, seed: int, index: int, distractor: bool) -> dict[str, Any]:
    """Render one pair and return its entry."""
    triple = sample_triple(seed, index)
    after = triple.nonsemantic if distractor else triple.semantic
    change = NOTHING if distractor else triple.change
    pictures = render((triple.default, after), *SIZE)
    names = (f"{index:02d}-before.png", f"{index:02d}-after.png")
    for name, pixels in zip(names, pictures, strict=True):
        Image.fromarray(pixels).save(folder / name, optimize=True)
    entries, _ = triple_entries(triple, *SIZE)
    return {
        "before": names[0],
        "after": names[1],
        "scene_before": entries[0],
        "scene_after": entries[2 if distractor else 1],
        "change": _change_entry(change),
    }


def _change_entry(change: SceneChange) -> dict[str, Any]:
    fields = asdict(change)
    return {"type": fields["type"], "changed_before": fields["before"], "changed_after": fields["after"]}


if __name__ == "__main__":
    main()
