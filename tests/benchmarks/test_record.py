"""A recorded measurement: what it says, what it does not give away, and that it is written whole."""

import argparse
import ast
import json
import platform
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPT = "record"


def test_a_result_is_read_back_as_it_was_written(bench, tmp_path):
    path = bench.write_result("speed", "rows", {"rows": [{"a": 1 / 3}]}, folder=tmp_path, seeds={"noise": 4})
    result = bench.read_results(tmp_path)["speed"]
    assert path == tmp_path / "speed.json" and [p.name for p in tmp_path.iterdir()] == ["speed.json"]
    assert (result.name, result.kind, result.seeds) == ("speed", "rows", {"noise": 4})
    assert result.figures == {"rows": [{"a": 1 / 3}]}  # unrounded
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=bench.ROOT, capture_output=True, text=True)
    assert result.commit == head.stdout.strip()


def test_it_names_no_host_and_no_folder(bench, tmp_path, monkeypatch):
    monkeypatch.setenv("BLENDER_DEV", str(tmp_path / "secret" / "scenes"))
    (tmp_path / "secret" / "scenes").mkdir(parents=True)
    script = bench.ROOT / "benchmarks" / "speed.py"
    given = [str(tmp_path / "secret" / "scenes"), str(tmp_path / "secret" / "out"), "--runs", "3"]
    monkeypatch.setattr(sys, "argv", [str(script), *given, "--record", "fast"])
    path = bench.write_result("fast", "rows", {}, folder=tmp_path)
    text = path.read_text()
    assert json.loads(text)["command"] == ["python -m benchmarks.speed $BLENDER_DEV out --runs 3"]
    assert "secret" not in text and str(Path.home()) not in text
    assert not platform.node() or platform.node() not in text


@pytest.fixture
def typed(bench, tmp_path, monkeypatch):
    """The command that is recorded for these arguments; BLENDER_DEV is the folder ``scenes``."""
    monkeypatch.setenv("BLENDER_DEV", str(tmp_path / "scenes"))

    def command(*arguments):
        monkeypatch.setattr(sys, "argv", [str(bench.ROOT / "benchmarks" / "speed.py"), *arguments])
        return bench.command_line()

    return command


def test_a_recorded_command_can_be_typed(typed, tmp_path):
    """A shell splits it into the same arguments; a variable is bare, so that a shell reads it."""
    words = ["--only", "JPEG, quality 30", "it's", "", "a*", "cost $HOME", "--rows", "pcl=.0015,scorer=.003"]
    assert shlex.split(typed(*words)) == ["python", "-m", "benchmarks.speed", *words]
    assert typed("--only", "JPEG, quality 30").endswith(" --only 'JPEG, quality 30'")
    scenes = tmp_path / "scenes"
    assert typed(str(scenes), f"test={scenes}").endswith(" $BLENDER_DEV test=$BLENDER_DEV")
    assert typed(f"near=/home/me/near,far={scenes}").endswith(" near=near,far=$BLENDER_DEV")


def test_pythons_of_environments_keep_the_environments_name(typed, tmp_path):
    pythons = []
    for version in ("3.8", "3.10"):
        (tmp_path / version / "bin").mkdir(parents=True)
        (tmp_path / version / "pyvenv.cfg").touch()
        pythons.append(str(tmp_path / version / "bin" / "python"))
    assert typed(",".join(pythons)).endswith(" 3.8/bin/python,3.10/bin/python")
    assert typed("/usr/bin/python,/home/me/python").endswith(" python,python")


@pytest.mark.parametrize("given", [["--record"], ["--record", "fast"], ["--record=fast"]])
def test_a_recorded_command_says_nothing_of_its_record(typed, given):
    assert typed("out", *given, "--runs", "3") == "python -m benchmarks.speed out --runs 3"


def test_each_benchmark_is_recorded_under_its_own_name(bench):
    """By the option that all have, which asks for the commit before anything that takes long.

    Of a room of several the results are told apart by its name: ``screen_causes``; its main one has it alone.
    """
    names = {}
    for path in sorted((bench.ROOT / "benchmarks").rglob("*.py")):
        calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        for call in calls:
            if getattr(call.func, "id", "") == "add_record_option":
                names[path] = getattr(call.args[1], "value", path.stem)  # else a name of the script
            if getattr(call.func, "attr", "") == "add_argument":
                assert call.args[0].value != "--record" or path.stem == "record", path
    assert len(names) > 25 and len(set(names.values())) == len(names)
    for path, name in names.items():
        assert name in (path.stem, path.parent.name, f"{path.parent.name.rstrip('s')}_{path.stem}"), path


def test_a_command_names_the_room_of_its_script(bench, monkeypatch):
    for script, start in (
        ("benchmarks/speed/operations.py", "python -m benchmarks.speed.operations"),
        ("benchmarks/learning/__main__.py", "python -m benchmarks.learning"),
        ("tests/fuzz/__main__.py", "python tests/fuzz"),
        ("tools/fit/gate.py", "gate.py"),
    ):
        monkeypatch.setattr(sys, "argv", [str(bench.ROOT / script), "--runs", "3"])
        assert bench.command_line() == f"{start} --runs 3"


def test_figures_that_json_cannot_hold_leave_what_was_there(bench, tmp_path):
    bench.write_result("speed", "rows", {"a": 1}, folder=tmp_path)
    with pytest.raises(ValueError):
        bench.write_result("speed", "rows", {"a": float("nan")}, folder=tmp_path)
    assert bench.read_results(tmp_path)["speed"].figures == {"a": 1}
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    ("text", "words"), [("[]", "format"), ('{"format": 9}', "format"), ('{"format": 1}', "calls itself")]
)
def test_another_file_is_refused(text, words, bench, tmp_path):
    (tmp_path / "odd.json").write_text(text)
    with pytest.raises(ValueError, match=words):
        bench.read_results(tmp_path)


@pytest.mark.skipif(not Path("/proc/stat").exists(), reason="no /proc/stat")
def test_other_work_is_seen_and_own_work_is_not(bench):
    """A process that has ended is our own work; one that still runs counts as somebody else's."""
    turn = "while True: pass"
    own = bench.own_seconds()
    with pytest.raises(subprocess.TimeoutExpired):
        subprocess.run([sys.executable, "-c", turn], timeout=1)
    assert bench.own_seconds() - own > 0.2
    with subprocess.Popen([sys.executable, "-c", turn]) as other:
        with bench.Watch() as watch:
            time.sleep(2)
        other.kill()
    assert watch.other_load > 0.2


def test_the_option_names_the_file(bench):
    parser = argparse.ArgumentParser()
    bench.add_record_option(parser, "speed")
    assert parser.parse_args([]).record is None
    assert parser.parse_args(["--record"]).record == "speed"
    assert parser.parse_args(["--record", "fast"]).record == "fast"
