"""The adapter of SPICE against a script in Java's place; the program itself where its jars are."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from whatchanged.errors import MetricUnavailable
from whatchanged.evaluation.metrics import java
from whatchanged.evaluation.metrics.spice import HOME_VARIABLE, find_jars, spice

CORENLP = ("stanford-corenlp-3.6.0.jar", "stanford-corenlp-3.6.0-models.jar")
# The F of a pair is the share of its references that equal the candidate. Results come in reverse.
SCORER = """
import json, sys
arguments = sys.argv[1:]
assert arguments[arguments.index("-cp") + 1].count("stanford-corenlp-3.6.0") == 2, arguments
asked = json.load(open(arguments[arguments.index("edu.anu.spice.SpiceScorer") + 1], encoding="utf-8"))
scores = [
    {"image_id": e["image_id"], "scores": {"All": {"f": e["refs"].count(e["test"]) / len(e["refs"])}}}
    for e in asked
]
"""
WRITE = 'json.dump(scores[::-1], open(arguments[arguments.index("-out") + 1], "w"))\n'


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder with the jars that no package has, and a reference package with the one that it has."""
    shipped = tmp_path / "package" / "spice"
    for folder, names in ((tmp_path / "home" / "lib", CORENLP), (shipped, ["spice-1.0.jar"])):
        folder.mkdir(parents=True)
        for name in names:
            (folder / name).write_text("")
    monkeypatch.setattr(java, "reference_package", lambda metric: tmp_path / "package")
    monkeypatch.delenv(HOME_VARIABLE, raising=False)
    return tmp_path / "home"


@pytest.fixture
def program(tmp_path, monkeypatch):
    def put(source):
        path = tmp_path / "java"
        path.write_text(f"#!{sys.executable}\n{source}")
        path.chmod(0o755)
        monkeypatch.setenv(java.JAVA_VARIABLE, str(path))

    return put


def test_scores_in_the_pairs_order(home, program):
    program(SCORER + WRITE)
    got = spice(["a", "café", "c"], [["a", "b"], ["café"], ["a", "b", "d"]], home)
    np.testing.assert_array_equal(got, [0.5, 1, 0])


def test_the_home_can_come_from_the_environment(home, program, monkeypatch):
    program(SCORER + WRITE)
    monkeypatch.setenv(HOME_VARIABLE, str(home))
    assert spice(["a"], [["a"]]).tolist() == [1]


def test_unavailable_without_the_jars(home):
    with pytest.raises(
        MetricUnavailable, match=r"corenlp-3\.6\.0\.jar and .*: in no package\..*--spice-home"
    ):
        spice(["a"], [["a"]])
    with pytest.raises(MetricUnavailable, match="nowhere is not a folder"):
        spice(["a"], [["a"]], Path("nowhere"))
    (home / "lib" / CORENLP[1]).unlink()
    with pytest.raises(MetricUnavailable, match=rf"SPICE: {CORENLP[1]}: not in .*home"):
        spice(["a"], [["a"]], home)


def test_unavailable_without_the_extra(monkeypatch, tmp_path):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MetricUnavailable, match=r"SPICE .*\[eval\]"):
        spice(["a"], [["a"]], tmp_path)


@pytest.mark.parametrize(
    "source, message",
    [
        ("import sys\nsys.exit('NoClassDefFoundError: SemgrexPattern')", "exit code 1.*SemgrexPattern"),
        (SCORER, "result cannot be used .FileNotFoundError"),
        (SCORER + "scores.pop()\n" + WRITE, "result cannot be used .KeyError"),
        (SCORER + "scores[0]['scores']['All']['f'] = None\n" + WRITE, "result cannot be used .TypeError"),
        (SCORER + "scores[1]['scores']['All']['f'] = float('nan')\n" + WRITE, "no number for pair 1"),
    ],
)
def test_a_failed_program_is_no_zero(home, program, source, message):
    program(source)
    with pytest.raises(MetricUnavailable, match=message):
        spice(["a", "b"], [["a"], ["b"]], home)


def test_a_jar_of_the_home_comes_before_the_packages(home):
    (home / "spice-1.0.jar").write_text("newer")
    jars = find_jars(home)
    assert sum(jar.name == "spice-1.0.jar" for jar in jars) == 1 and home / "spice-1.0.jar" in jars


@pytest.mark.slow
@pytest.mark.skipif(
    not os.environ.get(HOME_VARIABLE), reason=f"no ${HOME_VARIABLE}: no package has SPICE's jars"
)
def test_the_program_itself():
    same, other = spice(
        ["a red cube is left of a ball", "a dog"], [["a red cube is left of a ball"], ["the sky is blue"]]
    )
    assert same == pytest.approx(1) and other == 0
