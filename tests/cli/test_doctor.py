import importlib.metadata
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from whatchanged.cli.doctor import BASE, EXTRAS
from whatchanged.installing import install_command

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def test_all_is_well(whatchanged, bundle_folder):
    code, out, _ = whatchanged("doctor", "--model", bundle_folder)
    assert code == 0
    assert f"numpy {importlib.metadata.version('numpy')}" in out
    assert "base: complete" in out and "whole and running" in out


def test_a_missing_extra_and_what_mends_it(whatchanged, bundle_folder, monkeypatch):
    real = importlib.metadata.version

    def version(name):
        if name == "torch":
            raise importlib.metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    code, out, _ = whatchanged("doctor", "--model", bundle_folder)
    assert code == 0  # an extra is optional
    assert f"train: torch missing. To have it: {install_command('train')}\n" in out


def test_what_the_further_metrics_lack(whatchanged, bundle_folder, monkeypatch, tmp_path):
    monkeypatch.setenv("WHATCHANGED_JAVA", str(tmp_path / "java"))
    monkeypatch.setenv("WHATCHANGED_SPICE_HOME", str(tmp_path / "jars"))
    code, out, _ = whatchanged("doctor", "--model", bundle_folder)
    assert code == 0
    assert "METEOR's tables: METEOR: left out of the tests of commands." in out
    assert f"SPICE's Java: SPICE: $WHATCHANGED_JAVA is {tmp_path / 'java'}, which cannot be run." in out
    assert f"SPICE's jars: SPICE: {tmp_path / 'jars'} is not a folder." in out
    launcher = tmp_path / "java"
    launcher.write_text("#!/bin/sh\n")
    launcher.chmod(0o755)
    assert "SPICE's Java: found" in whatchanged("doctor", "--model", bundle_folder)[1]


def test_a_broken_base(whatchanged, bundle_folder, monkeypatch):
    def version(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    code, out, _ = whatchanged("doctor", "--model", bundle_folder)
    assert code == 2 and "base: numpy, pillow" in out


def test_a_broken_model(whatchanged, bundle_folder):
    (bundle_folder / "encoder.onnx").unlink()
    code, out, _ = whatchanged("doctor", "--model", bundle_folder)
    assert code == 2 and "encoder.onnx: the file is missing" in out


def test_a_model_that_is_gone(whatchanged):
    code, out, _ = whatchanged("doctor", "--model", "screens")
    assert code == 2 and "model: screens: it holds a network that judges regions" in out


WITHOUT_NUMPY = """
import importlib.metadata, sys

real = importlib.metadata.version
def version(name):
    if name == "numpy":
        raise importlib.metadata.PackageNotFoundError(name)
    return real(name)

importlib.metadata.version = version
sys.modules["numpy"] = None
sys.argv = ["whatchanged", "doctor"]
from whatchanged.cli import main
main()
"""


def test_a_package_of_the_base_that_is_not_there_at_all():
    done = subprocess.run([sys.executable, "-c", WITHOUT_NUMPY], capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr == ""
    assert f"base: numpy missing. To have it: {install_command(again=True)}\n" in done.stdout
    assert "looked at once the base is complete" in done.stdout


def test_the_lists_are_the_projects():
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    parts = {"base": project["dependencies"], **project["optional-dependencies"]}
    named = {
        part: tuple(re.match(r"[A-Za-z0-9_-]+", text)[0] for text in texts)
        for part, texts in parts.items()
        if part not in ("dev", "docs")  # to work on the project
    }
    assert named == {"base": BASE, **EXTRAS}


PLUG_INS = """
from dataclasses import dataclass
from whatchanged.recipes.methods import MethodSettings

WORLD = 2

@dataclass(frozen=True)
class METHOD(MethodSettings):
    name: str = "toy"
    preset: str = "only"
    max_length: int = 5

    @property
    def tasks(self):
        return {}

def recognises(path):
    return False

def read(path, reading):
    return []
"""


def test_plug_ins_are_listed_and_broken_ones_named(whatchanged, bundle_folder, site):
    assert "plug-ins: none" in whatchanged("doctor", "--model", bundle_folder)[1]
    entries = {
        "whatchanged.methods": {"toy": "toys:METHOD"},
        "whatchanged.worlds": {"dull": "toys:WORLD"},
        "whatchanged.datasets": {"toys": "toys"},
    }
    site.install("toy-package", entries, toys=PLUG_INS)
    code, out, _ = whatchanged("doctor", "--model", bundle_folder)
    assert code == 0
    assert "plug-in: method toy of toy-package 1.5, found" in out
    assert "plug-in: data set toys of toy-package 1.5, found" in out
    assert "plug-in: The world 'dull' of toy-package 1.5 cannot be used: TypeError: wanted" in out
