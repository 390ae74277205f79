"""How well pairs of drawn screens are told: the statements of a model, and beside it the rules'.

    python -m benchmarks.screens.statements PAIRS --model MODEL [--split test] [--pairs 1000] [--record]

PAIRS: a drawn set, with its truth. The measures are those of real pairs (``benchmarks.screens``): verdicts at
the shipped threshold, and of the first statement kind, place and both; of the second and third statements
whether they point to a change, and tell its kind as well; and the sentences judged by their world.
Intervals: 95 %, documents resampled. Answers are made one after the other on one thread; ``familiar`` is the
share of the pairs that the model answers without being named.
"""

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.record import Watch, add_record_option, write_result
from benchmarks.screens.boxes import compared, points_into
from benchmarks.screens.real import auroc, expected_error, share_of, with_interval
from whatchanged.answers import Answer, Answerer
from whatchanged.answers.by_measurement import of_measured
from whatchanged.datasets import open_dataset
from whatchanged.measured import Box, Statement
from whatchanged.measured.measure import measure
from whatchanged.measured.pixels.boxes import iou
from whatchanged.records import PairRecord
from whatchanged.worlds import Verdict, find_world
from whatchanged.worlds.screens.truth import ScreenChange, ScreenTruth

WORLD = "screens"


@dataclass(frozen=True)
class AnsweredPair:
    """One pair, its truth and what was said of it."""

    record: PairRecord
    document: str
    truth: ScreenTruth
    answer: Answer
    verdict: Verdict
    seconds: float

    @property
    def changed(self) -> bool:
        return bool(self.truth.changes)

    def first(self) -> dict[str, bool]:
        """Whether the first statement is right, in each way."""
        names = ("kind", "pointing", "overlap", "statement", "element")
        if not self.answer.changes:
            return dict.fromkeys(names, False)
        held = [_held(self.answer.changes[0], change) for change in self.truth.changes]
        return {name: any(one[name] for one in held) for name in names}

    def later(self) -> list[tuple[bool, bool]]:
        """Whether each of the second and third statements points to a change, and tells its kind as well."""
        held = [[_held(one, change) for change in self.truth.changes] for one in self.answer.changes[1:3]]
        return [
            (any(each["pointing"] for each in one), any(each["statement"] for each in one)) for one in held
        ]


def _held(statement: Statement, change: ScreenChange) -> dict[str, bool]:
    """A statement held against one change, and each of the alike things that changed with it."""
    told = (statement.box_before, statement.box_after)
    boxes = [compared(place, told) for place in ((change.box_before, change.box_after), *change.boxes)]
    kind = statement.kind == change.kind
    points = any(_points(*both) for both in boxes)
    return {
        "kind": kind,
        "pointing": points,
        "overlap": any(_overlap(*both) >= 0.5 for both in boxes),
        "statement": kind and points,
        "element": points and statement.element == change.element,
    }


def _points(box: Box | None, told: Box | None) -> bool:
    return box is not None and told is not None and points_into(told, box)


def _overlap(box: Box | None, told: Box | None) -> float:
    return 0.0 if box is None or told is None else iou(box, told)


def tell(
    answerer: Answerer | None, pairs: Sequence[tuple[PairRecord, str, ScreenTruth]]
) -> list[AnsweredPair]:
    """The answers, of the rules where there is no answerer."""
    world = find_world(WORLD)
    results = []
    for record, document, truth in pairs:
        assert record.after is not None
        start = time.process_time()
        if answerer is None:
            answer = of_measured(measure(record.before, record.after))
        else:
            answer = answerer.answer(record.before, record.after)
        seconds = time.process_time() - start
        verdict = world.language.judge(answer.sentence, truth)
        results.append(AnsweredPair(record, document, truth, answer, verdict, seconds))
    return results


def figures(told: Sequence[AnsweredPair], resamples: int) -> dict[str, Any]:
    """All measures of a system."""
    labels = np.array([one.changed for one in told])
    groups = np.unique([one.document for one in told], return_inverse=True)[1]
    said = np.array([one.answer.verdict == "changed" for one in told])
    chances = np.array([1 - one.answer.no_change for one in told])
    shown = [one for one in told if one.changed]
    firsts = [one.first() for one in shown]
    later = [right for one in shown for right in one.later()]
    results: dict[str, Any] = {
        "pairs": [int(labels.sum()), int((~labels).sum())],
        "change accuracy": with_interval(share_of(said[labels]), groups[labels], resamples),
        "no-change accuracy": with_interval(share_of(~said[~labels]), groups[~labels], resamples),
        "auroc": with_interval(lambda rows: auroc(chances[rows], labels[rows]), groups, resamples),
        "ece": round(expected_error(chances, labels), 4),
    }
    for name in firsts[0]:
        right = np.array([one[name] for one in firsts])
        results[name] = with_interval(share_of(right), groups[labels], resamples)
    pointing, whole = zip(*later, strict=True) if later else ((), ())
    results["later statements"] = {
        "precision": round(float(np.mean(pointing)), 4) if later else None,
        "kind and pointing": round(float(np.mean(whole)), 4) if later else None,
        "count": len(later),
    }
    true = np.array([one.verdict.true for one in told])
    results["wholly true"] = with_interval(share_of(true), groups, resamples)
    results["wholly true, changed"] = with_interval(share_of(true[labels]), groups[labels], resamples)
    for grade in ("kind_right", "element_right", "value_right", "place_right", "complete"):
        graded = [told_so for one in shown if (told_so := one.verdict.grades[grade]) is not None]
        results[f"sentence: {grade}"] = [round(sum(graded) / max(1, len(graded)), 4), len(graded)]
    results["milliseconds"] = round(1000 * float(np.median([one.seconds for one in told])), 1)
    return results


def by(told: Sequence[AnsweredPair], name: str) -> dict[str, list[float]]:
    """Statement right, wholly true and how many, of the changed pairs of each family or kind."""
    rows: dict[str, list[AnsweredPair]] = defaultdict(list)
    for one in told:
        if one.changed:
            key = one.truth.family if name == "family" else one.truth.changes[0].kind
            rows[key].append(one)
    return {
        key: [
            round(float(np.mean([one.first()["statement"] for one in part])), 4),
            round(float(np.mean([one.verdict.true for one in part])), 4),
            len(part),
        ]
        for key, part in sorted(rows.items())
    }


def _documents(pairs: Path) -> Mapping[str, str]:
    lines = (pairs / "pairs.jsonl" if pairs.is_dir() else pairs).read_text(encoding="utf-8").splitlines()
    return {one["id"]: one["document"] for one in map(json.loads, lines)}


def main() -> None:
    """Prints the figures, and writes them as JSON where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--model", required=True)
    parser.add_argument("--split", default="test")
    parser.add_argument("--pairs", dest="most", type=int, default=1000)
    parser.add_argument("--examples", type=int, default=10)
    parser.add_argument("--resamples", type=int, default=1000)
    add_record_option(parser, "screen_statements")
    options = parser.parse_args()
    records = [one for one in open_dataset(options.pairs).records if one.split == options.split]
    records = [records[round(at)] for at in np.linspace(0, len(records) - 1, min(options.most, len(records)))]
    truths, documents = find_world(WORLD).truth.read(options.pairs, records), _documents(options.pairs)
    pairs = [(one, documents[one.pair_id], truths[one.pair_id]) for one in records]
    answerer = Answerer(options.model, threads=1)
    results: dict[str, Any] = {"split": options.split}
    with Watch() as watch:
        told = {"rules": tell(None, pairs), "model": tell(answerer, pairs)}
        for name, own in told.items():
            results[name] = figures(own, options.resamples)
            results[name]["by family"] = by(own, "family")
            results[name]["by kind"] = by(own, "kind")
    of_model = told["model"]
    results["familiar"] = round(float(np.mean([not one.answer.unfamiliar for one in of_model])), 4)
    chosen = np.random.default_rng(0).permutation(len(of_model))[: options.examples]
    results["examples"] = [
        {
            "id": of_model[at].record.pair_id,
            "said": of_model[at].answer.sentence,
            "true": of_model[at].verdict.true,
            "fault": of_model[at].verdict.fault,
            "truth": of_model[at].record.captions[0],
        }
        for at in chosen
    ]
    print(json.dumps(results, indent=1))
    if options.record:
        write_result(options.record, "screen_statements", results, watch=watch, seeds={"resampling": 0})


if __name__ == "__main__":
    main()
