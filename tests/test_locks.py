import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.trees import state

from whatchanged import locks
from whatchanged.errors import OutputError
from whatchanged.files import draft_of
from whatchanged.locks import locked

HOLD = """
import sys, time
from pathlib import Path
from whatchanged.files import whole
from whatchanged.locks import locked
path = Path(sys.argv[1])
with locked(path), whole(path) as draft:
    draft.write_text("half")
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the lock on ``out`` and has written half of it."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, tmp_path / "out"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_second_process_is_told_who_writes(tmp_path, holder):
    with (
        pytest.raises(OutputError, match=rf"out: process {holder.pid} on .* is writing it"),
        locked(tmp_path / "out"),
    ):
        pytest.fail("two hold one lock")
    with locked(tmp_path / "other"):
        pass


def test_a_killed_holder_holds_nobody_up_and_its_draft_goes(tmp_path, holder):
    assert len(names(tmp_path)) == 2  # lock and draft
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert len(names(tmp_path)) == 2
    with locked(tmp_path / "out"):
        assert names(tmp_path) == [".out.lock"]
    assert names(tmp_path) == []


def test_who_waits_for_a_lock_that_goes_takes_a_new_one(tmp_path):
    """The file that was opened is removed by its holder before it can be locked."""
    lock = tmp_path / ".out.lock"
    opened, real = [], os.open

    def open_late(path, flags, mode=0o777, **options):
        found = real(path, flags, mode, **options)
        if str(path) == str(lock) and not opened:
            opened.append(found)
            lock.unlink()  # as its holder does at the end
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "open", open_late)
        with locked(tmp_path / "out"):
            assert json.loads(lock.read_text())["process"] == os.getpid()
    assert names(tmp_path) == []


def test_folders_made_for_a_lock_stay_only_if_they_are_used(tmp_path):
    with locked(tmp_path / "a" / "b" / "out"):
        assert (tmp_path / "a" / "b").is_dir()
    assert names(tmp_path) == []
    with locked(tmp_path / "a" / "b" / "out"):
        (tmp_path / "a" / "kept").touch()
    assert names(tmp_path) == ["a"] and names(tmp_path / "a") == ["kept"]


def test_a_link_and_what_it_leads_to_are_one_place(tmp_path):
    (tmp_path / "real").touch()
    (tmp_path / "link").symlink_to("real")
    with (
        locked(tmp_path / "real"),
        pytest.raises(OutputError, match="link: process"),
        locked(tmp_path / "link"),
    ):
        pytest.fail("two hold one lock")


def test_a_pipe_is_nobodys(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with locked(tmp_path / "pipe"), locked(tmp_path / "pipe"):
        assert names(tmp_path) == ["pipe"]


def test_a_folder_that_is_a_file_is_named(tmp_path):
    (tmp_path / "file").touch()
    with (
        pytest.raises(OutputError, match=r"file/out: cannot be written \("),
        locked(tmp_path / "file" / "out"),
    ):
        pytest.fail("nothing can lie there")


def test_drafts_of_living_processes_and_of_other_machines_stay(tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    own = draft_of(tmp_path / "run")
    host = own.name.removeprefix(".run.").partition(f"-{os.getpid()}")[0]
    kept = {own.name, f".run.elsewhere-{dead.pid}.draft", f".runner.{host}-{dead.pid}.draft"}
    gone = f".run.{host}-{dead.pid}.draft"
    for name in (*kept, gone):
        (tmp_path / name).mkdir()
    inner = tmp_path / "run" / "checkpoints" / f".last.{host}-{dead.pid}.draft"
    inner.parent.mkdir(parents=True)
    inner.touch()
    with locked(tmp_path / "run"):
        pass
    assert set(names(tmp_path)) == {*kept, "run"} and not inner.exists()


@pytest.mark.parametrize("came", [False, True])
def test_a_folder_that_gave_way_to_one_that_never_came_is_back(tmp_path, came):
    """As a process leaves it that is killed between the two renames of a replacement."""
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    model = tmp_path / "model"
    draft = draft_of(model).name.replace(f"-{os.getpid()}.", f"-{dead.pid}.")
    (tmp_path / draft).mkdir()
    old = (tmp_path / draft).with_suffix(".replaced")
    old.mkdir()
    (old / "bundle.json").write_text("old")
    if came:
        model.mkdir()
        (model / "bundle.json").write_text("new")
    with locked(model):
        pass
    assert names(tmp_path) == ["model"]
    assert (model / "bundle.json").read_text() == ("new" if came else "old")


def test_two_captionings_of_one_output_do_not_mix(bundle_folder, pictures, tmp_path, whatchanged):
    """The first is held up while it writes; the second, with --force, is refused and changes nothing."""
    (tmp_path / "pairs.csv").write_text("before,after\n" + "before.png,after.png\n" * 3)
    out = tmp_path / "out.jsonl"
    program = (
        "import sys, time, whatchanged.captions.one_by_one as run; line = run._line;"
        "run._line = lambda *given: (print('writing', flush=True), time.sleep(60), line(*given))[2];"
        "from whatchanged.cli import main; main()"
    )
    arguments = ["caption", str(tmp_path / "pairs.csv"), "-o", str(out), "--model", str(bundle_folder)]
    first = subprocess.Popen([sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE, text=True)
    try:
        assert first.stdout.readline() == "writing\n"
        code, _, err = whatchanged(*arguments, "--force")
        assert code == 2 and f"process {first.pid} on" in err and "caption" in err
        first.kill()
        first.wait()
        began = time.monotonic()
        assert whatchanged(*arguments, "--force")[0] == 0 and time.monotonic() - began < 30
    finally:
        first.kill()
        first.wait()
        first.stdout.close()
    assert len(out.read_text().splitlines()) == 3
    assert not [name for name in names(tmp_path) if name.startswith(".")]


@pytest.mark.parametrize("option", ["--json", "--html", "--markdown"])
def test_commands_that_write_at_the_end_hold_their_outputs_from_the_beginning(tmp_path, whatchanged, option):
    (tmp_path / "pairs.jsonl").write_text('{"before": "a", "after": "b", "captions": ["a cube"]}\n')
    (tmp_path / "said.jsonl").write_text('{"id": "1", "caption": "a cube", "no_change": 0.5}\n')
    out = tmp_path / "report"
    arguments = ("evaluate", tmp_path / "said.jsonl", tmp_path / "pairs.jsonl", option, out, "--no-java")
    with locked(out):
        code, _, err = whatchanged(*arguments)
    assert code == 2 and f"report: process {os.getpid()} on" in err and not out.exists()
    assert whatchanged(*arguments)[0] == 0 and out.exists()


@pytest.mark.parametrize(
    "where", ["_make_folders", "_take", "_sign", "clear_drafts", "_release", "_remove_empty"]
)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_a_lock_is_taken_or_left_leaves_nothing(tmp_path, monkeypatch, where, number):
    class Heard(BaseException):
        pass

    def heard(*_):
        raise Heard

    real = getattr(locks, where)

    def struck(*given):
        signal.raise_signal(number)
        return real(*given)

    monkeypatch.setattr(locks, where, struck)
    before = signal.signal(number, heard)
    try:
        with pytest.raises(Heard), locked(tmp_path / "a" / "out"):
            pass
        assert signal.getsignal(number) is heard
    finally:
        signal.signal(number, before)
    assert names(tmp_path) == []
    monkeypatch.undo()
    with locked(tmp_path / "a" / "out"):
        pass


def plant(lock, victim, what):
    """Put something where a lock would go."""
    if what == "link":
        lock.symlink_to(victim)
    elif what == "link to nothing":
        lock.symlink_to(victim.with_name("new.txt"))
    elif what == "hard link":
        os.link(victim, lock)
    elif what == "folder":
        lock.mkdir()
    elif what == "pipe":
        os.mkfifo(lock)
    elif what == "socket":
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(str(lock))
    else:
        lock.write_text(what)


@pytest.mark.parametrize(
    "what",
    [
        "link",
        "link to nothing",
        "hard link",
        "folder",
        "pipe",
        "socket",
        "hello",
        '{"host": "a"}',
        "[]",
        "[" * 9999,
    ],
)
def test_what_others_put_in_the_place_of_a_lock_is_neither_followed_nor_written_nor_removed(
    tmp_path, monkeypatch, what
):
    monkeypatch.chdir(tmp_path)  # a socket's name is short
    victim = tmp_path / "victim.txt"
    victim.write_text("mine")
    plant(Path(".out.lock"), victim, what)
    before = state(tmp_path)
    with (
        pytest.raises(OutputError, match=r"\.out\.lock: this has the name of a lock") as refused,
        locked(tmp_path / "out"),
    ):
        pytest.fail("it was taken")
    assert "remove it, or choose another name" in str(refused.value)
    assert state(tmp_path) == before


@pytest.mark.parametrize("content", ["", '{"host": "h", "process": 1, "since": "s", "command": "c"}'])
def test_a_lock_that_a_killed_process_left_is_taken(tmp_path, content):
    (tmp_path / ".out.lock").write_text(content)
    with locked(tmp_path / "out"):
        assert json.loads((tmp_path / ".out.lock").read_text())["process"] == os.getpid()
    assert names(tmp_path) == []


def test_a_lock_of_a_long_command_is_known_again(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["whatchanged", "é\n" * 100_000])
    lock = tmp_path / ".out.lock"
    with locked(tmp_path / "out"):
        left = lock.read_bytes()
    lock.write_bytes(left)
    with locked(tmp_path / "out"):
        pass
    assert names(tmp_path) == []


def test_a_lock_that_another_process_has_by_now_stays(tmp_path):
    with locked(tmp_path / "out"):
        (tmp_path / ".out.lock").unlink()  # as a person does who takes it for a leftover
        (tmp_path / ".out.lock").write_text("another's")
    assert (tmp_path / ".out.lock").read_text() == "another's"


def test_an_output_folder_with_a_link_that_leads_out_is_refused_with_nothing_changed(tmp_path):
    (tmp_path / "victim.txt").write_text("mine")
    (tmp_path / "out" / "old").mkdir(parents=True)
    (tmp_path / "out" / "old" / "a.png").symlink_to("../../victim.txt")
    before = state(tmp_path)
    with (
        pytest.raises(OutputError, match=r"old/a\.png: this link in an output folder leads out"),
        locked(tmp_path / "out"),
    ):
        pytest.fail("it was taken")
    assert state(tmp_path) == before


def test_an_output_that_is_a_link_to_elsewhere_is_refused_with_nothing_changed(tmp_path):
    (tmp_path / "victim").mkdir()
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "out").symlink_to("../victim")
    before = state(tmp_path)
    with pytest.raises(OutputError, match="name that folder itself"), locked(tmp_path / "work" / "out"):
        pytest.fail("it was taken")
    assert state(tmp_path) == before


def test_a_signal_just_before_signals_wait_leaves_nothing(tmp_path, monkeypatch):
    """The handler raises when the lock is about to be left, once."""
    waits, entered = locks._signals_wait, []

    def late():
        entered.append(None)
        if len(entered) == 2:
            raise SystemExit(143)
        return waits()

    monkeypatch.setattr(locks, "_signals_wait", late)
    with pytest.raises(SystemExit), locked(tmp_path / "out"):
        pass
    assert state(tmp_path) == {}
    with locked(tmp_path / "out"):  # it is free again
        pass
