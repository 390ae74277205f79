"""Times what intervals, a paired comparison and seeds add to a report on a test set's 7,970 pairs.

    python -m benchmarks.speed.intervals

The sentences are the world's own, for 200 sampled scenes repeated to 3,985. Each system draws new wordings of
the truth; for a tenth of the pairs, it writes a sentence about another pair. Best of two, on one thread.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.record import Watch, add_record_option, write_result
from whatchanged.evaluation.io.predictions import Prediction
from whatchanged.evaluation.metrics.truth import Truths
from whatchanged.evaluation.report.report import make_report
from whatchanged.evaluation.report.scored import ReportSettings, Scored, score
from whatchanged.records import PairRecord
from whatchanged.synth.clevr.sampling import sample_triple
from whatchanged.worlds import find_world
from whatchanged.worlds.clevr.language import write_captions

SCENES, SAMPLED = 3985, 200


def corpus() -> tuple[list[PairRecord], Truths]:
    """Both pairs of every scene, with references and truth."""
    rng = np.random.default_rng(0)
    triples = [sample_triple(0, i) for i in range(SAMPLED)]
    records, truths = [], {}
    for i in range(SCENES):
        for end, truth in zip(("", "_n"), triples[i % SAMPLED].pairs(), strict=True):
            name, kind = f"{i:06d}.png{end}", truth[2].type
            truths[name] = truth
            records.append(
                PairRecord(
                    dataset="clevr_change",
                    pair_id=name,
                    group_id=f"{i:06d}",
                    split="test",
                    kind="pair_caption",
                    before=Path(name),
                    after=Path(name),
                    captions=write_captions(*truth, rng),
                    changed=kind != "none",
                    change_type=kind,
                    viewpoint_iou=float(rng.random()),
                )
            )
    return records, Truths(find_world("clevr"), truths)


def system(records: list[PairRecord], truths: Truths, seed: int) -> list[Prediction]:
    """True sentences, a tenth of them in the wrong place."""
    rng = np.random.default_rng(seed)
    said = []
    for record in records:
        before, after, change = truths.by_id[record.pair_id]
        said.append(write_captions(before, after, change, rng)[0])
    wrong = np.flatnonzero(rng.random(len(said)) < 0.1)
    for i, j in zip(wrong, rng.permutation(wrong), strict=True):
        said[i] = said[j]
    same = np.array([r.changed is False for r in records])
    probabilities = np.clip(0.8 * same + 0.1 + rng.normal(0, 0.2, len(said)), 0, 1)
    return [Prediction(r.pair_id, s, float(p)) for r, s, p in zip(records, said, probabilities, strict=True)]


def seconds(run: Callable[[], object]) -> float:
    """The better of two runs."""
    taken = []
    for _ in range(2):
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return min(taken)


def main() -> None:
    """Prints a line for each kind of report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add_record_option(parser, "intervals")
    options = parser.parse_args()
    records, truths = corpus()
    one, *others = (system(records, truths, seed) for seed in range(3))

    def scored(said: list[Prediction], resamples: int = 1000) -> Scored:
        return score(records, said, ReportSettings(resamples=resamples), truths)

    runs: dict[str, Callable[[], object]] = {
        "no intervals": lambda: make_report(scored(one, 0)),
        "1,000 resamples": lambda: make_report(scored(one)),
        "comparison": lambda: make_report(scored(one), other=scored(others[0])),
        "three seeds": lambda: make_report(scored(one), seeds=[scored(each) for each in others]),
    }
    print(f"{len(records):,} pairs, {sum(len(r.captions) for r in records):,} references")
    rows = []
    with Watch() as watch:
        for name, run in runs.items():
            rows.append({"report": name, "pairs": len(records), "seconds": seconds(run)})
            print(f"{name:>16}  {rows[-1]['seconds']:5.2f} s", flush=True)
    if options.record:
        write_result(options.record, "rows", {"rows": rows, "times": ["seconds"]}, watch=watch)


if __name__ == "__main__":
    main()
