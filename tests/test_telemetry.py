"""Libraries that report home are told not to before they are imported."""

import os
import subprocess
import sys

import pytest

from whatchanged.telemetry import SWITCHES

IMPORT = (
    "import os; from whatchanged import telemetry; telemetry.import_silent({!r}); print(dict(os.environ))"
)


def variables(library, **own):
    """The variables of a new process after it has imported a library."""
    given = {name: value for name, value in os.environ.items() if name not in SWITCHES}
    done = subprocess.run(
        [sys.executable, "-c", IMPORT.format(library)],
        env={**given, **own},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    if "ModuleNotFoundError" in done.stderr:
        pytest.skip(f"{library} is not installed")
    assert done.returncode == 0, done.stderr
    return eval(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("library", ["onnxruntime", "ray"])
def test_nothing_is_written_into_the_home_folder(library, tmp_path):
    found = variables(library, HOME=str(tmp_path), MPLCONFIGDIR=str(tmp_path / "ours"))
    assert {name: found[name] for name in SWITCHES} == SWITCHES
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_what_a_person_chose_stays(tmp_path):
    found = variables("onnxruntime", HOME=str(tmp_path), ORT_DISABLE_TELEMETRY="0")
    assert found["ORT_DISABLE_TELEMETRY"] == "0"


def test_it_is_switched_off_before_the_import(tmp_path):
    """A stand-in for the library notes what it sees as it is imported."""
    (tmp_path / "onnxruntime.py").write_text("import os\nSEEN = os.environ.get('ORT_DISABLE_TELEMETRY')\n")
    program = "from whatchanged import telemetry; print(telemetry.import_silent('onnxruntime').SEEN)"
    given = {name: value for name, value in os.environ.items() if name not in SWITCHES}
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**given, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout == "1\n"
