import math
from dataclasses import replace

import pytest
from support.tiny_bundle import CARD, WARY, build_card

from whatchanged.answers import Answerer
from whatchanged.compare.settings import CompareSettings
from whatchanged.errors import BundleError, WhatchangedError


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    """A folder of tiny models in the place of the shipped ones."""
    folder = tmp_path / "shipped"
    build_card(folder / "tiny", WARY)
    monkeypatch.setattr("whatchanged.captioner.bundle.SHIPPED", folder)
    return folder


def test_every_setting_counts(shipped):
    settings = CompareSettings()
    others = (
        CompareSettings(sensitivity=2.0),
        CompareSettings(strict=True),
        CompareSettings(read_text=False),
        CompareSettings("tiny"),
    )
    assert len({str(one.identity()) for one in (settings, *others)}) == 5
    assert settings.identity() == CompareSettings().identity()


def test_answers_are_of_the_models_that_gave_them(shipped):
    before = CompareSettings().identity()
    assert [about["name"] for about in before["models"]] == ["tiny"]
    build_card(shipped / "tiny", replace(WARY, max_length=9))  # another model of the same name and version
    changed = CompareSettings().identity()
    assert changed != before
    build_card(shipped / "further", replace(WARY, name="further", world="another"))
    assert CompareSettings().identity() != changed


def test_a_model_is_known_by_its_files_not_by_where_they_lie(shipped, tmp_path):
    for name in ("here", "there"):
        build_card(tmp_path / name, CARD)
    build_card(tmp_path / "other", replace(CARD, max_length=9))
    here, there, other = (
        CompareSettings(str(tmp_path / name)).identity() for name in ("here", "there", "other")
    )
    assert here == there != other


def test_a_name_means_the_model_that_answers(shipped, tmp_path, monkeypatch):
    """A shipped name wins over a folder of the same name."""
    build_card(tmp_path / "tiny", CARD)
    monkeypatch.chdir(tmp_path)
    said = CompareSettings("tiny").identity()["model"]["fingerprint"]
    assert said == Answerer("tiny").models[0].bundle.fingerprint
    assert said != CompareSettings("./tiny").identity()["model"]["fingerprint"]


def test_a_model_that_cannot_be_used():
    with pytest.raises(BundleError, match="no such model"):
        CompareSettings("nonesuch").identity()


@pytest.mark.parametrize("sensitivity", [0, -1, math.nan, math.inf])
def test_a_sensitivity_that_is_none_is_refused(sensitivity):
    with pytest.raises(WhatchangedError, match="give a number above 0"):
        CompareSettings(sensitivity=sensitivity)
