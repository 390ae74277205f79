"""A recorded measurement: what it says, what it does not give away, and that it is written whole."""

import argparse
import json
import platform
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
    own = bench._own_seconds()
    with pytest.raises(subprocess.TimeoutExpired):
        subprocess.run([sys.executable, "-c", turn], timeout=1)
    assert bench._own_seconds() - own > 0.2
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
