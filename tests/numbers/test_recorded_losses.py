"""Shrunk recipes reach the losses that were recorded: no change of the code changes a number unnoticed.

``losses.json`` holds what every step logged. After a change that is meant to change numbers, record anew:

    python tests/numbers/test_recorded_losses.py

Bit for bit, two versions of the code are compared by ``python -m benchmarks.same_numbers``. Here processors
may differ, which add in another order: all are asked for the same instructions, bfloat16 is switched off, and
``ALLOWED`` remains, since twenty steps of learning make a last digit larger.
"""

import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RECORDED = Path(__file__).with_name("losses.json")
CASES = {
    "clevr-pcl": 5,
    "clevr-see": 20,
    "clip4idc-clevr-ft1": 20,
    "clip4idc-clevr-paper": 20,
    "own-features": 20,
    "own-finetune": 20,
    "pcl-clevr-paper": 20,
    "pcl-table5-4-b2w-cub-nabirds": 20,
    "scorer-table6-1-subtraction": 20,
    "scorer-table6-3-scorer": 20,
}
"""Steps of each stage. Rounding grows with the steps, in the shipped model the fastest."""
SAME_INSTRUCTIONS = {
    "ATEN_CPU_CAPABILITY": "avx2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "MKL_CBWR": "COMPATIBLE",
}
"""Variables by which PyTorch's libraries compute on every x86-64 processor what they do on older ones."""
ALLOWED = 1e-3
"""Between two makers' processors, each with its newest instructions, 2e-4 of a loss was seen."""


def measure(folder):
    """What this tree logs for every case, and a hash of the data that it drew for them."""
    from benchmarks.same_numbers import environment, make_data

    make_data(folder / "data", ROOT)
    variables = environment(ROOT / "src") | SAME_INSTRUCTIONS
    results = {}
    for steps in sorted(set(CASES.values())):
        names = [name for name, length in CASES.items() if length == steps]
        command = [sys.executable, "-m", "benchmarks.same_numbers_tree", "--data", folder / "data"]
        command += ["--out", folder / str(steps), "--steps", str(steps), "--fp32"]
        command += [part for name in names for part in ("--recipe", name)]
        subprocess.run(command, check=True, cwd=ROOT, env=variables, capture_output=True)
        runs = json.loads((folder / str(steps) / "numbers.json").read_text())["recipes"]
        results |= {name: run.get("lines", run.get("failed")) for name, run in runs.items()}
    return {"data": data_hash(folder / "data"), "recipes": results}


def data_hash(data):
    """One hash of the pictures and sentences."""
    digest = hashlib.sha256()
    for pattern in ("*.png", "*.jpg", "*_captions.json"):
        for path in sorted(data.rglob(pattern)):
            digest.update(path.read_bytes())
    digest.update((data / "pool" / "00000.pictures.npy").read_bytes())
    return digest.hexdigest()[:16]


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    return measure(tmp_path_factory.mktemp("numbers"))


@pytest.fixture(scope="module")
def recorded():
    return json.loads(RECORDED.read_text())


@pytest.mark.slow
def test_the_data_are_those_of_the_recording(measured, recorded):
    assert measured["data"] == recorded["data"]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(CASES))
def test_every_logged_number_is_the_recorded_one(name, measured, recorded):
    lines, wanted = measured["recipes"][name], recorded["recipes"][name]
    assert not isinstance(lines, str), lines
    assert len(lines) == len(wanted)
    for line, expected in zip(lines, wanted, strict=True):
        assert line.pop("stage") == expected.pop("stage")
        assert line == pytest.approx(expected, rel=ALLOWED, abs=ALLOWED)


def record():
    """Write the recording."""
    with tempfile.TemporaryDirectory() as folder:
        numbers = measure(Path(folder))
    lines = [
        f"  {json.dumps(name)}: [\n" + ",\n".join(f"    {json.dumps(line)}" for line in found) + "\n  ]"
        for name, found in numbers["recipes"].items()
    ]
    text = f'{{\n "data": {json.dumps(numbers["data"])},\n "recipes": {{\n' + ",\n".join(lines) + "\n }\n}\n"
    RECORDED.write_text(text)


if __name__ == "__main__":
    record()
