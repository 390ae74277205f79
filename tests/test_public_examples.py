"""The examples in the docstrings of the public names, run with the shipped model on a shipped pair."""

import doctest
import shutil
from pathlib import Path

import pytest

import whatchanged
from whatchanged.answers import answer, answerer
from whatchanged.captioner import runtime

DEMO = Path(runtime.__file__).parents[1] / "models" / "demo"


@pytest.mark.parametrize(
    ("name", "module"),
    [
        *(("Answer", answer), ("Answerer", answerer), ("describe", answerer)),
        *(("Captioner", runtime), ("Description", runtime), ("load", runtime)),
    ],
)
def test_the_examples_of_a_public_name(name, module, tmp_path, monkeypatch):
    for side in ("before", "after"):
        shutil.copy(DEMO / f"02-{side}.png", tmp_path / f"{side}.png")
    monkeypatch.chdir(tmp_path)
    public = getattr(whatchanged, name)
    examples = [found for found in doctest.DocTestFinder().find(public, name, module) if found.examples]
    assert examples
    runner = doctest.DocTestRunner()
    for example in examples:
        assert runner.run(example).failed == 0
