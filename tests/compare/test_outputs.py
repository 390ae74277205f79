"""What is written of one comparison that holds everything; see ``found``."""

import json
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from support.trees import state

from whatchanged.compare import summary as summary_room
from whatchanged.compare.annotations import github_annotations
from whatchanged.compare.groups import group_outcomes
from whatchanged.compare.junit import junit
from whatchanged.compare.lines import result_lines, results_text
from whatchanged.compare.outputs import STORED, claim, write_outputs
from whatchanged.compare.page import page_of
from whatchanged.compare.run import Outcome
from whatchanged.compare.stored import StoredAnswers
from whatchanged.compare.summary import summary
from whatchanged.compare.words import headline, variants
from whatchanged.errors import OutputError

CHANGED = ["02.png", "03.png", "04.png", "05.png", "06.png"]


def test_lines_hold_the_fields_of_every_output_in_their_order(found):
    lines = {line["id"]: line for line in result_lines(found)}
    assert [line for line in lines if lines[line].get("changed")] == [*CHANGED, "gone.png", "new|*.png"]
    line = lines["02.png"]
    order = [
        "id",
        "caption",
        "no_change",
        "verdict",
        "doubtful",
        "answer",
        "group",
        "changes",
        "before",
        "after",
    ]
    assert list(line)[: len(order)] == order
    assert line["size_after"] == [200, 120] and line["changed"] is True and line["ignored"] == [[0, 0, 3, 3]]
    assert lines["00.png"]["verdict"] == "identical" and "group" not in lines["00.png"]
    assert lines["faint.png"]["verdict"] == "noise" and lines["faint.png"]["changed"] is False
    assert lines["gone.png"]["file"] == "removed" and "after" not in lines["gone.png"]
    assert lines["is.png"]["was"] == "was.png" and lines["is.png"]["changed"] is False
    assert set(lines["broken.png"]) == {"id", "error", "before", "after", "ignored"}
    assert [json.loads(text) for text in results_text(found).splitlines()] == list(lines.values())


def test_the_member_with_something_beyond_its_group_comes_first(found):
    group = found.groups[0]
    assert found.outcomes[group.members[0]].pair.pair_id == "04.png"
    assert len(group.members) == 5 == group.changed and len(group.odd) == 1
    assert {found.group_of[place] for place in group.members} == {1}
    lines = summary(found).splitlines()
    first = next(number for number, line in enumerate(lines) if "**Group 1**" in line)
    assert "5 pictures" in lines[first] and "`04.png` too: " in lines[first + 1]
    assert lines[first + 2] == "  - `02.png`, `03.png`, `05.png`, `06.png`"


def test_the_headline_counts_each_kind(found):
    assert headline(found) == (
        "5 of 12 pictures changed; 1 was added; 1 was removed; 1 was renamed; 1 could not be compared; "
        "1 differs without a visible change."
    )


def test_the_summary_tells_failed_from_changed_and_names_idle_boxes(found):
    text = summary(found)
    assert text.startswith("### Pictures changed: 7; not compared: 1\n")
    assert "- `broken.png`: " in text and "- `gone.png`" in text and "- `new|*.png`" in text
    assert "**Ignored boxes that touch no difference any more: 1**" in text and "nothing" in text
    assert "![" not in text and "<img" not in text
    nothing = replace(found, outcomes=found.outcomes[:2], groups=(), unused=())
    assert summary(nothing).startswith("### No picture changed\n\n0 of 2 pictures changed.\n")


def test_the_summary_fits_a_comment_whatever_there_is(found, monkeypatch):
    changed = found.outcomes[4]
    many = tuple(
        replace(changed, pair=replace(changed.pair, pair_id=f"{'x' * 200}/{number}.png"))
        for number in range(3000)
    )
    groups = tuple(
        replace(
            found.groups[0], number=number, members=tuple(range(number * 20, number * 20 + 20)), beyond=()
        )
        for number in range(150)
    )
    text = summary(replace(found, outcomes=many, groups=groups))
    assert len(text) <= summary_room.MOST_CHARACTERS < 65_000
    assert len(text.encode()) < 65_536 and text.count("<details>") == text.count("</details>")
    monkeypatch.setattr(summary_room, "MOST_CHARACTERS", 700)
    text = summary(found)
    assert len(text) <= 700 and "The rest is in `index.html`" in text


def test_names_cannot_write_markdown(found):
    pair = replace(found.outcomes[5].pair, pair_id="](http://x)`<script>\n# @you.png")
    hostile = replace(found.outcomes[5], pair=pair)
    text = summary(replace(found, outcomes=(hostile,), groups=()))
    assert "- `](http://x) <script> # @you.png`: " in text
    failed = Outcome(pair, error="<b>[x](http://y) @you | `z`")
    text = summary(replace(found, outcomes=(failed,), groups=()))
    assert r"\<b\>\[x\](http://y)" in text and "@you |" not in text.split("`: ")[1]


def test_junit_counts_failures_and_errors(found):
    root = ElementTree.fromstring(junit(found))
    suite = root[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("12", "7", "1")
    kinds = {
        case.get("name"): [(part.tag, part.get("type")) for part in case] for case in suite.iter("testcase")
    }
    assert kinds["00.png"] == [] and kinds["is.png"] == []
    assert kinds["04.png"] == [("failure", "changed"), ("system-out", None)]
    assert kinds["gone.png"] == [("failure", "removed")] and kinds["new|*.png"] == [("failure", "added")]
    assert kinds["broken.png"] == [("error", "not compared")]
    assert kinds["faint.png"] == [("system-out", None)]


def test_junit_is_xml_whatever_a_name_holds(found):
    pair = replace(found.outcomes[5].pair, pair_id='a/b/<&">\x00\x1b\udcff\uffff.png')
    root = ElementTree.fromstring(
        junit(replace(found, outcomes=(replace(found.outcomes[5], pair=pair),), groups=()))
    )
    case = root[0].find("testcase")
    assert case.get("classname") == "a.b" and case.get("name") == '<&">' + "\ufffd" * 4 + ".png"


def test_annotations_are_at_most_ten_and_escaped(found):
    lines = github_annotations(found)
    assert len(lines) == 4 and all(line.startswith("::error ") for line in lines)
    assert "title=Picture not compared::" in lines[0] and "title=Pictures changed%3A group 1::" in lines[1]
    pair = replace(found.outcomes[5].pair, before=None, after=None, pair_id="a,b:c\n%.png")
    outcomes = [Outcome(pair, error="50 %\nof it")] * 12
    lines = github_annotations(replace(found, outcomes=tuple(outcomes), groups=()))
    assert len(lines) == 10
    assert lines[0] == "::error file=a%2Cb%3Ac%0A%25.png,title=Picture not compared::50 %25%0Aof it"
    assert lines[9] == "::error title=More changes::3 more; see summary.md and index.html."


def test_the_page_lists_groups_first_and_leaves_out_what_is_the_same(found):
    page = page_of(found)
    assert [pair.id for pair in page.pairs if pair.id in ("00.png", "01.png")] == []
    assert len(page.pairs) == 10
    first = page.groups[0]
    assert page.pairs[first.members[0]].id == "04.png" and list(first.odd) == [first.members[0]]
    assert first.sentence.startswith("Group 1. ") and not first.closed
    assert [page.pairs[index].id for group in page.groups if group.closed for index in group.members] == [
        "faint.png"
    ]
    assert any("touches no difference any more: nothing*" in text for text in page.notes)
    assert page.pairs[first.members[0]].ignored == ((0, 0, 3, 3),)
    assert sorted(index for group in page.groups for index in group.members) == list(range(10))


def test_all_files_are_written(found, tmp_path):
    folder = tmp_path / "out"
    claim(folder)
    write_outputs(found, folder)
    assert {path.name for path in folder.iterdir()} == {
        "answers.jsonl",
        "compared.json",
        "index.html",
        "junit.xml",
        "results.jsonl",
        "summary.md",
    }
    page = (folder / "index.html").read_text()
    assert re.search(r"\.\./new/04\.png", page)
    claim(folder)  # its own results may be replaced


def test_a_folder_of_others_is_not_written_to(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "a.txt").write_text("mine")
    with pytest.raises(OutputError, match="holds files of others"):
        claim(tmp_path / "mine")
    with pytest.raises(OutputError, match="this is a file"):
        claim(tmp_path / "mine" / "a.txt")
    with pytest.raises(OutputError, match="is not there"):
        claim(tmp_path / "no" / "out")
    (tmp_path / "mine" / "answers.jsonl").write_text('{"format": "mine"}\n')
    with pytest.raises(OutputError, match="holds files of others"):
        claim(tmp_path / "mine")
    (tmp_path / "empty").mkdir()
    claim(tmp_path / "empty")


def test_variants_of_a_name_are_told_together():
    names = ["login-chromium.png", "menu.png", "login-firefox.png", "login-dark-webkit.png", "login-390.png"]
    assert variants(names) == ["login-chromium.png (also firefox, dark webkit, 390)", "menu.png"]
    assert variants(["a/x.png", "b/x.png"]) == ["a/x.png", "b/x.png"]


def test_pairs_without_a_measured_answer_are_in_no_group(found):
    told = [
        replace(one, answer=None if one.answer is None else replace(one.answer, measured=None))
        for one in found.outcomes
    ]
    assert group_outcomes(told) == ()


@pytest.mark.parametrize(
    "content", ["", '{"format": 1, "signature": 9}\n', '[{"format": 2, "signature": 0}, "00"]\n']
)
def test_results_without_our_signature_are_taken_only_if_nothing_else_lies_there(tmp_path, content):
    folder = tmp_path / "carried"
    (folder / "old").mkdir(parents=True)
    for name in ("answers.jsonl", "results.jsonl", "junit.xml", "summary.md", "index.html"):
        (folder / name).write_text(content)
    before = state(tmp_path)
    assert claim(folder) is True and state(tmp_path) == before
    (folder / "notes.txt").write_text("mine")
    before = state(tmp_path)
    with pytest.raises(OutputError, match="holds files of others"):
        claim(folder)
    assert state(tmp_path) == before


def test_results_of_this_machine_may_hold_other_files(tmp_path, monkeypatch):
    folder = tmp_path / "out"
    assert claim(folder) is False
    with StoredAnswers(folder / STORED, {"signature": 9}):
        (folder / "notes.txt").write_text("mine")
    assert claim(folder) is False
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another machine"))
    with pytest.raises(OutputError, match="holds files of others"):
        claim(folder)
    (folder / "notes.txt").unlink()
    assert claim(folder) is True


def test_a_folder_with_names_of_ours_and_no_answers_is_of_others(tmp_path):
    for name in ("old", "new"):
        (tmp_path / "out" / name).mkdir(parents=True)
        (tmp_path / "out" / name / "a.png").write_text("mine")
    before = state(tmp_path)
    with pytest.raises(OutputError, match="holds files of others"):
        claim(tmp_path / "out")
    assert state(tmp_path) == before


@pytest.mark.parametrize("name", ["summary.md", "junit.xml", "results.jsonl", "index.html"])
@pytest.mark.parametrize("target", ["../victim.txt", "../new.txt"])
def test_no_file_is_written_through_a_link(found, tmp_path, name, target):
    (tmp_path / "victim.txt").write_text("mine")
    claim(tmp_path / "out")
    (tmp_path / "out" / name).symlink_to(target)
    with pytest.raises(OutputError, match="name that file itself"):
        write_outputs(found, tmp_path / "out")
    assert (tmp_path / "victim.txt").read_text() == "mine" and not (tmp_path / "new.txt").exists()
