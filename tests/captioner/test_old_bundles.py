"""Bundles of format 1, made by the code of that time (``fixtures/make_old.py``), say what they said then."""

import json
from pathlib import Path

import pytest

from whatchanged.captioner import bundle
from whatchanged.captioner.bundle import open_bundle
from whatchanged.captioner.card import GridAttention, PictureInput
from whatchanged.captioner.runtime import load

FILE = Path(__file__).parents[1] / "fixtures" / "old" / "expected.json"
EXPECTED = json.loads(FILE.read_text(encoding="utf-8"))["bundles"]
DEMO = bundle.SHIPPED / "demo"


@pytest.fixture
def bundles(old_formats):
    """The folder of the old bundles."""
    return old_formats / "bundles"


def test_there_is_a_bundle_of_every_method(bundles):
    assert set(EXPECTED) == {path.name for path in bundles.iterdir()}
    cards = [json.loads((bundles / name / "bundle.json").read_text()) for name in EXPECTED]
    assert {card["format"] for card in cards} == {1}
    assert {card["method"] for card in cards} == {"pcl", "pcl-birds", "scorer", "clip4idc"}


@pytest.mark.parametrize("name", EXPECTED)
def test_an_old_bundle_says_what_it_said(name, bundles):
    captioner = load(bundles / name)
    for wanted in EXPECTED[name]:
        pair = (DEMO / f"{wanted['pair']:02d}-{side}.png" for side in ("before", "after"))
        found = captioner.describe(*pair)
        assert found.sentence == wanted["sentence"]
        assert found.no_change == pytest.approx(wanted["no_change"], abs=1e-4)
        assert found.unfamiliar == wanted["unfamiliar"]
        assert [heat.max() for heat in found.heatmaps] == pytest.approx(wanted["hottest"], abs=1e-4)


def test_the_old_keys_become_declarations(bundles):
    found = open_bundle(bundles / "clevr-pcl")
    fields = json.loads((found.folder / "bundle.json").read_text())
    mean, std = tuple(fields["mean"]), tuple(fields["std"])
    assert found.card.input == PictureInput(tuple(fields["image_size"]), mean, std)
    assert found.card.attention == GridAttention(*fields["grid"])
    assert found.card.in_distribution is not None and not found.card.folded_norms
    assert not found.has_weights


def test_an_old_bundle_from_the_command_line(whatchanged, bundles):
    (wanted, *_) = EXPECTED["clevr-pcl"]
    pair = [DEMO / f"{wanted['pair']:02d}-{side}.png" for side in ("before", "after")]
    code, out, _ = whatchanged("describe", *pair, "--model", bundles / "clevr-pcl")
    assert code == 0 and out.splitlines()[0] == wanted["sentence"]
    code, out, _ = whatchanged("models", bundles / "clevr-pcl", "--json")
    assert code == 0 and json.loads(out)["weights"] is False
