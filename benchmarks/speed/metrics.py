"""Times every caption metric and the reference package's, in one run, on the corpus of ``corpus.py``.

    python -m benchmarks.speed.metrics [--corpus FOLDER] [--runs 5] [--meteor]

This needs the extra ``eval``. FOLDER is what ``corpus.py`` wrote; without it the corpus is made first.

Both packages start from the same captions, and nothing is kept from one run to the next. The light metrics
are all metrics except METEOR; ours share one count of n-grams. The table has processor time, on which other
programs have less effect, beside wall time. It includes the processor time of the reference's Java tokeniser.
Values must agree to 1e-9, or the benchmark fails.
"""

import argparse
import contextlib
import io
import os
import platform
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.record import Watch, add_record_option, own_seconds, write_result
from benchmarks.speed import corpus
from whatchanged.evaluation.metrics import bleu, caption_metrics, cider, java, meteor, ngrams, ptb, rouge

LIGHT = ("tokenise", "count", "BLEU", "ROUGE-L", "CIDEr-D")
Times = dict[str, list[tuple[float, float]]]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--meteor", action="store_true", help="METEOR too: a minute or two")
    add_record_option(parser, "metrics")
    options = parser.parse_args()
    print(
        f"{platform.processor() or platform.machine()}, {os.cpu_count()} processors, numpy {np.__version__}"
    )
    made = corpus.read(options.corpus) if options.corpus else corpus.make()
    print(f"{corpus.describe(made)}; {options.runs} runs, load {os.getloadavg()[0]:.1f}")
    ours: Times = defaultdict(list)
    theirs: Times = defaultdict(list)
    with Watch() as watch, _java_on_path():
        for _ in range(options.runs):
            values, wanted = _ours(made, ours), _reference(made, theirs)
            np.testing.assert_allclose(values, wanted, rtol=1e-9)
        if options.meteor:
            np.testing.assert_allclose(_our_meteor(made, ours), _reference_meteor(made, theirs), rtol=1e-12)
    rows = _rows(ours, theirs)
    row = "{:22} {:>12} {:>12} {:>8} {:>12} {:>12} {:>8}"
    print(row.format(*rows[0]))
    for results in rows:
        cells = ["--" if v is None else f"{v:.3f}" if isinstance(v, float) else v for v in results.values()]
        print(row.format(*cells))
    if options.record:
        figures = {"rows": rows, "times": list(rows[0])[1:], "pairs": len(made.ids)}
        write_result(options.record, "rows", figures, watch=watch)


def _ours(made: corpus.CaptionCorpus, times: Times) -> list[float]:
    ptb._chunk.cache_clear()
    with _timed(times, "tokenise"):
        candidates, references = caption_metrics.tokenise(made.candidates, made.references, "ptb")
    with _timed(times, "count"):
        counted = ngrams.count(candidates, references)
    with _timed(times, "BLEU"):
        precisions = bleu.bleu(bleu.statistics(counted).sum(axis=0))
    with _timed(times, "ROUGE-L"):
        longest = rouge.rouge_l(counted).mean()
    with _timed(times, "CIDEr-D"):
        consensus = cider.cider_d(counted).mean()
    return [*map(float, precisions), float(longest), float(consensus)]


def _reference(made: corpus.CaptionCorpus, times: Times) -> list[float]:
    from pycocoevalcap.bleu.bleu import Bleu
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.rouge.rouge import Rouge

    with contextlib.redirect_stdout(io.StringIO()):
        with _timed(times, "tokenise"):
            gts, res = _reference_words(made)
        with _timed(times, "BLEU"):
            precisions, _ = Bleu(4).compute_score(gts, res)
        with _timed(times, "ROUGE-L"):
            longest, _ = Rouge().compute_score(gts, res)
        with _timed(times, "CIDEr-D"):
            consensus, _ = Cider().compute_score(gts, res)
    return [*map(float, precisions), float(longest), float(consensus)]


def _reference_words(made: corpus.CaptionCorpus) -> tuple[Any, Any]:
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

    gts = {i: [{"caption": r} for r in own] for i, own in zip(made.ids, made.references, strict=True)}
    res = {i: [{"caption": c}] for i, c in zip(made.ids, made.candidates, strict=True)}
    return PTBTokenizer().tokenize(gts), PTBTokenizer().tokenize(res)


def _our_meteor(made: corpus.CaptionCorpus, times: Times) -> float:
    candidates, references = caption_metrics.tokenise(made.candidates, made.references, "ptb")
    with _timed(times, "METEOR"):
        return float(meteor.meteor(meteor.statistics(candidates, references).sum(axis=0)))


def _reference_meteor(made: corpus.CaptionCorpus, times: Times) -> float:
    from pycocoevalcap.meteor.meteor import Meteor

    gts, res = _reference_words(made)
    with _timed(times, "METEOR"):
        scorer = Meteor()
        score, _ = scorer.compute_score(gts, res)
        # Its processor time counts once it has ended.
        scorer.meteor_p.kill()
        scorer.meteor_p.wait()
    return float(score)


@contextlib.contextmanager
def _java_on_path() -> Iterator[None]:
    """The Java that ours uses, under the name that the reference package calls."""
    before = os.environ["PATH"]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "java").symlink_to(java.find_java("the reference package"))
        os.environ["PATH"] = f"{folder}{os.pathsep}{before}"
        try:
            yield
        finally:
            os.environ["PATH"] = before


@contextlib.contextmanager
def _timed(times: Times, name: str) -> Iterator[None]:
    wall, processor = time.perf_counter(), own_seconds()
    yield
    times[name].append((time.perf_counter() - wall, own_seconds() - processor))


def _rows(ours: Times, theirs: Times) -> list[dict[str, Any]]:
    """Median seconds of every metric: of the wall clock and of the processor, and how many times as long."""
    lines = {name: (name,) for name in (*LIGHT, "METEOR") if name in ours}
    rows = []
    for title, steps in {**lines, "light metrics": LIGHT, "without the tokeniser": LIGHT[1:]}.items():
        row: dict[str, Any] = {"median seconds": title}
        for kind, clock in enumerate(("wall", "processor")):
            mine, other = _median(ours, steps, kind), _median(theirs, steps, kind)
            row[f"ours, {clock}"] = mine
            row[f"reference, {clock}"] = other or None
            row[f"ratio, {clock}"] = other / mine if other else None
        rows.append(row)
    return rows


def _median(times: Times, names: tuple[str, ...], kind: int) -> float:
    """Of the runs' sums over these steps."""
    runs = zip(*(times[name] for name in names if times.get(name)), strict=True)
    sums = [sum(step[kind] for step in run) for run in runs]
    return statistics.median(sums) if sums else 0.0


if __name__ == "__main__":
    main()
