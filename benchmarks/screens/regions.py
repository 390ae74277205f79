"""How well places of screens are proposed and judged, by the rules and by the network of ``screens-regions``.

    python -m benchmarks.screens.regions PAIRS REGIONS --run RUN [--split test] [--record]

PAIRS: the list of a drawn set, with its truth. REGIONS: what ``whatchanged features`` stored of it. Change
and no-change accuracy are at the threshold that makes both alike on the validation split. Intervals and
differences resample documents.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.record import Watch, add_record_option, write_result
from benchmarks.screens.boxes import compared, points_into
from benchmarks.screens.real import Score, auroc, share_of, verdict_rows, with_interval
from whatchanged.datasets import open_dataset
from whatchanged.measured import Measured, measure
from whatchanged.records import PairRecord
from whatchanged.regions.proposals import overlap
from whatchanged.training.batches import Example
from whatchanged.training.data.grid_files import picture_name
from whatchanged.training.regions.judge import RegionJudge, chances
from whatchanged.training.regions.store import RegionFiles, StoredRegions
from whatchanged.training.regions.supervision import ELEMENT_NAMES, refined, supported
from whatchanged.training.run_folder import open_run
from whatchanged.worlds.screens.kinds import KINDS
from whatchanged.worlds.screens.truth import Box, ScreenTruth
from whatchanged.worlds.screens.world import truths


@dataclass(frozen=True)
class Answer:
    """What is said of one pair: the chance of a change, and of the first statement kind, element, boxes."""

    chance: float
    kind: str = ""
    element: str = ""
    box_before: Box | None = None
    box_after: Box | None = None


def judged(answer: Answer, truth: ScreenTruth) -> dict[str, bool]:
    """Whether the first statement's kind, place and element are those of a change of the pair."""
    best = {"kind": False, "place": False, "pointing": False, "statement": False, "element": False}
    for change in truth.changes:
        box, told = compared((change.box_before, change.box_after), (answer.box_before, answer.box_after))
        shared = overlap(box, told) if box and told else 0.0
        points = bool(box and told and points_into(told, box))
        kind = answer.kind == change.kind
        results = {
            "kind": kind,
            "place": shared >= 0.5,
            "pointing": points,
            "statement": kind and points,
            "element": answer.element == change.element and points,
        }
        best = {name: best[name] or results[name] for name in best}
    return best


def by_rules(pair: PairRecord) -> Answer:
    """The measured answer."""
    assert pair.after is not None
    answer: Measured = measure(pair.before, pair.after)
    chance = 1 - answer.no_change
    if not answer.statements:
        return Answer(chance)
    first = answer.statements[0]
    return Answer(chance, str(first.kind), "", first.box_before, first.box_after)


def stored(files: RegionFiles, root: Path, pair: PairRecord) -> StoredRegions:
    """The stored regions of a pair of the data set at ``root``."""
    assert pair.after is not None
    return files.read(picture_name(pair.before, root), picture_name(pair.after, root))


class Net:
    """The network of a run."""

    def __init__(self, run: Path, files: RegionFiles, root: Path) -> None:
        _, method, _ = open_run(run, "last")
        assert isinstance(method, RegionJudge)
        self.judge = method.eval()
        self.files, self.root = files, root

    def answer(self, pair: PairRecord) -> Answer:
        """What the network says of a pair: of its best place."""
        found = stored(self.files, self.root, pair)
        example = Example(pair, "", found.before, found.after, measured=found.numbers)
        with torch.inference_mode():
            places = self.judge.proposals(self.judge.collate([example]))
            said = self.judge.judge(places)
            chance = chances(said, places.there)[0]
            boxes = refined(places.boxes, said.shift)[0].round()
            best = int(supported(said.rank, places.boxes, places.there)[0].argmax())
        if not places.there.any():
            return Answer(0.0)
        kind = KINDS[int(said.kinds[0, best].argmax())]
        element = ELEMENT_NAMES[int(said.elements[0, best].argmax())]
        before, after = (_inside_of(boxes[best, side], found.sizes[side]) for side in (0, 1))
        return Answer(
            float(chance),
            kind,
            element,
            None if kind == "added" else before,
            None if kind == "removed" else after,
        )


def _inside_of(box: torch.Tensor, size: NDArray[np.int32]) -> Box:
    """A box in whole pixels, inside a picture of this width and height, at least a pixel large."""
    left, top, right, bottom = (int(end) for end in box)
    width, height = (int(side) for side in size)
    left, top = min(max(0, left), width - 1), min(max(0, top), height - 1)
    return left, top, max(left + 1, min(right, width)), max(top + 1, min(bottom, height))


def threshold(chances: NDArray[np.float64], changed: NDArray[np.bool_]) -> float:
    """Where change and no-change accuracy are most alike."""
    tried = np.unique(chances)
    gaps = [abs((chances[changed] >= at).mean() - (chances[~changed] < at).mean()) for at in tried]
    return float(tried[int(np.argmin(gaps))])


@dataclass(frozen=True)
class Scored:
    """What was said of all pairs of a split: the chance of a change, what of the first statement is right.

    limit: the threshold of the validation split.
    """

    chances: NDArray[np.float64]
    right: dict[str, NDArray[np.bool_]]
    limit: float


SHARES = ("kind", "pointing", "place", "statement", "element")
"""What of a first statement can be right."""


def scored(answers: Sequence[Answer], known: Sequence[ScreenTruth], limit: float) -> Scored:
    """The answers, judged."""
    rows = [judged(answer, truth) for answer, truth in zip(answers, known, strict=True)]
    right = {name: np.array([row[name] for row in rows]) for name in SHARES}
    return Scored(np.array([answer.chance for answer in answers]), right, limit)


def mean_of(values: NDArray[np.float64]) -> Score:
    """The score that is the mean of the rows."""
    return lambda rows: float(values[rows].mean())


def figures_of(
    systems: dict[str, Scored], changed: NDArray[np.bool_], groups: NDArray[np.intp], resamples: int
) -> dict[str, Any]:
    """Every measure of every system with its interval, and of the network less the rules."""
    own = groups[changed]
    results: dict[str, Any] = {}
    for name, system in systems.items():
        results[name] = verdict_rows(system.chances, system.limit, changed, groups, resamples)
        for share, right in system.right.items():
            results[name][share] = with_interval(share_of(right[changed]), own, resamples)
    rules, network = systems["rules"], systems["network"]
    better = {
        share: network.right[share][changed].astype(float) - rules.right[share][changed] for share in SHARES
    }
    results["difference"] = {
        share: with_interval(mean_of(gain), own, resamples) for share, gain in better.items()
    }

    def larger(rows: NDArray[np.intp]) -> float:
        areas = [auroc(one.chances[rows], changed[rows]) for one in (network, rules)]
        return areas[0] - areas[1]

    results["difference"]["auroc"] = with_interval(larger, groups, resamples)
    return results


def by(names: Sequence[str], right: dict[str, NDArray[np.bool_]]) -> dict[str, dict[str, float]]:
    """The shares of the pairs of each name."""
    labels = np.array(names)
    return {
        name: {
            "pairs": int((labels == name).sum()),
            **{share: float(row[labels == name].mean()) for share, row in right.items()},
        }
        for name in sorted(set(names))
    }


def proposed(
    files: RegionFiles, root: Path, pairs: Sequence[PairRecord], known: Sequence[ScreenTruth]
) -> dict[str, float]:
    """How often one of a pair's places, and the first of them, overlaps a change by half."""
    first, any_place, counts = [], [], []
    for pair, truth in zip(pairs, known, strict=True):
        found = stored(files, root, pair)
        boxes = [_boxes(rows) for rows in (found.before, found.after)]
        counts.append(len(boxes[0]))
        for change in truth.changes:
            side = 1 if change.box_after else 0
            shares = [overlap(box, change.box_after or change.box_before) for box in boxes[side]]
            any_place.append(max(shares, default=0.0) >= 0.5)
            first.append(bool(shares) and shares[0] >= 0.5)
    return {
        "places a pair": float(np.mean(counts)),
        "changes with a place": 100 * float(np.mean(any_place)),
        "changes whose first place fits": 100 * float(np.mean(first)),
    }


def _boxes(rows: NDArray[np.float32]) -> list[Box]:
    real = rows[rows[:, -1] > 0, :4].astype(int)
    return [(int(a), int(b), int(c), int(d)) for a, b, c, d in real]


def main() -> None:
    """Prints, and records where wanted, the measures of the rules and of the network side by side."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pairs", type=Path)
    parser.add_argument("regions", type=Path)
    parser.add_argument("--run", type=Path, required=True)
    parser.add_argument("--split", default="test")
    parser.add_argument("--resamples", type=int, default=1000)
    add_record_option(parser, "screen_regions")
    options = parser.parse_args()
    files = RegionFiles(options.regions)
    splits: dict[str, tuple[list[PairRecord], list[ScreenTruth]]] = {}
    for split in ("val", options.split):
        pairs = [pair for pair in open_dataset(options.pairs).records if pair.split == split]
        known = truths(options.pairs, pairs)
        splits[split] = pairs, [known[pair.pair_id] for pair in pairs]
    pairs, known_truths = splits[options.split]
    changed = np.array([bool(truth.changes) for truth in known_truths])
    documents = [pair.pair_id.rsplit("-", 1)[0] for pair in pairs]
    groups = np.unique(documents, return_inverse=True)[1]
    systems: dict[str, Scored] = {}
    with Watch() as watch:
        for name, answer in {
            "rules": by_rules,
            "network": Net(options.run, files, options.pairs).answer,
        }.items():
            held = np.array([answer(pair).chance for pair in splits["val"][0]])
            limit = threshold(held, np.array([bool(truth.changes) for truth in splits["val"][1]]))
            systems[name] = scored([answer(pair) for pair in pairs], known_truths, limit)
    figures = {
        "pairs": [int(changed.sum()), int((~changed).sum())],
        "documents": len(set(documents)),
        "proposals": proposed(files, options.pairs, pairs, known_truths),
        **figures_of(systems, changed, groups, options.resamples),
    }
    seen = [truth for truth in known_truths if truth.changes]
    for name, system in systems.items():
        own = {share: right[changed] for share, right in system.right.items()}
        figures[name]["families"] = by([truth.family for truth in seen], own)
        figures[name]["kinds"] = by([truth.changes[0].kind for truth in seen], own)
    print(json.dumps(figures, indent=1))
    if options.record:
        write_result(options.record, "screen_regions", figures, watch=watch, seeds={"resampling": 0})


if __name__ == "__main__":
    main()
