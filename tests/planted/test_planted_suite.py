"""The planted suite: cases are drawn again by their numbers, faults are seen, and a few cases find none."""

import subprocess
import sys
from pathlib import Path

import pytest

from planted import suite
from planted.folder import PlantedFolder


def test_a_case_is_drawn_again_by_its_number():
    cases = [suite.draw(3, number) for number in range(200)]
    assert cases == [suite.draw(3, number) for number in range(200)]
    assert len({str(case) for case in cases}) > 190
    assert {one for case in cases for one in case.environment} == set(suite.ENVIRONMENTS)


def test_an_output_may_have_an_unusual_name_too():
    renamed = [case for case in (suite.draw(3, n) for n in range(600)) if case.renamed]
    assert renamed
    for case in renamed:
        words = suite.arguments_of(case)
        assert len(words) == len(case.plan.command.arguments)
        assert words != list(case.plan.command.arguments)


class Ended:
    """A command that has ended."""

    pid = 2**22 + 1

    def __init__(self, code, said):
        self.code, self.said = code, said

    def ended(self, seconds):
        if self.code is None:
            raise TimeoutError("did not end")
        return self.code, self.said


@pytest.mark.parametrize(
    ("code", "said", "fault"),
    [
        (0, "x\n", None),
        (2, "whatchanged: a::b\n", None),
        (70, "", "code: 70"),
        (-11, "", "code: -11"),
        (1, "Traceback (most recent call last):\n", "said: a traceback"),
        (1, "x\r::error::y", "said: a line that begins with ::"),
        (None, "", "late: did not end"),
    ],
)
def test_how_a_command_ended_is_judged(tmp_path, code, said, fault):
    ended = suite.watched(Ended(code, said), PlantedFolder(tmp_path / "p"), 1.0)
    assert ended.faults == ([] if fault is None else [fault])


def test_what_was_changed_or_run_is_seen(tmp_path):
    folder = PlantedFolder(tmp_path / "p")
    (folder.victim / "new").write_text("")
    folder.log.write_text("evil\n")
    assert suite.watched(Ended(0, ""), folder, 1.0).faults == ["ran: evil", "changed: what lies outside"]


@pytest.mark.slow
def test_a_few_cases_find_nothing():
    """In a process of its own: its commands are copies of a process that has run no other tests."""
    command = [sys.executable, str(Path(suite.__file__).parent), "--count", "12", "--seed", "4"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
