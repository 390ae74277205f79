"""The kill suite: it sees what is torn, left or alive; and a few stops of real commands lose nothing."""

import contextlib
import random
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from kills import outputs as kill_outputs
from kills import processes as kill_processes
from kills import suite
from kills.commands import COMMANDS, Command

KINDS = ("whole", "grows", "parts", "run", "replaced")
GROWING = Command("c", (), ("out.jsonl", "out.jsonl.meta.json"), kind="grows")
FOLDER = Command("s", (), ("twin",))
EXPECTED = {"out.jsonl": b"one\ntwo\n", "out.jsonl.meta.json": b"{}"}


def write(folder, **files):
    for name, content in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def test_a_growing_file_may_be_a_beginning_and_no_other_file_may(tmp_path):
    out, meta = tmp_path / "out.jsonl", tmp_path / "out.jsonl.meta.json"
    for content, wrong in ((b"one\n", []), (b"one\nt", []), (b"two\n", ["out.jsonl"])):
        out.write_bytes(content)
        assert kill_outputs.torn(GROWING, tmp_path, EXPECTED, {}) == wrong
    out.write_bytes(b"")
    meta.write_bytes(b"{")
    assert kill_outputs.torn(GROWING, tmp_path, EXPECTED, {}) == ["out.jsonl.meta.json"]
    assert kill_outputs.torn(GROWING, tmp_path, EXPECTED, {"out.jsonl.meta.json": b"{"}) == []
    assert kill_outputs.differences(GROWING, tmp_path, EXPECTED) == ["out.jsonl", "out.jsonl.meta.json"]


def test_a_folder_is_there_with_all_its_files_or_not_at_all(tmp_path):
    expected = {"twin/a": b"1", "twin/sub/b": b"2"}
    assert kill_outputs.torn(FOLDER, tmp_path, expected, {}) == []
    write(tmp_path, twin__a=b"1")
    assert kill_outputs.torn(FOLDER, tmp_path, expected, {}) == ["twin/sub/b"]
    write(tmp_path, twin__sub__b=b"2", other=b"")
    assert kill_outputs.torn(FOLDER, tmp_path, expected, {}) == []
    assert kill_outputs.differences(FOLDER, tmp_path, expected) == ["other"]


def test_what_is_there_meanwhile_is_whole_json_and_goes(tmp_path):
    command = Command("s", (), ("set",), kind="parts", meanwhile=("set/parts/*.jsonl",))
    expected = {"set/pairs.jsonl": b'{"a": 1}\n'}
    for content, wrong in ((b'{"a": 1}\n', []), (b'{"a": 1}\n{"b"', ["set/parts/0.jsonl"])):
        write(tmp_path, **{"set__parts__0.jsonl": content})
        assert kill_outputs.torn(command, tmp_path, expected, {}) == wrong
    assert "set/parts/0.jsonl" in kill_outputs.differences(command, tmp_path, expected)


def test_a_picture_that_is_replaced_is_old_or_new_whole_and_keeps_its_rights(tmp_path):
    command = Command("a", (), ("base",), kind="replaced", first=("compare",), beside=("report",))
    write(tmp_path, base__1=b"old", base__2=b"old", report__x=b"")
    (tmp_path / "base/2").chmod(0o600)
    before = kill_outputs.snapshot(command, tmp_path)
    write(tmp_path, base__1=b"new", base__2=b"new")
    expected = kill_outputs.snapshot(command, tmp_path)
    assert kill_outputs.differences(command, tmp_path, expected) == []
    write(tmp_path, base__1=b"old")
    assert kill_outputs.torn(command, tmp_path, expected, before) == []
    (tmp_path / "base/2").chmod(0o640)
    write(tmp_path, base__1=b"ol")
    assert sorted(kill_outputs.torn(command, tmp_path, expected, before)) == ["base/1", "base/2"]
    (tmp_path / "base/1").unlink()
    assert "base/1" in kill_outputs.torn(command, tmp_path, expected, before)


def test_drafts_and_locks_are_seen_wherever_they_lie(tmp_path):
    (tmp_path / "pool").mkdir()
    for name in (".out.lock", "pool/.00000.host-1.draft", "page.html"):
        (tmp_path / name).write_text("")
    assert kill_outputs.hidden(tmp_path) == [".out.lock", "pool/.00000.host-1.draft"]


def test_a_process_that_lives_on_is_found_and_ended(monkeypatch):
    monkeypatch.setattr(kill_processes, "GRACE", 0.2)
    process = subprocess.Popen(["sleep", "60"], start_new_session=True)
    assert kill_processes.left_of(SimpleNamespace(pid=process.pid)) == [process.pid]
    assert process.wait(10) == -9
    assert kill_processes.left_of(SimpleNamespace(pid=process.pid)) == []


def test_every_command_has_another_name_and_writes_something():
    assert len({command.name for command in COMMANDS}) == len(COMMANDS)
    assert all(command.outputs and command.kind in KINDS for command in COMMANDS)


def bench_of(name, folder):
    suite.draw_inputs(folder / "inputs")
    command = next(command for command in COMMANDS if command.name == name)
    return suite.prepare(command, folder, execute=False)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_files_that_are_not_written_whole_are_seen(tmp_path, monkeypatch):
    """The same command with a fault planted: it writes to the place itself."""
    made = bench_of("dataset --html", tmp_path)

    @contextlib.contextmanager
    def at_once(path):
        yield path

    monkeypatch.setattr("whatchanged.files.whole", at_once)
    tally = suite.Tally()
    for seed in range(4):
        suite.trial(made, "full", random.Random(seed), tally)
    assert tally.trials["full"] and any("torn: page.html" in fault for fault in tally.faults), tally


@pytest.mark.slow
@pytest.mark.parametrize("name", ["caption", "describe --heatmap", "evaluate", "compare", "accept"])
def test_what_is_stopped_loses_nothing(name):
    """In a process of its own: its commands are copies of a process that has run no other tests."""
    folder = str(Path(suite.__file__).parent)
    command = [sys.executable, folder, "--count", "6", "--commands", name, "--seed", "1"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "faults 0" in ran.stdout and name in ran.stdout


def test_counts_of_one_commit_stand_side_by_side(tmp_path, monkeypatch):
    monkeypatch.setattr(suite, "code_that_runs", lambda: SimpleNamespace(commit="one", changed=[]))
    monkeypatch.setattr("benchmarks.record.code_that_runs", suite.code_that_runs)
    for name, count in (("caption", 1), ("train", 2), ("caption", 3)):
        suite.record("kills", {"command": name, "stopped": count}, f"kills {name}", tmp_path)
    found = suite.read_result(tmp_path / "kills.json")
    assert [(row["command"], row["stopped"]) for row in found.figures["rows"]] == [
        ("train", 2),
        ("caption", 3),
    ]
    assert list(found.command) == ["kills caption", "kills train"]
    monkeypatch.setattr(suite, "code_that_runs", lambda: SimpleNamespace(commit="two", changed=[]))
    suite.record("kills", {"command": "export", "stopped": 4}, "kills export", tmp_path)
    assert [row["command"] for row in suite.read_result(tmp_path / "kills.json").figures["rows"]] == [
        "export"
    ]


def test_the_recorded_command_names_the_kinds_that_were_chosen():
    every = [command.name for command in COMMANDS]
    asked = SimpleNamespace(count=9, seed=2, commands=every, kinds=list(suite.KINDS), execute=False)
    assert suite._typed(asked) == "python tests/kills --count 9 --seed 2"
    asked.kinds = ["full", "two"]
    assert suite._typed(asked) == "python tests/kills --count 9 --seed 2 --kinds full two"
