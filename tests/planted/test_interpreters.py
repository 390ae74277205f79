"""Interpreters that are started in a planted folder: workers of the library's users, and ``python -m``."""

import sys

import pytest

SCRIPT = """
import os, sys
from helper import double
from whatchanged.processes import start_process, worker_pool

def work(number):
    import json, pickle, statistics, tomllib  # looked for in the worker
    return double(number), os.environ["PYTHONSAFEPATH"]

def write(path):
    with open(path, "w") as file:
        file.write(str(double(4)))

if __name__ == "__main__":
    before = dict(os.environ)
    with worker_pool(2) as pool:
        print(list(pool.map(work, range(4))))
    process = start_process(write, (sys.argv[1],))
    process.join(60)
    print(open(sys.argv[1]).read(), dict(os.environ) == before)
"""
EXPECTED = "[(0, '1'), (2, '1'), (4, '1'), (6, '1')]\n8 True\n"


@pytest.fixture
def script(planted):
    """A person's script with a module beside it, elsewhere than in the working directory."""
    folder = planted.root / "elsewhere"
    folder.mkdir()
    (folder / "helper.py").write_text("def double(number):\n    return 2 * number\n")
    (folder / "script.py").write_text(SCRIPT)
    return folder / "script.py"


def test_workers_find_the_scripts_modules_and_none_of_the_working_directory(planted, script):
    planted.plant_code()
    written = str(planted.root / "written")
    ran = planted.run(written, start=[sys.executable, str(script)], seconds=120, watch=False)
    planted.check()
    assert (ran.code, ran.out) == (0, EXPECTED), ran.err


def test_a_script_in_the_working_directory_works_with_its_own_modules(planted, script):
    """What lies beside a script is its own: it is found, by the script and by its workers."""
    for path in script.parent.iterdir():
        path.rename(planted.here / path.name)
    written = str(planted.root / "written")
    ran = planted.run(written, start=[sys.executable, "script.py"], seconds=120, watch=False)
    assert (ran.code, ran.out) == (0, EXPECTED), ran.err


LATER = ("typer.py", "pickle.py", "numpy", "onnxruntime.py", "PIL", "evil.py", "evil-1.0.dist-info")
"""What Python has not looked for when our ``__main__`` begins."""


DESCRIBE = ("describe", "in/old/01.png", "in/new/01.png", "--exit-code")
COMPARE = ("compare", "in/old", "in/new", "-o", "report", "--workers", "2", "--quiet")


@pytest.mark.parametrize(
    ("safe", "command"),
    [
        ((), DESCRIBE),
        pytest.param((), COMPARE, marks=pytest.mark.slow),
        pytest.param(("-P",), COMPARE, marks=pytest.mark.slow),
    ],
)
def test_python_m_imports_nothing_planted_from_our_first_line_on(planted, inputs, safe, command):
    inputs(planted.here)
    planted.plant_code(planted.root / "all")
    for name in LATER:
        (planted.root / "all" / name).rename(planted.here / name)
    program = [sys.executable, *safe, "-m", "whatchanged"]
    ran = planted.run(*command, start=program, seconds=120, watch=False)
    planted.check()
    assert ran.code == 1, ran.err
