"""A run that judges regions as a model: what the graph says, and what is fitted beside it."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from support.drawn_regions import write_real, write_set
from support.tiny_run import make_run

from whatchanged.answers import Answerer
from whatchanged.captioner.card import RegionInput, Statements
from whatchanged.datasets import open_dataset
from whatchanged.errors import BundleError, RecipeError
from whatchanged.measured.compared import Compared
from whatchanged.measured.pixels.reading import read_picture
from whatchanged.regions.numbers import NUMBERS, read_proposals
from whatchanged.regions.runtime import RegionJudgement, RegionModel
from whatchanged.training.export import export_run, regions
from whatchanged.training.export.regions import JudgedPair, Weights, fit_statements, fit_weights
from whatchanged.training.regions.store import RegionFiles, store_regions
from whatchanged.training.regions.supervision import supported
from whatchanged.training.run_folder import open_run
from whatchanged.worlds import find_world

TINY = ["method.regions=5", "method.width=16"]


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """Two validation pairs, one of them changed."""
    return write_set(tmp_path_factory.mktemp("regions") / "set")


@pytest.fixture(scope="module")
def run(drawn, tmp_path_factory):
    folder = make_run(
        tmp_path_factory.mktemp("run") / "run", "screens-regions", [*TINY, f"data.path={drawn}"]
    )
    (folder / "environment.json").write_text(json.dumps({"command": "whatchanged train"}))
    return folder


@pytest.fixture(scope="module")
def bundle(run, tmp_path_factory):
    return export_run(run, tmp_path_factory.mktemp("bundle") / "tiny", "tiny")


def pictures(drawn, number):
    return [
        read_picture(drawn.parent / f"images/{number}_{side}.png").on_white for side in ("before", "after")
    ]


def test_the_card_says_what_the_model_reads_and_tells(bundle):
    card = bundle.card
    assert card.input == RegionInput(5, NUMBERS) and card.world == "screens"
    assert sorted(bundle.files) == ["README.md", "regions.onnx", "weights.safetensors"]
    assert (
        card.statements.kinds == find_world("screens").breakdown.kinds
        and "button" in card.statements.elements
    )
    assert "2 validation pairs (1 without change)" in card.no_change.how
    assert card.statements.how.endswith(
        "of 2 validation pairs; a second or third statement where 80 % of them point to a change of their own"
    )
    assert card.statements.told == 1.0  # so few pairs show no precision
    assert (card.preset, card.max_length, len(card.vocabulary)) == ("", 0, 6) and card.method == "regions"
    held = json.loads((bundle.folder / "bundle.json").read_text())
    assert not held.keys() & {"preset", "vocabulary", "special_ids", "max_length"}
    assert "whatchanged train" not in json.dumps(dict(card.provenance)) and card.provenance["finished"]


def test_the_graph_says_what_torch_says_of_padded_pairs(run, bundle, drawn, tmp_path):
    """Independent of the export: rows as training reads them, several pairs at once, padded."""
    _, method, _ = open_run(run)
    model = RegionModel(bundle, threads=1)
    store_regions(open_dataset(drawn), drawn, tmp_path / "regions", quiet=True, regions=5)
    files = RegionFiles(tmp_path / "regions")
    numbers = range(8)
    names = [[f"images/{number}_{side}.png" for side in ("before", "after")] for number in numbers]
    blank, pairs = method.blank_example(), [files.read(*pair) for pair in names]
    examples = [replace(blank, before=p.before, after=p.after, measured=p.numbers) for p in pairs]
    with torch.inference_mode():
        places = method.proposals(method.collate(examples))
        said = method.judge(places)
        ranks = supported(said.rank, places.boxes, places.there)
    assert len(set(places.there.sum(1).tolist())) > 1  # pairs of several lengths
    for number in numbers:
        count = int(places.there[number].sum())
        judged = model.judge(read_proposals(Compared(*pictures(drawn, number)), 5))
        np.testing.assert_allclose(judged.rank, ranks[number, :count].numpy(), atol=1e-4)
        for name in ("kinds", "elements", "changed"):
            wanted = getattr(said, name)[number, :count].numpy()
            np.testing.assert_allclose(getattr(judged, name), wanted, atol=1e-4)
        assert judged.verdict == pytest.approx(float(said.verdict[number]), abs=1e-4)
        boxes, shift = places.boxes[number, :count], said.shift[number, :count]
        wide, high = boxes[..., 2] - boxes[..., 0], boxes[..., 3] - boxes[..., 1]
        wanted = boxes + shift * torch.stack([wide, high, wide, high], -1)
        np.testing.assert_allclose(judged.refined, wanted.numpy(), atol=1e-3)


def test_a_run_speaks_from_pictures_to_the_line(bundle, drawn):
    answerer = Answerer(bundle.folder, threads=1)
    for number in range(4):
        before, after = (drawn.parent / f"images/{number}_{side}.png" for side in ("before", "after"))
        line = answerer.answer(before, after).as_json(str(number))
        assert line["answer"] == "tiny" and json.loads(json.dumps(line, allow_nan=False)) == line
        assert all(change["sentence"].endswith(".") for change in line["changes"])
        first = line["changes"][0]["sentence"][1:-1] if line["changes"] else "visible changed"
        assert first in line["caption"]


def test_half_precision_and_what_differs_from_torch(run, tmp_path, monkeypatch):
    small = export_run(run, tmp_path / "small", "small", fp16=True)
    assert small.card.provenance["weights_stored_as"] == "fp16 where large"
    monkeypatch.setattr(regions, "OFF", -1.0)
    with pytest.raises(BundleError, match="of the exported graph differs from torch's"):
        export_run(run, tmp_path / "none", "none")
    assert not (tmp_path / "none").exists()


def test_what_cannot_be_exported(run, tmp_path):
    with pytest.raises(RecipeError, match="--familiar"):
        export_run(run, tmp_path / "out", "out", in_distribution=tmp_path)
    plain = write_set(tmp_path / "set", pairs=4)  # 2 and 3, its validation pairs, are both changed
    with pytest.raises(RecipeError, match="changed ones and others"):
        export_run(run, tmp_path / "out", "out", data=plain)
    assert not (tmp_path / "out").exists()


def test_pairs_of_which_people_disagree_fit_nothing(run, tmp_path):
    folder = write_real(tmp_path / "set", pairs=4)
    lines = [json.loads(line) for line in (folder / "pairs.jsonl").read_text().splitlines()]
    visible = [{**line, "split": "validation"} for line in lines]
    visible[1]["visible_change"] = "uncertain"
    (folder / "pairs.jsonl").write_text("\n".join(map(json.dumps, visible)))
    card = export_run(run, tmp_path / "out", "out", data=folder).card
    assert "3 validation pairs (1 without change)" in card.no_change.how


def test_a_run_of_drawn_and_real_pairs_is_fitted_on_both(drawn, tmp_path):
    """Pairs of both sets bear the same names; each keeps its own truth."""
    real = write_real(tmp_path / "real", pairs=5)  # pair 4, which shows noise alone, is for validation
    sets = [f"data.path={drawn}", f"data.real_path={real}", "data.real_features=x"]
    run = make_run(tmp_path / "run", "screens-real", [*TINY, *sets])
    (run / "environment.json").write_text(json.dumps({"command": "whatchanged train"}))
    card = export_run(run, tmp_path / "out", "out").card
    assert "3 validation pairs (2 without change)" in card.no_change.how
    assert str(real) not in json.dumps(dict(card.provenance))
    alone = export_run(run, tmp_path / "alone", "alone", data=drawn).card
    assert "2 validation pairs (1 without change)" in alone.no_change.how


# What is fitted


def seen(changed, verdict, measured, sure, right, kinds=()):
    """A pair with a place for each number of ``sure``, the logit of its change; a right one shows a change of
    its own."""
    count = len(sure)
    judged = RegionJudgement(
        np.tile(np.float32([0, 40]), (count, 1)),
        np.array(kinds or [[0, 0]] * count, np.float32),
        np.zeros((count, 3), np.float32),
        np.array(sure, np.float32),
        np.zeros(count, np.float32),
        verdict,
        np.zeros((count, 2, 4), np.float32),
    )
    known = np.zeros(count, np.int64)
    points = np.eye(count, dtype=bool) & np.array(right)
    return JudgedPair(
        measured, changed, judged, [*range(count)], known + 1, known, known, np.array(right), points
    )


WORDS = {"a": ("e", "f"), "b": ("g",)}
START = Statements(("a", "b"), ("c", "d"), WORDS, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.8, 1.0, 1.0, "")
AS_THEY_ARE = Weights(1.0, 1.0, 0.0)


def test_the_temperature_is_that_of_the_least_cross_entropy():
    """Two thirds of the elements are what they seem: log 2 is the logit that says so."""
    pairs = [seen(True, 1.0, 0.1, [1.0], [True], [[3.0, 0.0]]) for _ in range(20)]
    pairs += [seen(True, 1.0, 0.1, [1.0], [True], [[0.0, 3.0]]) for _ in range(10)]
    by = fit_statements(pairs, START, AS_THEY_ARE)
    assert by.element_temperature == pytest.approx(3 / np.log(2), rel=1e-3)


def test_further_statements_are_told_from_where_on_they_are_precise():
    """The first place of each pair is the one that is told anyway."""
    rows = [seen(True, 1.0, 0.1, [9.0, 2.0 + i / 100], [True, True]) for i in range(60)]
    rows += [seen(True, 1.0, 0.1, [9.0, 1.0 + i / 100], [True, False]) for i in range(60)]
    # 60 right ones may bring 15 wrong ones along: 60 of 75 are 80 %, 60 of 76 are not
    assert fit_statements(rows, START, AS_THEY_ARE).told == pytest.approx(1 / (1 + np.exp(-1.44)), abs=1e-6)


def test_a_further_statement_is_right_where_it_points_to_a_change_that_none_before_it_tells():
    own = [seen(True, 1.0, 0.1, [9.0, 2.0], [True, True]) for _ in range(60)]
    same = [replace(one, points=np.ones((2, 1), bool)) for one in own]
    none = [replace(one, points=np.array([[True], [False]])) for one in own]
    assert [fit_statements(rows, START, AS_THEY_ARE).told for rows in (own, same, none)] == [0.0, 1.0, 1.0]


def test_a_verdict_that_tells_nothing_weighs_nothing():
    rng = np.random.default_rng(0)
    rows = []
    for number in range(400):
        changed = bool(number % 2)
        measured = 0.1 if changed == (number % 20 > 1) else 0.9
        rows.append(seen(changed, float(rng.normal()), measured, [1.0], [changed]))
    weights = fit_weights(rows)
    assert abs(weights.verdict) < 0.25 and weights.measured > 0.8
    by = fit_statements(rows, START, weights)
    assert (by.verdict_weight, by.measured_weight) == (weights.verdict, weights.measured)
