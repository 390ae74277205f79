import json
from dataclasses import replace
from pathlib import Path

import pytest
from support.tiny_bundle import CARD

from whatchanged.captioner.bundle import write_bundle


@pytest.fixture
def shipped(bundle_folder, monkeypatch):
    monkeypatch.setattr("whatchanged.captioner.bundle.SHIPPED", bundle_folder.parent)
    monkeypatch.setattr("whatchanged.captioner.bundle.DEFAULT", "tiny")
    return bundle_folder


def test_shipped_models_are_listed(whatchanged, shipped):
    code, out, _ = whatchanged("models")
    assert code == 0
    assert out.startswith(
        "tiny 1  difference (none), world flat, 24x16, 0.0 MB, every file checked [default]"
    )


def test_json(whatchanged, shipped):
    row = json.loads(whatchanged("models", "--json")[1])
    assert row["name"] == "tiny" and row["bytes"] > 1000 and row["default"] and row["words"] == 13


def test_json_declares_input_and_attention(whatchanged, bundle_folder):
    row = json.loads(whatchanged("models", bundle_folder, "--json")[1])
    assert row["image_size"] == [24, 16] and row["input"]["kind"] == "pictures"
    assert row["attention"] == {"kind": "grid", "rows": 2, "columns": 3} and row["weights"] is False


@pytest.mark.parametrize(
    "name", ["screens", Path(__file__).parents[1] / "fixtures" / "regions-0.2" / "bundle"]
)
def test_a_model_that_judges_regions_is_refused(whatchanged, name):
    code, out, err = whatchanged("models", name)
    assert (code, out) == (2, "") and "Version 0.2 reads it" in err and err.count("\n") == 1


def test_one_shipped_model_says_that_it_is_the_default(whatchanged, shipped):
    assert json.loads(whatchanged("models", "tiny", "--json")[1])["default"]
    assert not json.loads(whatchanged("models", shipped, "--json")[1])["default"]


def test_a_folder_is_shown_with_its_provenance(whatchanged, bundle_folder):
    code, out, _ = whatchanged("models", bundle_folder)
    assert code == 0 and '"made_by": "tests"' in out


def test_a_spoiled_model_is_named(whatchanged, shipped):
    (shipped / "README.md").write_text("# Tiny\n")
    code, out, err = whatchanged("models")
    assert (code, out) == (2, "") and "README.md" in err and "changed" in err


def test_none(whatchanged, tmp_path, monkeypatch):
    monkeypatch.setattr("whatchanged.captioner.bundle.SHIPPED", tmp_path)
    code, _, err = whatchanged("models")
    assert code == 2 and "No model is shipped" in err


def test_a_strangers_text_does_not_act_on_the_terminal(whatchanged, bundle_folder):
    write_bundle(bundle_folder, replace(CARD, provenance={"made_by": "\x1b[2J \x9b \u202e"}))
    for options in ((), ("--json",)):
        code, out, _ = whatchanged("models", bundle_folder, *options)
        assert code == 0 and out.isascii() and r"\u001b[2J \u009b \u202e" in out
