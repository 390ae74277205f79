"""The GitHub action, its steps run by bash in a checkout that a stranger's pull request has prepared.

By default the steps run without an installation, in a virtual environment that borrows this one's packages;
the slow test installs the package from this folder as the action does, by pip.
"""

import os
import re
import subprocess
import sys
import sysconfig
import textwrap
from pathlib import Path

import pytest
from PIL import Image

ROOT = Path(__file__).parents[2]
SHELL = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c")
"""As GitHub calls it."""


def steps():
    """Name -> script of every step; read by the few forms that the file has."""
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    parts = re.split(r"^    - name: ", text, flags=re.MULTILINE)[1:]
    return {part.split("\n")[0]: textwrap.dedent(part.split("run: |\n")[1]) for part in parts}


def defaults():
    """The variables that a step has where no input is given, without GitHub's own expressions."""
    given = {"OLD": "", "NEW": "", "REVISION": "HEAD", "OUTPUT": "out", "FAIL_ON": "changed"}
    return {**given, "ARGUMENTS": "", "PACKAGE": "", "EXTRAS": "", "PYTHONSAFEPATH": "1"}


@pytest.fixture
def environment(tmp_path):
    """The programs of a virtual environment that has the package, without pip."""
    subprocess.run([sys.executable, "-I", "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    (site,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    (site / "borrowed.pth").write_text(f"{ROOT / 'src'}\n{sysconfig.get_paths()['purelib']}\n")
    program = tmp_path / "venv/bin/whatchanged"
    start = "from whatchanged.cli import main\n\nif __name__ == '__main__':\n    main()\n"
    program.write_text(f"#!{tmp_path}/venv/bin/python\n{start}")
    program.chmod(0o755)
    return program.parent


@pytest.fixture
def checkout(planted):
    """Planted folders of pictures, of which one differs by what only ``--strict`` counts."""
    for side, grey in (("old", 100), ("new", 101)):
        (planted.here / f"{side} pictures").mkdir()
        for number in range(17):
            picture = Image.new("RGB", (64, 48), (100, 100, 100))
            if number == 3:
                picture.putpixel((20, 20), (grey, grey, grey))
            picture.save(planted.here / f"{side} pictures" / f"{number}.png")
    planted.plant_code()
    return planted


def run(planted, step, **inputs):
    """Run a step in the checkout: exit code, what it said."""
    temporary = planted.root / "runner"
    temporary.mkdir(exist_ok=True)
    (planted.root / "output").touch()
    given = {
        **planted.variables(),
        **defaults(),
        "PATH": os.environ["PATH"],  # set by the job; the checkout is not on it
        "PYTHONPATH": f".:{planted.here}",  # as a job sets it for its own tests
        "RUNNER_TEMP": str(temporary),
        "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_OUTPUT": str(planted.root / "output"),
        "GITHUB_STEP_SUMMARY": str(planted.root / "summary"),
        "OLD": "old pictures",
        "NEW": "new pictures",
        **inputs,
    }
    done = subprocess.run(
        [*SHELL, steps()[step]],
        cwd=planted.here,
        env=given,
        capture_output=True,
        text=True,
        check=False,
        timeout=540,
    )
    return done.returncode, done.stdout + done.stderr


def test_nothing_of_the_checkout_is_run_and_every_line_of_the_arguments_counts(checkout, environment):
    programs = str(environment)
    code, said = run(checkout, "Compare", PROGRAMS=programs, ARGUMENTS="--quiet\n--workers 2 --strict\n")
    checkout.check()
    assert code == 1, said
    assert "3.png" in (checkout.root / "summary").read_text()


@pytest.mark.slow
def test_without_that_line_nothing_has_changed(checkout, environment):
    code, said = run(checkout, "Compare", PROGRAMS=str(environment), ARGUMENTS="--quiet")
    checkout.check()
    assert code == 0, said


def test_a_summary_that_is_a_link_is_not_shown(checkout, environment):
    """A step's summary can be read by everybody; a link could name any file of the runner."""
    (checkout.here / "out").mkdir()
    (checkout.here / "out/summary.md").symlink_to(checkout.victim / "file")
    run(checkout, "Compare", PROGRAMS=str(environment), ARGUMENTS='--ignore "no end')
    summary = checkout.root / "summary"
    assert not summary.exists() or "led astray" not in summary.read_text()
    checkout.check()


def test_an_output_that_is_a_link_is_refused(checkout, environment):
    (checkout.here / "out").symlink_to(checkout.victim / "folder")
    code, said = run(checkout, "Compare", PROGRAMS=str(environment))
    assert (code, said) == (
        2,
        "whatchanged: the output out is a link. Remove it, or name another folder.\n",
    )
    checkout.check()


@pytest.mark.parametrize("extras", ["--index-url=x", "text]", "$(touch ran)", "text;ran", "text\nran", ","])
def test_extras_that_are_no_names_are_one_message(checkout, extras):
    code, said = run(checkout, "Install", EXTRAS=extras)
    checkout.check()
    assert code == 2
    assert said == "whatchanged: the input extras should be names divided by commas, for example: text\n"
    assert list((checkout.root / "runner").iterdir()) == []


@pytest.fixture
def stand_in(planted):
    """A program ``python3`` that makes no environment but notes what is asked of pip; and its notes."""
    folder, notes = planted.root / "stand-in", planted.root / "notes"
    folder.mkdir()
    making = f'mkdir -p "$4/bin"; cp "{folder}/python" "$4/bin/python"'
    (folder / "python").write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > '{notes}'\n")
    (folder / "python3").write_text(f"#!/bin/sh\n{making}\n")
    for program in folder.iterdir():
        program.chmod(0o755)
    return folder, notes


@pytest.mark.parametrize(
    ("package", "extras", "wanted"),
    [
        ("", "", [str(ROOT)]),
        ("", "text", [str(ROOT), "whatchanged[text]"]),
        ("whatchanged==0.2.0", "text, scale", ["whatchanged==0.2.0", "whatchanged[text, scale]"]),
        ("--index-url=https://example.org", "", ["--index-url=https://example.org"]),
    ],
)
def test_what_pip_is_asked_to_install(checkout, stand_in, package, extras, wanted):
    folder, notes = stand_in
    code, said = run(
        checkout,
        "Install",
        PACKAGE=package,
        EXTRAS=extras,
        PATH=f"{folder}:{os.environ['PATH']}",
    )
    checkout.check()
    assert (code, said) == (0, "")
    assert notes.read_text().splitlines() == ["-I", "-m", "pip", "install", "--quiet", "--", *wanted]
    name, place = (checkout.root / "output").read_text().strip().split("=")
    assert name == "programs" and Path(place).is_relative_to(checkout.root / "runner")


@pytest.mark.slow
def test_it_installs_itself_and_compares(checkout):
    """From this folder, by pip, with what it needs from the registry that pip knows."""
    code, said = run(checkout, "Install", EXTRAS="screens")
    checkout.check()
    assert code == 0, said
    programs = (checkout.root / "output").read_text().strip().removeprefix("programs=")
    assert not Path(programs).is_relative_to(checkout.here)
    subprocess.run([f"{programs}/python", "-I", "-c", "import matplotlib, whatchanged"], check=True)
    code, said = run(checkout, "Compare", PROGRAMS=programs, ARGUMENTS="--quiet\n--workers 2 --strict\n")
    checkout.check()
    assert code == 1, said
