"""Programs and libraries of the working directory are passed over."""

import os
import subprocess
import threading

import pytest

from whatchanged.programs import find_program, program_environment, safe_environment


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A working directory with a program of its own, and a folder elsewhere with one of that name."""
    for folder in ("here", "here/bin", "elsewhere"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "tool").write_text("#!/bin/sh\n")
        (tmp_path / folder / "tool").chmod(0o755)
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


@pytest.mark.parametrize("first", ["", ".", "bin", "{here}", "{here}/../here"])
def test_a_program_of_the_working_directory_is_not_found(here, monkeypatch, first):
    elsewhere = here.parent / "elsewhere"
    monkeypatch.setenv("PATH", os.pathsep.join([first.format(here=here), str(elsewhere)]))
    assert find_program("tool") == str(elsewhere / "tool")
    monkeypatch.setenv("PATH", first.format(here=here))
    assert find_program("tool") is None


def test_a_program_by_folders_of_its_own(here):
    elsewhere = here.parent / "elsewhere"
    assert find_program("tool", path=str(elsewhere)) == str(elsewhere / "tool")
    assert find_program("tool", path="") is None
    assert find_program("no-such-tool", path=str(elsewhere)) is None


def test_what_a_program_is_given(here, monkeypatch):
    monkeypatch.setenv("PATH", f":/usr/bin:.:bin:{here}:{here}/bin")
    monkeypatch.setenv("LD_LIBRARY_PATH", ":lib")
    monkeypatch.setenv("CLASSPATH", "/opt/a.jar:b.jar")
    given = program_environment(LC_ALL="C")
    assert given["PATH"] == f"/usr/bin:{here}/bin"  # a folder of its own that a person has put there
    assert given["LD_LIBRARY_PATH"] == "" and given["CLASSPATH"] == "/opt/a.jar"
    assert given["PYTHONSAFEPATH"] == "1" and given["LC_ALL"] == "C"
    assert os.environ["PATH"].startswith(":")  # ours stays


def test_a_path_of_which_nothing_is_left_finds_the_systems_programs(here, monkeypatch):
    monkeypatch.setenv("PATH", ".")
    environment = program_environment()
    assert subprocess.run(["sh", "-c", "command -v tool"], env=environment, check=False).returncode != 0


def test_the_variables_are_put_back_by_the_last_one(monkeypatch):
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    monkeypatch.setenv("PATH", ":/usr/bin")
    inside, leave = threading.Event(), threading.Event()

    def other():
        with safe_environment():
            inside.set()
            leave.wait(60)

    thread = threading.Thread(target=other)
    with safe_environment():
        thread.start()
        assert inside.wait(60)
        assert (os.environ["PYTHONSAFEPATH"], os.environ["PATH"]) == ("1", "/usr/bin")
    assert os.environ["PYTHONSAFEPATH"] == "1"
    leave.set()
    thread.join(60)
    assert "PYTHONSAFEPATH" not in os.environ and os.environ["PATH"] == ":/usr/bin"


def test_what_a_person_chose_stays(monkeypatch):
    monkeypatch.setenv("PYTHONSAFEPATH", "yes")
    with pytest.raises(ZeroDivisionError), safe_environment():
        raise ZeroDivisionError
    assert os.environ["PYTHONSAFEPATH"] == "yes"
