import errno
import json
import os
import subprocess
import sys
import threading

import pytest

from whatchanged.errors import OutputError
from whatchanged.files import draft_of, whole, whole_folder, write_output


def held(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_a_file_appears_when_its_last_byte_is_written(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with whole(path) as draft:
        draft.write_text("ne")
        assert draft.parent == tmp_path and path.read_text() == "old"
        draft.write_text("new")
    assert held(tmp_path) == {"a.txt": "new"}


@pytest.mark.parametrize("stopped_by", [KeyboardInterrupt, OSError, ValueError])
def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(tmp_path, stopped_by):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(stopped_by), whole(path) as draft:
        draft.write_text("ne")
        raise stopped_by
    assert held(tmp_path) == {"a.txt": "old"}
    with pytest.raises(stopped_by), whole(tmp_path / "b.txt"):
        raise stopped_by  # before anything was written
    assert held(tmp_path) == {"a.txt": "old"}


@pytest.mark.parametrize("content", ["a cube \u2013 moved", "a cube \u2013 moved".encode()])
def test_text_is_written_as_utf_8_and_bytes_as_they_are(tmp_path, content):
    write_output(tmp_path / "a", content)
    assert (tmp_path / "a").read_bytes() == b"a cube \xe2\x80\x93 moved"


@pytest.mark.parametrize("parent", ["absent", "file"])
def test_a_place_that_cannot_be_written_to_is_named(tmp_path, parent):
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(OutputError, match=rf"{parent}/r\.json: cannot be written \(N"):
        write_output(tmp_path / parent / "r.json", "new")
    assert held(tmp_path) == {"file": "no folder"}


def test_a_folder_without_permission_is_named_and_left_as_it_was(tmp_path, monkeypatch):
    """Whoever runs as root may write anywhere: the system's answer stands in."""
    (tmp_path / "r.json").write_text("old")

    def refuse(path, data):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("pathlib.Path.write_bytes", refuse)
    with pytest.raises(OutputError, match=r"r\.json: cannot be written \(Permission denied\)"):
        write_output(tmp_path / "r.json", "new")
    assert held(tmp_path) == {"r.json": "old"}


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "a.txt").write_text("old")
    (tmp_path / "a.txt").symlink_to(tmp_path / "kept" / "a.txt")
    write_output(tmp_path / "a.txt", "new")
    assert (tmp_path / "a.txt").is_symlink() and held(tmp_path / "kept") == {"a.txt": "new"}


def test_a_pipe_is_written_to(tmp_path):
    pipe, told = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: told.append(pipe.read_text()))
    reader.start()
    write_output(pipe, "new")
    reader.join()
    assert told == ["new"] and pipe.is_fifo()


def test_standard_output_is_written_to_when_it_is_a_pipe():
    program = (
        "from pathlib import Path; from whatchanged.files import write_output; "
        "write_output(Path('/dev/stdout'), 'a')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("a", "")


def test_half_a_surrogate_pair_is_written_as_its_escape(tmp_path):
    write_output(tmp_path / "a", json.dumps("\udce9.png", ensure_ascii=False))
    assert json.loads((tmp_path / "a").read_text(encoding="utf-8")) == "\udce9.png"


@pytest.mark.parametrize("before", [None, "old"])
def test_a_full_disk_is_told_with_what_is_needed_and_what_stays(tmp_path, monkeypatch, before):
    """The system's answer stands in: filling a disk is not for tests."""
    path = tmp_path / "a.bin"
    if before:
        path.write_text(before)

    def full(self, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch, pytest.raises(OutputError) as refused:
        patch.setattr("pathlib.Path.write_bytes", full)
        write_output(path, b"x" * 1234)
    stays = "What was there before is untouched." if before else "Nothing of it is left."
    assert "a.bin: cannot be written: No space left on device. It needs 1,234 bytes." in str(refused.value)
    assert stays in str(refused.value) and "Make room" in str(refused.value)
    assert held(tmp_path) == ({"a.bin": "old"} if before else {})


def test_a_limit_on_the_size_of_files_is_such_an_end(tmp_path):
    program = (
        "import resource, sys; from pathlib import Path; from whatchanged.files import write_whole;"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)); write_whole(Path(sys.argv[1]), bytes(5000))"
    )
    command = [sys.executable, "-c", program, tmp_path / "a.bin"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "OutputError" in done.stderr and "It needs 5,000 bytes" in done.stderr
    assert held(tmp_path) == {}


def test_what_an_earlier_process_of_this_number_left_gives_way(tmp_path):
    """As where the first process of every container has the number 1."""
    path = tmp_path / "fold"
    left = draft_of(path)
    for folder in (path, left, left.with_suffix(".replaced")):
        folder.mkdir()
        (folder / "old").write_text("old")
    with whole_folder(path, replace=True) as draft:
        (draft / "new").write_text("new")
    assert [entry.name for entry in tmp_path.iterdir()] == ["fold"]
    assert held(path) == {"new": "new"}
