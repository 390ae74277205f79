"""Each score is computed once, and table, JSON and page show the same number."""

import json
import re
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from whatchanged.captioner.attention import file_name, pack
from whatchanged.errors import PredictionsError
from whatchanged.evaluation.io.predictions import Prediction
from whatchanged.evaluation.metrics import caption_metrics, truth
from whatchanged.evaluation.metrics.additive import mean
from whatchanged.evaluation.report import scored as scored_module
from whatchanged.evaluation.report.from_files import References, Systems, report_from_files
from whatchanged.evaluation.report.page import report_page
from whatchanged.evaluation.report.report import make_report
from whatchanged.evaluation.report.scored import ReportSettings, score
from whatchanged.records import PairRecord

SENTENCES = {
    "000000.png": ["the cube moved", "someone moved the cube"],
    "000000.png_n": ["there is no change", "nothing has changed"],
    "000001.png": ["the red ball appeared", "a red ball has been added"],
    "000001.png_n": ["no change was made", "the scene is the same"],
}
CAPTIONS = {
    "000000.png": "the cube has moved",
    "000000.png_n": "there is no change",
    "000001.png": "the ball is gone",
    "000001.png_n": "",
}


@pytest.fixture
def files(tmp_path):
    """Predictions, references and attention maps on disk."""
    predictions, references = tmp_path / "out.jsonl", tmp_path / "references.jsonl"
    lines = [{"id": name, "caption": text, "no_change": 0.25} for name, text in CAPTIONS.items()]
    predictions.write_text("\n".join(map(json.dumps, lines)))
    lines = [{"id": name, "captions": own} for name, own in SENTENCES.items()]
    references.write_text("\n".join(map(json.dumps, lines)))
    about = {"grid": [1, 2], "layer": "last", "model": {"name": "m"}, "list": "l"}
    maps = np.ones((2, 1, 2), np.float32)
    words = {name: [(word, maps) for word in text.split()] for name, text in CAPTIONS.items() if text}
    (tmp_path / file_name(0)).write_bytes(pack(words, about))
    return predictions, References(references), tmp_path


class Calls:
    """Counts the calls of functions, which go on as they were."""

    def __init__(self, monkeypatch):
        self.monkeypatch, self.count = monkeypatch, {}

    def watch(self, module, name):
        function = getattr(module, name)
        self.count[name] = 0

        def counted(*arguments, **options):
            self.count[name] += 1
            return function(*arguments, **options)

        self.monkeypatch.setattr(module, name, counted)


def test_each_metric_is_computed_once_for_table_json_and_page(files, monkeypatch):
    predictions, references, maps = files
    calls = Calls(monkeypatch)
    for name in ("tokenise", "statistics", "rouge_l", "cider_d"):
        calls.watch(caption_metrics, name)
    calls.watch(caption_metrics.ngrams, "count")
    calls.watch(scored_module, "play")
    asked = []

    def java(candidates, references):
        asked.append(candidates)
        return mean("METEOR", np.full(len(candidates), 0.25))

    settings = ReportSettings(resamples=20, further_metrics={"METEOR": java})
    report = report_from_files(Systems(predictions, attention=maps), references, settings)
    report.to_json(), report.table(), report.table("markdown"), report_page(report, "t")
    # CIDEr-D's word weights are those of each subset: once for all pairs, and for the changed and the others.
    assert calls.count == {
        "tokenise": 1,
        "statistics": 1,
        "rouge_l": 1,
        "cider_d": 3,
        "count": 1,
        "play": len(CAPTIONS),
    }
    assert len(asked) == 1


def test_each_sentence_is_judged_once_for_table_json_and_page(sampled_scenes, tmp_path):
    records, truths, right = sampled_scenes(1, 3)
    judged = []

    def judge(sentence, of):
        judged.append(sentence)
        return truths.world.language.judge(sentence, of)

    language = replace(truths.world.language, judge=judge)
    watched = truth.Truths(replace(truths.world, language=language), truths.by_id)
    said = [Prediction(r.pair_id, text) for r, text in zip(records, right, strict=True)]
    report = make_report(score(records, said, ReportSettings(resamples=0), watched))
    report.to_json(), report.table(), report_page(report, "t")
    assert judged == right


def test_table_json_and_page_show_the_same_numbers(files):
    predictions, references, _ = files
    report = report_from_files(Systems(predictions), references, ReportSettings(resamples=0))
    written = json.loads(report.to_json())
    shown = report_page(report, "t")
    cells = {row[0]: row[1:] for _, rows in shown.tables for row in rows[1:]}
    lines = {line.split()[0]: line.split()[1:] for line in report.table().splitlines() if line.split()}
    for name in ("semantic", "distractor"):
        # METEOR and SPICE were not asked for: they are null in the JSON and have no column.
        numbers = [f"{value:.1f}" for value in written[name].values() if value is not None]
        assert len(numbers) == 6
        assert cells[name][1:] == lines[name][1:] == numbers
    # What the pairs show adds up to what the report says of all of them.
    for index, metric in enumerate(("ROUGE-L", "CIDEr-D")):
        names, numbers = zip(*(pair.facts[index].split() for pair in shown.pairs), strict=True)
        assert set(names) == {metric} and len(set(numbers)) > 2
        assert np.mean([float(number) for number in numbers]) == pytest.approx(
            written["overall"][metric], abs=0.05
        )
    assert re.search(rf"^overall +4 .* {written['overall']['CIDEr-D']:.1f}$", report.table(), re.MULTILINE)


def test_a_sentence_that_would_take_minutes_is_refused():
    """Rules of the tokeniser look to the end of what has no blank, at each of its characters."""
    picture = Path("a.png")
    record = PairRecord("plain", "a", "a", "test", "pair_caption", picture, picture, ("the cube moved",))
    long = "&" * 80_000
    began = time.process_time()
    with pytest.raises(PredictionsError, match="Pair a: its prediction has 80,000 characters"):
        score([record], [Prediction("a", long)], ReportSettings())
    with pytest.raises(PredictionsError, match="Pair a: its reference has 80,000 characters"):
        score([replace(record, captions=(long,))], [Prediction("a", "no")], ReportSettings())
    assert score([record], [Prediction("a", "&" * 5000)], ReportSettings()).failed == 0
    assert time.process_time() - began < 5
