"""Counts how often ``describe`` warns of unfamiliar pictures, on scenes of the model's world and on others.

    python -m benchmarks.clevr.strange MODEL --scenes $BLENDER_DEV --scenes TWIN [--wheels FOLDER] [--each 40]
        [--keep FOLDER] [--seed 0] [--pages 10]

False alarms: the share of each data set's pairs that cause a warning. Detection, for each kind of picture:
the share of pairs that cause a warning, if one picture (before and after in turn) is of the kind and the
other is from the first data set. Two strange pictures would cause a warning even more often. The kinds are
those of ``strange_pictures``. Measured: each strange picture is compared with a copy that has a black patch,
without naming a model. Counted is how often the measured answer is used, and how often it reports a change.

Pictures are resized as usual. Nothing is fitted or chosen here.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.clevr.strange_pictures import Picture, strange_pictures
from benchmarks.record import add_record_option, anonymous, write_result
from whatchanged.answers import MEASURED, Answerer
from whatchanged.captioner.runtime import Captioner, load
from whatchanged.datasets import open_dataset
from whatchanged.evaluation.statistics.intervals import wilson


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model")
    parser.add_argument("--scenes", type=Path, action="append", required=True)
    parser.add_argument("--wheels", type=Path, default=None)
    parser.add_argument("--each", type=int, default=40, help="pictures of each drawn kind")
    parser.add_argument("--pages", type=int, default=10, help="pages in Chromium, 0 for none")
    parser.add_argument("--keep", type=Path, default=None, help="write the strange pictures here")
    parser.add_argument("--seed", type=int, default=0)
    add_record_option(parser, "strange")
    options = parser.parse_args()
    captioner, answerer = load(options.model, 1), Answerer(threads=1)
    known = [_false_alarms(captioner, folder) for folder in options.scenes]
    beside = next(r.before for r in open_dataset(options.scenes[0]).records)
    rows: list[dict[str, Any]] = []
    for kind, pictures in strange_pictures(options.each, options.pages, options.wheels, options.seed):
        named = list(pictures)
        if options.keep is not None:
            _write(options.keep / kind, named)
        results = [_warned(captioner, beside, picture) for _, picture in named]
        caught = sum(warned for pair in results for warned, _ in pair)
        missed = [name for (name, _), pair in zip(named, results, strict=True) if not all(w for w, _ in pair)]
        least = min((s for pair in results for _, s in pair), default=None)
        routed = [answerer.answer(picture.convert("RGB"), _patched(picture)) for _, picture in named]
        measured = sum(answer.answer == MEASURED for answer in routed)
        changed = sum(answer.changed for answer in routed)
        nearest = "-" if least is None else f"{least:.2f}"
        print(f"{kind:16} {_share(caught, 2 * len(named))}, least strangeness {nearest}", end="")
        print(f"; measured {measured}, changed {changed} of {len(named)}", end="")
        print(f"; missed: {', '.join(missed[:12])}" if missed else "", flush=True)
        row = {"kind": kind, "warned_of": caught, "of": 2 * len(named), "least_distance": least}
        rows.append({**row, "measured": measured, "changed": changed, "pictures": len(named)})
    alarms, total = sum(row["warned_of"] for row in rows), sum(row["of"] for row in rows)
    print(f"{'all':16} {_share(alarms, total)}")
    if options.record:
        figures = {"known": known, "strange": rows}
        write_result(options.record, "strange", figures, seeds={"pictures": options.seed})


def _false_alarms(captioner: Captioner, folder: Path) -> dict[str, Any]:
    """How many pairs of a world that the model knows are warned of."""
    records = [r for r in open_dataset(folder).records if r.after is not None]
    ood_distance = []
    for start in range(0, len(records), 16):
        batch = records[start : start + 16]
        found = captioner.describe([r.before for r in batch], [r.after for r in batch])
        ood_distance += [max(d.ood_distance) for d in found if d.ood_distance is not None]
    values = np.array(ood_distance)
    print(
        f"false alarms, {folder.name}: {_share(int((values > 1).sum()), len(values))}; strangeness: "
        f"median {np.median(values):.2f}, 95 % {np.quantile(values, 0.95):.2f}, most {values.max():.2f}",
        flush=True,
    )
    return {
        "pictures": anonymous(str(folder)),
        "warned_of": int((values > 1).sum()),
        "of": len(values),
        "median_distance": float(np.median(values)),
        "largest_distance": float(values.max()),
    }


def _warned(captioner: Captioner, beside: Path, picture: Picture) -> list[tuple[bool, float]]:
    """Whether each order of the pair is warned of, and the strange picture's strangeness."""
    first, second = captioner.describe([picture, beside], [beside, picture])
    assert first.ood_distance is not None and second.ood_distance is not None
    return [
        (bool(first.unfamiliar), first.ood_distance[0]),
        (bool(second.unfamiliar), second.ood_distance[1]),
    ]


def _patched(picture: Picture) -> Picture:
    """The picture with a black square, a fifth as high as it, whose top left corner is its middle."""
    patched = picture.convert("RGB")
    side = max(8, patched.height // 5)
    left, top = patched.width // 2, patched.height // 2
    patched.paste((0, 0, 0), (left, top, left + side, top + side))
    return patched


def _share(part: int, whole: int) -> str:
    """A share with Wilson's 95 % interval."""
    if whole == 0:
        return "none there"
    low, high = wilson(part, whole)
    return f"{part}/{whole} = {100 * part / whole:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"


def _write(folder: Path, named: Sequence[tuple[str, Picture]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, picture in named:
        picture.convert("RGB").save(folder / f"{name.replace('/', '_')}.png")


if __name__ == "__main__":
    main()
