"""How the original program is asked."""

import sys

import pytest

from whatchanged.errors import MetricUnavailable, PredictionsError
from whatchanged.evaluation.metrics import java
from whatchanged.evaluation.metrics.meteor.program import statistics

ANSWERS = """
import sys
for line in sys.stdin:
    parts = line.rstrip("\\n").split(" ||| ")
    print({reply}, flush=True)
"""


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Puts a program in Java's place that prints what an expression of ``parts``, the request, gives."""

    def put(reply):
        path = tmp_path / "java"
        path.write_text(f"#!{sys.executable}\n" + ANSWERS.format(reply=reply))
        path.chmod(0o755)
        (tmp_path / "meteor").mkdir(exist_ok=True)
        monkeypatch.setenv(java.JAVA_VARIABLE, str(path))
        monkeypatch.setattr(java, "reference_package", lambda metric: tmp_path)

    return put


def test_perfect_pairs_add_no_chunk_and_equal_questions_are_asked_once(program):
    program("' '.join(['4.0'] * 20 + ['1.0', '4.0', '4.0']) if len(parts) == 3 else ' '.join(['7.0'] * 23)")
    got = statistics(["a", "b", "a"], [["x"], ["x", "y"], ["x"]])
    assert got[:, 20].tolist() == [0, 7, 0] and got[:, 0].tolist() == [4, 7, 4]


def test_captions_cannot_break_the_protocol(program):
    # Words of the request's second and third part; a fourth would fail.
    program("' '.join([str(len(p.split())) + '.0' for p in parts[1:]] + ['0.0'] * (24 - len(parts)))")
    got = statistics(["a ||| b\n c\r\nd"], [["e  f|||g\u2028h"]])
    assert got[0, :3].tolist() == [3, 4, 0]


@pytest.mark.parametrize("reply", ["'Error: specify hypothesis'", "'1.0 2.0'", "'1,0 ' * 23"])
def test_answers_that_are_no_statistics(program, reply):
    program(reply)
    with pytest.raises(MetricUnavailable, match="METEOR: the program answered"):
        statistics(["a"], [["b"]])


def test_a_pair_without_references_is_refused():
    with pytest.raises(PredictionsError, match="no references"):
        statistics(["a"], [[]])


def test_missing_extra(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MetricUnavailable, match=r"METEOR .*\[eval\]"):
        statistics(["a"], [["b"]])
