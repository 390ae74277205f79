import hashlib
import os

from whatchanged.compare.lfs import is_pointer, stands_for

CONTENT = b"the picture"
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize 11\n"


def test_a_pointer_and_what_it_stands_for(tmp_path):
    file = tmp_path / "a.png"
    file.write_bytes(CONTENT)
    right = POINTER % hashlib.sha256(CONTENT).hexdigest().encode()
    assert stands_for(right, file) and not is_pointer(file)
    assert not stands_for(POINTER % (b"0" * 64), file)
    assert not stands_for(b"x" + right, file)
    assert not stands_for(right[:60], file)
    file.write_bytes(right)
    assert is_pointer(file)
    file.write_bytes(right + b"x" * 1000)
    assert not is_pointer(file)


def test_what_cannot_be_read_is_no_pointer(tmp_path):
    assert not is_pointer(tmp_path / "none.png")
    os.mkfifo(tmp_path / "pipe.png")
    assert not is_pointer(tmp_path / "pipe.png")
