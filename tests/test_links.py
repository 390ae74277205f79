import os
from pathlib import Path

import pytest

from whatchanged.errors import OutputError
from whatchanged.links import check_inside, check_link


@pytest.fixture
def work(tmp_path):
    """A folder of strangers beside what they must not reach."""
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim" / "file.txt").write_text("mine")
    (tmp_path / "work" / "below" / ".git").mkdir(parents=True)
    (tmp_path / "work" / "below" / "file.txt").write_text("theirs")
    os.mkfifo(tmp_path / "victim" / "pipe")
    return tmp_path / "work"


def link(place, target):
    place.symlink_to(target)
    return place


@pytest.mark.parametrize(
    "target",
    [
        "../victim/file.txt",
        "../victim/new.txt",
        "../victim",
        "below/.git/hook",
        "below/.GIT/x",
        "below/../../x",
    ],
)
def test_a_link_to_elsewhere_is_refused_whether_something_is_there_or_not(work, target):
    with pytest.raises(OutputError, match=r"out\.json: this is a link to .*; name that (file|folder) itself"):
        check_link(link(work / "out.json", target))


def test_the_message_tells_a_folder_from_a_file(work):
    with pytest.raises(OutputError, match="name that folder itself"):
        check_link(link(work / "out", "../victim"))


@pytest.mark.parametrize(
    "target", ["below/file.txt", "below/new.txt", "../victim/pipe", "/dev/null", "/dev/tty"]
)
def test_a_link_below_its_folder_or_to_a_pipe_or_terminal_is_followed(work, target):
    check_link(link(work / "out.json", target))
    check_link(work / "below" / "file.txt")


def test_the_systems_own_links_lead_wherever_they_do(work):
    with (work / "told.txt").open("w") as stream:
        check_link(Path(f"/dev/fd/{stream.fileno()}"))
        check_link(Path(f"/proc/self/fd/{stream.fileno()}"))
    check_link(Path("/dev/stdout"))


def test_links_in_a_circle_are_refused(work):
    link(work / "one", "two")
    link(work / "two", "one")
    with pytest.raises(OutputError, match=r"(this link leads nowhere|is a link to)"):
        check_link(link(work / "out", "one/x"))


@pytest.mark.parametrize("target", ["{victim}/file.txt", "{victim}", "{victim}/new", "../../../x", ".."])
@pytest.mark.parametrize("place", ["a", "old/shots/a.png", ".hidden/a"])
def test_a_link_in_an_output_that_leads_out_is_named(work, place, target):
    out = work / "out"
    (out / place).parent.mkdir(parents=True, exist_ok=True)
    target = target.format(victim=work.parent / "victim")
    link(out / place, target if target != ".." else os.path.relpath(work, (out / place).parent))
    with pytest.raises(OutputError) as refused:
        check_inside(out)
    assert f"{out / place}: this link in an output folder leads out" in str(refused.value)
    assert "Remove the link" in str(refused.value)


def test_links_that_stay_in_an_output_are_no_fault(work):
    out = work / "out"
    (out / "sub").mkdir(parents=True)
    (out / "sub" / "file").touch()
    link(out / "a", "sub/file")
    link(out / "sub" / "b", out / "sub")
    link(out / "c", "sub/new")
    check_inside(out)
    check_inside(link(work / "alias", "out"))
