import os
import threading

import pytest
from support.special_files import KINDS, plant

from whatchanged import opening
from whatchanged.opening import (
    NO_FILE,
    open_regular,
    open_regular_text,
    read_regular,
    read_regular_text,
    regular,
)


def test_regular_files_and_links_to_them(tmp_path):
    (tmp_path / "a").write_bytes("\ufeffone\r\ntwo\rthree\n".encode())
    (tmp_path / "b").symlink_to("a")
    for path in (tmp_path / "a", tmp_path / "b"):
        assert read_regular(path) == path.read_bytes()
        assert read_regular_text(path, "utf-8-sig") == path.read_text(encoding="utf-8-sig")
        assert regular(path) is path
        with open_regular(path) as file:
            assert not os.get_inheritable(file.fileno())
        with open_regular_text(path, "utf-8", newline="") as text:
            assert text.read() == path.read_bytes().decode()


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_none_is_an_error_at_once(tmp_path, kind):
    path = plant(tmp_path / "a.png", kind)
    for read in (regular, open_regular, read_regular, read_regular_text):
        with pytest.raises(OSError) as found:
            read(path)
        assert found.value.filename == str(path)
        assert kind in ("dangling", "loop") or found.value.strerror == NO_FILE


def test_folders_are_told_as_the_system_does(tmp_path):
    with pytest.raises(IsADirectoryError):
        open_regular(tmp_path)


def test_a_file_that_becomes_a_pipe_before_it_is_opened(tmp_path, monkeypatch):
    path = tmp_path / "a.png"
    os.mkfifo(path)
    monkeypatch.setattr(opening, "regular", lambda path: path)
    closed = []
    monkeypatch.setattr(os, "close", lambda opened, real=os.close: closed.append(opened) or real(opened))
    with pytest.raises(OSError, match="a file is wanted"):
        open_regular(path)
    assert len(closed) == 1


def test_a_pipe_that_the_shell_holds_open_is_for_those_who_ask_for_it(tmp_path):
    read, write = os.pipe()
    threading.Thread(target=lambda: (os.write(write, b"one"), os.close(write))).start()
    path = tmp_path.__class__(f"/dev/fd/{read}")
    with pytest.raises(OSError, match="a file is wanted"):
        read_regular(path)
    assert read_regular(path, piped=True) == b"one"
    os.close(read)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="a file is wanted"):
        read_regular(tmp_path / "pipe", piped=True)
