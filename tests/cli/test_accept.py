"""``whatchanged accept`` as a person calls it."""

import json
import os
import sys
from types import SimpleNamespace

import pytest
from support.compared_screens import BLUE, save, screen, two_runs, with_square
from support.trees import state

from whatchanged.cli import completion


@pytest.fixture
def report(whatchanged, tmp_path, monkeypatch):
    """Of four pictures with a red square, the third of which has a blue one, too; and one that was added."""
    monkeypatch.chdir(tmp_path)
    _, new = two_runs(tmp_path)
    save(with_square(with_square(screen(4)), BLUE, left=100, top=2), new / "04.png")
    save(screen(12), new / "added.png")
    assert whatchanged("compare", "old", "new", "-o", "report", "--workers", 1)[0] == 1
    return tmp_path / "report"


def key(report):
    return json.loads((report / "compared.json").read_text())["record"]["results"]


def decide(report, **lists):
    path = report.parent / "decisions.json"
    path.write_text(json.dumps({"format": 1, "report": key(report), **lists}))
    return path


def test_a_group_its_odd_member_and_an_added_picture(whatchanged, report, tmp_path):
    before = state(tmp_path / "old")
    code, said, err = whatchanged("accept", "report", "1")
    assert (code, said) == (2, "") and "04.png" in err and state(tmp_path / "old") == before
    code, said, _ = whatchanged("accept", "report", "1", "04.png", "added.png")
    assert code == 0 and said.startswith("5 pictures accepted.")
    assert state(tmp_path / "old") == state(tmp_path / "new")
    assert whatchanged("compare", "old", "new", "-o", "report", "--workers", 1)[0] == 0
    assert len((report / "accepted.jsonl").read_text().splitlines()) == 5  # the log stays


def test_one_report_is_accepted_part_by_part_and_from_any_folder(whatchanged, report, tmp_path, monkeypatch):
    monkeypatch.chdir("/")
    assert whatchanged("accept", report, "02.png")[0] == 0
    assert whatchanged("accept", report, "03.png")[0] == 0
    code, said, err = whatchanged("accept", report, "02.png")
    assert code == 0 and said.startswith("0 pictures accepted.") and "1 picture had been accepted" in err
    _, said, _ = whatchanged("accept", report, "1", "04.png")
    assert said.startswith("2 pictures accepted.")


def test_a_dry_run_says_what_it_would_do_and_writes_nothing(whatchanged, report, tmp_path):
    before = state(tmp_path)
    code, said, err = whatchanged("accept", "report", "1", "04.png", "added.png", "--dry-run")
    assert code == 0 and err == "" and state(tmp_path) == before
    lines = said.splitlines()
    assert lines[0].startswith("group 1: 4 pictures: ")
    assert "new/04.png -> old/04.png" in lines and "new/added.png -> old/added.png (new)" in lines
    assert lines[-1] == "5 pictures would be accepted, 0 rejected."


def test_decisions_of_the_page(whatchanged, report, tmp_path):
    decisions = decide(report, accept=["02.png", "04.png", "added.png"], reject=["03.png"])
    before = state(tmp_path)
    code, said, _ = whatchanged("accept", "report", "--decisions", decisions, "--dry-run")
    assert code == 0 and "3 pictures would be accepted, 1 rejected." in said and state(tmp_path) == before
    code, said, _ = whatchanged("accept", "report", "--decisions", decisions)
    assert code == 0 and "3 pictures accepted." in said and "1 picture rejected; the old ones stay." in said
    old, new = state(tmp_path / "old"), state(tmp_path / "new")
    assert [name for name in sorted(new) if old.get(name) != new[name]] == ["03.png", "05.png"]
    logged = [json.loads(line) for line in (report / "accepted.jsonl").read_text().splitlines()]
    assert [(line["id"], line["decision"]) for line in logged] == [
        ("02.png", "accepted"),
        ("04.png", "accepted"),
        ("added.png", "accepted"),
        ("03.png", "rejected"),
    ]


@pytest.mark.parametrize("side", ["old", "new"])
def test_what_was_not_looked_at_is_not_accepted(whatchanged, report, tmp_path, side):
    decisions = decide(report, accept=["02.png", "03.png"])
    save(screen(9), tmp_path / side / "03.png")
    before = state(tmp_path)
    for wanted in (("02.png", "03.png"), ("1", "04.png"), ("--decisions", decisions)):
        code, said, err = whatchanged("accept", "report", *wanted)
        assert (code, said) == (2, "") and f"{side}/03.png" in err and "Compare again" in err
    assert state(tmp_path) == before


def test_decisions_about_an_earlier_report_are_refused(whatchanged, report, tmp_path):
    decisions = decide(report, accept=["02.png"])
    save(with_square(screen(9)), tmp_path / "new" / "03.png")
    whatchanged("compare", "old", "new", "-o", "report", "--workers", 1)
    code, _, err = whatchanged("accept", "report", "--decisions", decisions)
    assert code == 2 and "another report" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("report",), "name pairs or groups of the report, or --decisions FILE"),
        (("report", "1", "--decisions", "d.json"), "or --decisions FILE"),
        (("nowhere", "1"), "nowhere: there is no such folder"),
        (("old", "1"), "Name the folder of a comparison's results"),
        (("report", "7"), "there is no such group; there are 1"),
        (("report", "home.png"), "no pair has this name"),
        (("report", "--decisions", "none.json"), "none.json: cannot read the file"),
    ],
)
def test_wrong_calls_end_with_2_and_write_nothing(whatchanged, report, tmp_path, arguments, message):
    before = state(tmp_path)
    code, said, err = whatchanged("accept", *arguments)
    assert (code, said) == (2, "") and message in " ".join(err.replace("│", " ").split())
    assert state(tmp_path) == before


def test_a_strangers_record_copies_nothing(whatchanged, report, tmp_path):
    """A pull request that holds a report, which would overwrite a file of the person's own."""
    victim = tmp_path / "profile"
    victim.write_text("mine")
    document = json.loads((report / "compared.json").read_text())
    document["record"]["pairs"][2]["old"] = str(victim)
    (report / "compared.json").write_text(json.dumps(document))
    code, _, err = whatchanged("accept", "report", "02.png")
    assert code == 2 and "not written here, by this user" in err and victim.read_text() == "mine"


@pytest.mark.skipif(sys.platform == "win32", reason="no terminals of this kind")
@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 2), ("\n", 2), ("\x04", 2)])
def test_on_a_terminal_it_asks(report, tmp_path, answer, code):
    import pty

    before = state(tmp_path / "old")
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, [sys.executable, "-P", "-m", "whatchanged", "accept", "report", "02.png"])
    said = b""
    while b"[y/N]" not in said:
        said += os.read(terminal, 1000)
    os.write(terminal, answer.encode())
    _, status = os.waitpid(child, 0)
    os.close(terminal)
    assert b"new/02.png -> old/02.png" in said and b"Accept 1 picture?" in said
    assert os.waitstatus_to_exitcode(status) == code
    assert (state(tmp_path / "old") == before) == (code != 0)


def test_the_groups_and_pairs_of_a_report_are_completed(report):
    asked = SimpleNamespace(params={"report": str(report)})
    assert completion.acceptable(asked, "") == ["1", "02.png", "03.png", "04.png", "05.png", "added.png"]
    assert completion.acceptable(asked, "ad") == ["added.png"]
    assert completion.acceptable(SimpleNamespace(params={"report": "nowhere"}), "") == []


def test_the_option_of_compare_goes_on_and_says_what_to_type(whatchanged, report, tmp_path):
    code, said, err = whatchanged(
        "compare", "old", "new", "-o", "report", "--workers", 1, "--accept", "1", "--accept", "04.png"
    )
    assert code == 0 and said.startswith("4 pictures accepted.")
    assert "type: whatchanged accept report 1 04.png" in err
