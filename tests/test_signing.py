import hashlib
import hmac
import os
import subprocess
import sys

import pytest
from support.trees import state

from whatchanged.signing import KEY_FILE, is_signed, machine_key, sign


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """Where the key of these tests lies."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "whatchanged" / KEY_FILE


def key_of_another_process():
    program = "import sys; from whatchanged.signing import machine_key; sys.stdout.write(machine_key().hex())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return bytes.fromhex(done.stdout)


def test_the_key_is_made_once_and_is_this_users_alone(kept):
    before = os.umask(0)
    try:
        key = machine_key()
    finally:
        os.umask(before)
    assert len(key) == 32 and kept.read_bytes() == key and kept.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in kept.parent.iterdir()] == [KEY_FILE]
    assert machine_key() == key == key_of_another_process()


def test_another_folder_has_another_key(kept, tmp_path, monkeypatch):
    key = machine_key()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    assert machine_key() != key


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602])
def test_a_key_that_others_may_read_or_write_is_replaced(kept, mode):
    kept.parent.mkdir(parents=True)
    kept.write_bytes(b"k" * 32)
    kept.chmod(mode)
    key = machine_key()
    assert key != b"k" * 32 and kept.read_bytes() == key and kept.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", [b"", b"k" * 31, b"k" * 33])
def test_a_key_of_another_length_is_replaced(kept, content):
    kept.parent.mkdir(parents=True)
    kept.write_bytes(content)
    kept.chmod(0o600)
    assert len(machine_key()) == 32 and kept.read_bytes() == machine_key()


def test_a_link_is_no_key_and_what_it_leads_to_stays(kept, tmp_path):
    (tmp_path / "victim").mkdir()
    planted = tmp_path / "victim" / "key"
    planted.write_bytes(b"k" * 32)
    planted.chmod(0o600)
    kept.parent.mkdir(parents=True)
    kept.symlink_to(planted)
    before = state(tmp_path / "victim")
    assert machine_key() != b"k" * 32 and state(tmp_path / "victim") == before


@pytest.mark.parametrize("what", ["folder", "pipe"])
def test_what_cannot_be_a_key_is_none(kept, what):
    kept.parent.mkdir(parents=True)
    if what == "folder":
        (kept / "x").mkdir(parents=True)
    else:
        os.mkfifo(kept)
    assert len(machine_key()) == 32 and machine_key() == machine_key()


def test_a_key_of_another_user_is_neither_believed_nor_replaced(kept, monkeypatch):
    machine_key()
    before = kept.read_bytes()
    monkeypatch.setattr(os, "getuid", lambda: kept.stat().st_uid + 1)
    assert machine_key() != before and kept.read_bytes() == before


def test_where_no_key_can_be_kept_one_of_the_process_stands_in(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    key = machine_key()
    assert len(key) == 32 and machine_key() == key != key_of_another_process()


def test_without_a_home_one_of_the_process_stands_in(monkeypatch):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr("whatchanged.signing.cache_folder", homeless)
    assert len(machine_key()) == 32 and machine_key() == machine_key()


def test_a_signature_is_of_every_text_and_of_the_key():
    key = b"k" * 32
    known = hmac.new(key, b"1:a5:\xc3\xa9\xed\xb3\xa9", hashlib.sha256).hexdigest()
    assert sign(key, "a", "é\udce9") == known and is_signed(key, known, "a", "é\udce9")
    assert not is_signed(key, known, "aé\udce9") and not is_signed(key, known, "é\udce9", "a")
    assert not is_signed(b"l" * 32, known, "a", "é\udce9")


@pytest.mark.parametrize("signature", [None, 0, "", "é", "\udce9", ["a"], True])
def test_what_is_no_signature_signs_nothing(signature):
    assert not is_signed(b"k" * 32, signature, "a")
