"""Fuzzing: the corpus is read without a fault, hostile changes keep a file's form, and a fault is found."""

import importlib.util
import json
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz import costs as fuzz_costs
from fuzz import formats as fuzz_formats
from fuzz import mutations as fuzz_mutations
from fuzz import one as fuzz_one
from fuzz import suite

ROOT = Path(__file__).parents[2]
needs_atheris = pytest.mark.skipif(
    importlib.util.find_spec("atheris") is None, reason="atheris is not installed, which chooses the inputs"
)


def seeds_of(name, place):
    stage = fuzz_formats.Stage(name, place)
    return stage, stage.seeds()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name",
    [
        name if name in fuzz_formats.PLAIN else pytest.param(name, marks=pytest.mark.slow)
        for name in fuzz_formats.FORMATS
    ],
)
def test_every_file_of_the_corpus_is_read(name, tmp_path):
    """As it is, cut in the middle, and called like another file of its set."""
    stage, seeds = seeds_of(name, tmp_path)
    accepted = [stage.play(seed) for seed in seeds]
    assert sum(accepted) >= len(seeds) / 2
    for number, seed in enumerate(seeds):
        stage.play(seed[: len(seed) // 2])
        stage.play(seeds[(number + 1) % len(seeds)][:2] + seed[2:])
    assert [stage.play(seed) for seed in seeds] == accepted  # all is put back


def test_an_input_changes_the_file_that_its_first_bytes_name(tmp_path):
    stage, seeds = seeds_of("references", tmp_path)
    assert [stage.file_of(seed).name for seed in seeds] == [
        "birds.jsonl",
        "coco.json",
        "lines.jsonl",
        "pcl.jsonl",
    ]
    before = {path.name: path.read_bytes() for path in stage.files}
    assert stage.play(seeds[1]) and not stage.play(seeds[1][:2] + b"nothing")
    assert {path.name: path.read_bytes() for path in stage.files} == before


def test_a_fault_is_no_refusal(tmp_path, monkeypatch):
    def broken(folder, file):
        raise ZeroDivisionError

    monkeypatch.setitem(fuzz_formats.FORMATS, "lists", broken)
    stage, seeds = seeds_of("lists", tmp_path)
    with pytest.raises(ZeroDivisionError):
        stage.play(seeds[0])


@given(st.integers(0, 2**32), st.sampled_from(["recipes", "predictions", "compare", "references", "lists"]))
def test_a_hostile_change_of_a_text_is_a_text(seed, name):
    rng = random.Random(seed)
    files = sorted(path for path in (fuzz_formats.CORPUS / name).rglob("*") if path.stat().st_size)
    content = rng.choice([path for path in files if path.is_file()]).read_bytes()
    changed = fuzz_mutations.mutated(content, rng)
    assert isinstance(changed, bytes)
    changed.decode("utf-8", "surrogatepass")


def test_a_hostile_change_of_json_is_mostly_json():
    content = b'{"a": [1, {"b": "c"}], "d": 0.5}'
    read = 0
    for seed in range(300):
        changed = fuzz_mutations.mutated(content, random.Random(seed)).decode("utf-8", "surrogatepass")
        try:
            json.loads(changed)
            read += 1
        except (ValueError, RecursionError):
            pass
    assert 150 < read < 290


def test_the_form_of_binary_files_stays(tmp_path):
    stored = fuzz_formats.CORPUS / "stored"
    shard = (stored / "grids" / "00000.safetensors").read_bytes()
    array = (fuzz_formats.CORPUS / "retrieval" / "s.npy").read_bytes()
    archive = (stored / "pool" / "00000.truth.npz").read_bytes()
    for seed in range(50):
        changed = fuzz_mutations.mutated(shard, random.Random(seed))
        length = int.from_bytes(changed[:8], "little")
        assert changed[8 : 8 + length][:1] and length < len(changed) + 1
        assert fuzz_mutations.mutated(array, random.Random(seed))[:6] == b"\x93NUMPY"
        assert fuzz_mutations.mutated(archive, random.Random(seed))[:2] == b"PK"
    assert fuzz_mutations.mutated(b"\0\xd8\xff", random.Random(0)) is None


def test_counts_are_gone_on_with_and_the_smaller_input_is_kept(tmp_path):
    for _ in range(2):
        counter = fuzz_one.Counter(tmp_path)
        for data, accepted in ((b"aaa", True), (b"bbb", False), (b"aaa", True)):
            counter.note(data, accepted, 0.5)
    for data in (b"x" * 100, b"x" * 10, b"x" * 90):
        try:
            fuzz_formats.check_lists(None, None)
        except AttributeError as error:
            counter.note_fault(data, error)
    found = suite.found_in("lists", tmp_path)
    assert (found.inputs, found.distinct, found.accepted, found.longest_seconds) == (6, 2, 4, 0.5)
    assert found.faults == ("AttributeError in formats.py, _open_data",) and found.memory_megabytes > 1
    assert found.wrong == found.faults
    kept = json.loads((tmp_path / "faults.json").read_text())[found.faults[0]]
    assert bytes.fromhex(kept["input"]) == b"x" * 10 and "Traceback" in kept["error"]


def test_what_was_counted_is_there_after_each_input(tmp_path):
    """However the process ends: nothing waits to be written."""
    counter = fuzz_one.Counter(tmp_path)
    for number in range(1, 4):
        counter.note(bytes([number]), True, 1 / 3)
        found = suite.found_in("lists", tmp_path)
        assert (found.inputs, found.distinct, found.accepted) == (number, number, number)


def test_after_a_stop_only_the_inputs_that_are_left_are_asked_for(tmp_path, monkeypatch):
    """Three processes: two are stopped by an input after 30 and 50 others, the third reads what is left."""
    asked, read = [], iter([30, 50, 20])

    def run(command, **settings):
        asked.append(int(command[command.index("--inputs") + 1]))
        counter = fuzz_one.Counter(tmp_path)
        for number in range(next(read)):
            counter.note(b"%d" % number, True, 0.0)
        if len(asked) < 3:
            (tmp_path / "stops").mkdir(exist_ok=True)
            (tmp_path / "stops" / f"oom-{len(asked)}").touch()
        return subprocess.CompletedProcess(command, 0, "", "")

    fuzz_one.Counter(tmp_path).note(b"of an earlier call", True, 0.0)
    monkeypatch.setattr(suite.subprocess, "run", run)
    found = suite.fuzz("lists", tmp_path, 60, inputs=100)
    assert asked == [100, 70, 20]
    assert found.inputs == 101 and len(found.stops) == 2


def test_too_long_an_input_and_too_large_a_process_are_faults(tmp_path):
    found = replace(suite.found_in("lists", tmp_path), longest_seconds=20.5, memory_megabytes=2050.0)
    assert found.wrong == ("20 seconds for one input", "2050 MB")


HANGING = """
import sys, time
from fuzz import formats as fuzz_formats
from fuzz import one as fuzz_one

kept = []

def greedy(folder, file):
    if b"\\x1b[2J" not in file.read_bytes():
        return
    if sys.argv[3].endswith("time"):
        time.sleep(60)
    kept.append(b"x" * 3_000_000_000)  # written, so that it takes memory
    time.sleep(5)

fuzz_formats.FORMATS["lists"] = greedy
fuzz_one.main()
"""


@pytest.mark.slow
@needs_atheris
@pytest.mark.parametrize(("name", "stop"), [("time", "timeout"), ("memory", "oom")])
def test_an_input_that_hangs_or_takes_the_memory_is_kept(tmp_path, name, stop):
    work = tmp_path / name
    command = [sys.executable, "-c", HANGING, "lists", "--work", str(work), "--inputs", "5000"]
    subprocess.run(command, cwd=ROOT / "tests", capture_output=True, timeout=400, check=False)
    (kept,) = suite.found_in("lists", work).stops
    assert kept.startswith(stop) and b"\x1b[2J" in (work / "stops" / kept).read_bytes()


PLANTED = """
import sys
from fuzz import formats as fuzz_formats
from fuzz import one as fuzz_one

def broken(folder, file):
    if b"\\x1b[2J" in file.read_bytes():
        raise ZeroDivisionError("planted")

fuzz_formats.FORMATS["lists"] = broken
fuzz_one.main()
"""


@pytest.mark.slow
@needs_atheris
def test_a_planted_fault_is_found(tmp_path):
    command = [sys.executable, "-c", PLANTED, "lists", "--work", str(tmp_path), "--inputs", "5000"]
    subprocess.run(command, cwd=ROOT / "tests", capture_output=True, timeout=200, check=False)
    found = suite.found_in("lists", tmp_path)
    assert found.faults and "ZeroDivisionError" in found.faults[0] and found.inputs
    assert np.fromfile(tmp_path / "hashes", np.uint64).size == found.inputs


@pytest.mark.slow
@needs_atheris
def test_a_minute_of_hostile_files_shows_no_fault(capsys, tmp_path):
    # so many of each format, not so long: the same inputs at each run
    code = suite.main(["--hours", "0.1", "--inputs", "1500", "--keep", str(tmp_path)])
    assert code == 0, capsys.readouterr().out
    results = {name: suite.found_in(name, tmp_path / name) for name in fuzz_formats.FORMATS}
    assert all(one.distinct > 20 and one.memory_megabytes < 2048 for one in results.values())
    assert all(one.longest_seconds < 20 for one in results.values())


def test_pictures_and_graphs_that_ask_for_much_work_keep_their_form():
    pictures, bundles = fuzz_formats.CORPUS / "pictures", fuzz_formats.CORPUS / "bundles"
    for name, start in (
        ("rgb.png", b"\x89PNG"),
        ("turned.jpg", b"\xff\xd8"),
        ("moving.gif", b"GIF8"),
        ("text.ppm", b"P"),
    ):
        content = (pictures / name).read_bytes()
        changed = {fuzz_costs.costly(content, random.Random(seed)) for seed in range(20)}
        assert len(changed) > 5 and all(one.startswith(start) for one in changed)
    graph = (bundles / "tiny" / "encoder.onnx").read_bytes()
    operators = set()
    for seed in range(40):
        model = onnx.load_from_string(fuzz_costs.costly(graph, random.Random(seed)))
        operators |= {node.op_type for node in model.graph.node} | {"f" for _ in model.functions}
    assert "f" in operators and len(operators & {*fuzz_costs.OPERATORS}) > 2
    assert fuzz_costs.costly(b"{}", random.Random(0)) is None
    assert fuzz_costs.costly(b"\x08no graph", random.Random(0)) is None
