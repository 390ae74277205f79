"""``whatchanged compare`` as a person calls it: files, exit codes, messages."""

import base64
import json
import os
import shutil

import numpy as np
import pytest
from PIL import Image
from support.compared_screens import BLUE, git, save, screen, two_runs, with_square
from support.trees import state


@pytest.fixture
def runs(tmp_path):
    return two_runs(tmp_path)


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


def lines(folder):
    return [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]


def content(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_two_folders_end_to_end(whatchanged, runs, out):
    code, said, err = whatchanged("compare", *runs, "-o", out, "--workers", 1)
    assert code == 1
    assert said.startswith("4 of 6 pictures changed.\ngroup 1: 4 pictures: ")
    assert "To look at: " in err and str(out / "index.html") in err
    assert [line["id"] for line in lines(out) if line["changed"]] == ["02.png", "03.png", "04.png", "05.png"]
    assert {line["group"] for line in lines(out) if line["changed"]} == {1}
    assert (out / "summary.md").read_text().startswith("### Pictures changed: 4\n")


def test_the_same_command_again_gives_the_same_files_from_stored_answers(whatchanged, runs, out, monkeypatch):
    whatchanged("compare", *runs, "-o", out, "--workers", 1)
    first = content(out)
    monkeypatch.setattr("whatchanged.compare.run._answer", lambda answerer, task: 1 / 0)
    assert whatchanged("compare", *runs, "-o", out, "--workers", 1)[0] == 1
    assert content(out) == first
    assert whatchanged("compare", *runs, "-o", out, "--workers", 1, "--force")[0] == 70


def test_the_model_of_screens_is_the_measured_answer(whatchanged, runs, out, tmp_path):
    code, said, err = whatchanged("compare", *runs, "-o", out, "--model", "screens", "--workers", 1)
    assert err.count("The model screens is gone; measured answers in its place.") == 1
    other = tmp_path / "other"
    assert whatchanged("compare", *runs, "-o", other, "--model", "measured", "--workers", 1)[:2] == (
        code,
        said,
    )
    assert lines(out) == lines(other) and {line["answer"] for line in lines(out)} == {"measured"}


def test_exit_codes(whatchanged, runs, out, tmp_path):
    old = runs[0]
    assert whatchanged("compare", old, shutil.copytree(old, tmp_path / "copy"), "-o", out)[0] == 0
    assert whatchanged("compare", *runs, "-o", out, "--fail-on", "never")[0] == 0
    assert whatchanged("compare", *runs)[0] == 1
    (tmp_path / "copy" / "00.png").unlink()
    assert whatchanged("compare", old, tmp_path / "copy", "-o", out)[0] == 1
    (tmp_path / "copy" / "00.png").write_bytes(b"no picture")
    code, said, err = whatchanged("compare", old, tmp_path / "copy", "-o", out)
    assert code == 1 and "1 could not be compared" in said and "not a picture" in err
    assert (out / "summary.md").read_text().startswith("### Pictures not compared: 1\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name two folders, OLD and NEW"),
        (("{old}", "{no}"), "there is no such folder"),
        (("{old}", "{old}"), "are the same folder"),
        (("{old}", "{new}", "--git", "HEAD"), "--git compares one folder"),
        (("{old}", "--git", "HEAD"), "not a git repository"),
        (("{old}",), "no pairs of pictures are recognised"),
        (("{old}", "{new}", "--ignore", "{no}"), "cannot read the file"),
        (("{old}", "{new}", "--noise", "{old}/00.png"), "not JSON"),
        (("{old}", "{new}", "--calibrate"), "and -o FILE"),
        (("{old}", "{new}", "--calibrate", "--strict"), "goes with two folders"),
        (("{old}", "{new}", "--accept", "1"), "--accept wants -o DIR"),
        (("{old}", "{new}", "--sensitivity", "0"), "0"),
        (("{old}", "{new}", "--model", "no-such-model"), "no-such-model"),
    ],
)
def test_wrong_calls_end_with_2_and_write_nothing(whatchanged, runs, tmp_path, arguments, message):
    places = {"old": runs[0], "new": runs[1], "no": tmp_path / "no"}
    before = content(tmp_path)
    extra = () if {"--calibrate", "--accept"} & {*arguments} else ("-o", tmp_path / "out")
    code, said, err = whatchanged("compare", *(part.format(**places) for part in arguments), *extra)
    assert code == 2 and message in " ".join(err.replace("│", " ").split()) and said == ""
    assert content(tmp_path) == before and not (tmp_path / "out").exists()


def test_an_empty_folder_stays_empty_where_nothing_could_be_compared(whatchanged, runs, out):
    out.mkdir()
    assert whatchanged("compare", runs[0], runs[0], "-o", out)[0] == 2
    assert list(out.iterdir()) == []


def test_a_folder_of_others_stays_as_it_is(whatchanged, runs, tmp_path):
    before = content(tmp_path)
    code, _, err = whatchanged("compare", *runs, "-o", runs[1])
    assert code == 2 and "holds files of others" in err and content(tmp_path) == before


def test_a_tools_folder_names_and_a_list(whatchanged, runs, tmp_path, out):
    results = tmp_path / "test-results"
    save(screen(1), results / "home-expected.png")
    save(with_square(screen(1)), results / "home-actual.png")
    code, said, _ = whatchanged("compare", results, "-o", out)
    assert code == 1 and said.startswith("1 of 1 picture changed.")
    assert lines(out)[0]["id"] == "home.png"
    code, _, err = whatchanged("compare", results, "-o", out, "--accept", "home.png")
    assert code == 2 and "npx playwright test --update-snapshots" in err
    listed = tmp_path / "lists" / "pairs.csv"
    listed.parent.mkdir()
    listed.write_text(f"before,after,id\n../old/02.png,{runs[1]}/02.png,two\n")
    assert whatchanged("compare", listed, "-o", out)[0] == 1
    assert [line["id"] for line in lines(out)] == ["two"]


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_a_revision(whatchanged, tmp_path, out, monkeypatch):
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q")
    save(screen(1), root / "a.png")
    git(root, "add", ".")
    git(root, "commit", "-qm", "one")
    monkeypatch.chdir(root)
    assert whatchanged("compare", "--git", "HEAD", "-o", out)[0] == 0
    save(with_square(screen(1)), root / "a.png")
    code, _, _ = whatchanged("compare", "--git", "HEAD", "-o", out)
    assert code == 1
    line = lines(out)[0]
    assert line["id"] == "a.png" and np.array_equal(np.asarray(Image.open(line["before"])), screen(1))
    git(root, "commit", "-qam", "two")
    assert whatchanged("compare", "--git", "HEAD~1..HEAD", "-o", out)[0] == 1
    code, _, err = whatchanged("compare", "--git", "HEAD~1..HEAD", "-o", out, "--accept", "a.png")
    assert code == 2 and "both are revisions" in err
    assert whatchanged("compare", "--git", "HEAD~1")[0] == 1


def test_annotations_go_to_stdout(whatchanged, runs, out):
    code, said, _ = whatchanged("compare", *runs, "-o", out, "--annotations", "github", "--quiet")
    assert code == 1
    assert said.splitlines()[0].startswith("::error file=") and "title=Pictures changed%3A group 1" in said


def test_ignored_places_and_idle_boxes(whatchanged, runs, out, tmp_path):
    boxes = tmp_path / "boxes.json"
    boxes.write_text(json.dumps({"*": [[165, 88, 195, 115]], "gone/*": [[0, 0, 9, 9]]}))
    code, said, err = whatchanged("compare", *runs, "-o", out, "--ignore", boxes)
    assert code == 0 and "4 differ only in ignored places" in said
    assert "This ignored box touches no difference any more: gone/* [0, 0, 9, 9]" in err
    assert lines(out)[2]["ignored"] == [[165, 88, 195, 115]] and lines(out)[2]["verdict"] == "ignored"


def test_accepting_what_was_looked_at(whatchanged, runs, out):
    whatchanged("compare", *runs, "-o", out, "--workers", 1)
    code, said, _ = whatchanged("compare", *runs, "-o", out, "--accept", "1")
    assert code == 0 and said.startswith("4 pictures accepted.")
    assert content(runs[0]) == content(runs[1])
    assert whatchanged("compare", *runs, "-o", out)[0] == 0


def test_what_was_not_looked_at_is_not_accepted(whatchanged, runs, out):
    code, _, err = whatchanged("compare", *runs, "-o", out.parent, "--accept", "1")
    assert code == 2 and "holds files of others" in err
    whatchanged("compare", *runs, "-o", out, "--workers", 1)
    before = content(runs[0])
    save(screen(9), runs[1] / "02.png")
    code, _, err = whatchanged("compare", *runs, "-o", out, "--accept", "1")
    assert code == 2 and "Compare again" in err and content(runs[0]) == before


def test_two_runs_of_one_state_teach_the_noise(whatchanged, runs, tmp_path, out):
    learned = tmp_path / "noise.json"
    code, said, _ = whatchanged("compare", "--calibrate", *runs, "-o", learned)
    assert code == 0 and said.startswith(
        "6 pictures compared; sensitivity 1; unsteady places in 4 pictures, at most 2.8 % of one"
    )
    assert whatchanged("compare", *runs, "-o", out, "--noise", learned)[0] == 0


def test_pictures_inside_the_page(whatchanged, runs, out):
    whatchanged("compare", *runs, "-o", out, "--embed")
    page = (out / "index.html").read_text()
    assert page.count("data:image/png;base64,") == 8 and "new/02.png" not in page


def test_names_of_strangers_cannot_act_on_the_terminal(whatchanged, runs, out):
    """The picture that shows something else than its group is named on stdout."""
    old, new = runs
    for folder in runs:
        (folder / "04.png").rename(folder / "04\x1b[2J.png")
    save(with_square(with_square(screen(4)), BLUE, left=100, top=2), new / "04\x1b[2J.png")
    for arguments in ((), ("--annotations", "github")):
        _, said, err = whatchanged("compare", old, new, "-o", out, "--workers", 1, *arguments)
        assert "04\\x1b[2J.png" in said and "\x1b" not in said + err


def test_a_picture_whose_name_is_not_utf_8_can_be_accepted(whatchanged, runs, out):
    for folder in runs:
        (folder / "04.png").rename(folder / os.fsdecode(b"04\xff.png"))
    whatchanged("compare", *runs, "-o", out, "--workers", 1)
    code, said, err = whatchanged("compare", *runs, "-o", out, "--workers", 1, "--accept", "1")
    assert code == 0 and said.startswith("4 pictures accepted"), err


@pytest.fixture
def planted(runs, tmp_path, monkeypatch):
    """A stranger's folder, in which the command runs, beside the person's own files."""
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "profile").write_text("mine")
    work = tmp_path / "work"
    work.mkdir()
    for folder in runs:
        folder.rename(work / folder.name)
    monkeypatch.chdir(work)
    return work, victim


@pytest.mark.parametrize(
    ("place", "target"),
    [
        (".compared.lock", "../victim/profile"),
        (".compared.lock", "../victim/new"),
        ("compared", "../victim"),
        ("compared", "../victim/new"),
        ("compared/answers.jsonl", "../../victim/profile"),
        ("compared/summary.md", "../../victim/profile"),
        ("compared/summary.md", "../../victim/new"),
        ("compared/index.html", "../../victim/profile"),
        ("compared/old/shots/a.png", "../../../../victim/profile"),
        ("compared/new", "../../victim"),
        ("compared/cut", "../../victim"),
    ],
)
@pytest.mark.parametrize("more", [(), ("--force", "--embed"), ("--accept", "1")])
def test_a_planted_link_is_named_and_nothing_written(whatchanged, planted, tmp_path, place, target, more):
    work, _ = planted
    if place != "compared":
        (work / "compared").mkdir()
    if place not in ("compared", "compared/answers.jsonl"):
        (work / "compared" / "answers.jsonl").touch()
    (work / place).parent.mkdir(parents=True, exist_ok=True)
    (work / place).symlink_to(target)
    before = state(tmp_path)
    code, said, err = whatchanged("compare", "old", "new", "-o", "compared", "--workers", 1, *more)
    assert (code, said, state(tmp_path)) == (2, "", before)
    assert (f"{place}: this " in err and "emove" in err) or ("--accept" in more and "wants -o DIR" in err)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_a_planted_results_folder_writes_nothing_elsewhere(whatchanged, planted, tmp_path):
    """A repository that commits a folder of results with links, and pictures that are scripts."""
    work, victim = planted
    git(work, "init", "-q")
    (work / "shots").mkdir()
    (work / "shots" / "a.png").write_text("#!/bin/sh\necho hello\n")
    git(work, "add", ".")
    git(work, "commit", "-qm", "one")
    save(screen(1), work / "shots" / "a.png")
    (work / "compared" / "old" / "shots").mkdir(parents=True)
    (work / "compared" / "old" / "shots" / "a.png").symlink_to("../../../../victim/profile")
    (work / "compared" / "answers.jsonl").touch()
    git(work, "add", ".")
    git(work, "commit", "-qm", "two")
    before = state(victim)
    code, _, err = whatchanged("compare", "--git", "HEAD~1", "-o", "compared")
    assert (
        code == 2
        and "compared/old/shots/a.png: this link in an output folder leads out" in err
        and state(victim) == before
    )
    (work / "compared" / "old" / "shots" / "a.png").unlink()
    code, said, err = whatchanged("compare", "--git", "HEAD~1", "-o", "compared")
    assert code == 1 and "1 could not be compared" in said and "shots/a.png in the old revision" in err
    assert "compared anew" in err and state(victim) == before
    assert not (work / "compared" / "old" / "shots" / "a.png").exists()


def test_answers_of_a_stranger_are_not_believed(whatchanged, runs, out, tmp_path, monkeypatch):
    """A pull request that holds results for its own pictures, which say that nothing changed."""
    whatchanged("compare", *runs, "-o", out, "--workers", 1)
    first = content(out)
    answers = out / "answers.jsonl"
    head, *entries = map(json.loads, answers.read_text().splitlines())
    for entry in entries:
        entry[1].update(verdict="identical", no_change=1.0, doubtful=False, changes=[])
    answers.write_text("".join(json.dumps(line) + "\n" for line in (head, *entries)))
    code, said, _ = whatchanged("compare", *runs, "-o", out, "--workers", 1)
    assert code == 1 and said.startswith("4 of 6 pictures changed.") and content(out) == first
    forged = content(out)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another machine"))
    code, said, err = whatchanged("compare", *runs, "-o", out, "--workers", 1)
    assert code == 1 and said.startswith("4 of 6") and "so all pairs are compared anew" in err
    assert content(out).keys() == forged.keys()
    _, _, err = whatchanged("compare", *runs, "-o", out, "--workers", 1)
    assert "compared anew" not in err


def test_without_a_place_for_a_key_every_run_compares_anew(whatchanged, runs, out, tmp_path, monkeypatch):
    from whatchanged import signing

    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert whatchanged("compare", *runs, "-o", out, "--workers", 1)[0] == 1
    signing._key_of_process.cache_clear()  # as in the next process
    code, said, err = whatchanged("compare", *runs, "-o", out, "--workers", 1)
    assert code == 1 and said.startswith("4 of 6") and "compared anew" in err


def test_results_that_were_carried_here_are_accepted_only_as_they_are(
    whatchanged, runs, out, tmp_path, monkeypatch
):
    """Nothing in the folder is believed: the lines must be those that are found now."""
    whatchanged("compare", *runs, "-o", out, "--workers", 1)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another machine"))
    results = out / "results.jsonl"
    kept, before = results.read_text(), content(runs[0])
    results.write_text(kept.replace('"group": 1', '"group": 2'))
    code, _, err = whatchanged("compare", *runs, "-o", out, "--workers", 1, "--accept", "1")
    assert code == 2 and "Compare again" in err and content(runs[0]) == before
    results.write_text(kept)
    assert whatchanged("compare", *runs, "-o", out, "--workers", 1, "--accept", "1")[0] == 0
    assert content(runs[0]) == content(runs[1])


def test_a_planted_link_puts_no_private_picture_into_the_page(whatchanged, tmp_path):
    private = save(with_square(screen(7)), tmp_path / "private.png")
    for side in ("old", "new"):
        save(screen(1), tmp_path / "shots" / side / "1.png")
    (tmp_path / "shots" / "new" / "2.png").symlink_to("../../private.png")
    sides = tmp_path / "shots" / "old", tmp_path / "shots" / "new"
    code, said, err = whatchanged("compare", *sides, "-o", tmp_path / "out", "--embed")
    assert code == 0 and "not compared: 1 (first: " in err, (said, err)
    written = b"".join(path.read_bytes() for path in (tmp_path / "out").iterdir())
    assert base64.b64encode(private.read_bytes())[:400] not in written
    assert "2.png" not in (tmp_path / "out" / "results.jsonl").read_text()
