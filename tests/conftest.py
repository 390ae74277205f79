"""Fixtures that several rooms share."""

import os

# Tests run side by side: one core each. NumPy's and torch's libraries look once, when they are loaded.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import errno
import gzip
import re
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from PIL import Image

from whatchanged.telemetry import import_silent

settings.register_profile("unhurried", deadline=None)  # a busy machine is not a fault
settings.load_profile("unhurried")

HERE = Path(__file__).parent
NOT_FAST = {
    *("benchmarks", "captions", "cli", "compare", "contract", "docs", "fuzz", "kills", "numbers", "planted"),
    *("plugins", "scale", "site_pages", "synth", "testing", "tools", "training"),
}
"""Rooms whose tests train, draw or run whole commands."""
STARTS = re.compile(r"^(import|from) subprocess|pytester|^from support\.fingerprint", re.MULTILINE)
"""What a file says whose tests start programs or train."""
WHOLE_MODELS = {
    "answers/test_answerer.py",
    "captioner/test_further_models.py",
    "captioner/test_old_bundles.py",
}
"""Files whose tests answer many scenes by the shipped models."""


def has_fast_tests(path):
    """Whether tests of a file or a folder are fast: they train, draw and start nothing."""
    inside = path.relative_to(HERE)
    if inside.parts[0] in NOT_FAST or inside.as_posix() in WHOLE_MODELS:
        return False
    return path.suffix != ".py" or not STARTS.search(path.read_text("utf-8"))


def pytest_ignore_collect(collection_path, config):
    """Of ``-m fast`` folders and files without a fast test are not imported: they import torch."""
    if config.option.markexpr != "fast" or collection_path == HERE:
        return None
    return None if has_fast_tests(collection_path) else True


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark as ``fast`` what is fast by its file, and not slow."""
    fast = {path: has_fast_tests(path) for path in {item.path for item in items}}
    for item in items:
        if fast[item.path] and not item.get_closest_marker("slow"):
            item.add_marker("fast")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """One file runs in this process: workers would take longer to start than it takes. ``-n`` is obeyed."""
    given = config.invocation_params.args
    asked = any(str(word).startswith(("-n", "--numprocesses")) for word in given)
    files = {word.partition("::")[0] for word in config.args}
    if not asked and len(files) == 1 and Path(next(iter(files))).is_file():
        config.option.numprocesses = 0


@pytest.fixture
def command_line(tmp_path, monkeypatch):
    """``whatchanged`` and ``python`` of this checkout on the path."""
    folder = tmp_path / "bin"
    folder.mkdir()
    modules = {"whatchanged": "-m whatchanged ", "python": "", "torchrun": "-m torch.distributed.run "}
    for name, module in modules.items():
        (folder / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {module}"$@"\n')
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(HERE.parent / "src"))
    monkeypatch.setenv("WHATCHANGED_JAVA", "/no/such/java")


@pytest.fixture(scope="session")
def _built_bundle(tmp_path_factory):
    from support.tiny_bundle import build

    return build(tmp_path_factory.mktemp("models") / "tiny").folder


@pytest.fixture
def bundle_folder(_built_bundle, tmp_path):
    """A small working model folder that the test may spoil."""
    return shutil.copytree(_built_bundle, tmp_path / "tiny")


@pytest.fixture
def wary_folder(tmp_path):
    """A small model folder that knows grey pictures only, and says so of others."""
    from support.tiny_bundle import build_wary

    return build_wary(tmp_path / "wary").folder


@pytest.fixture
def red(tmp_path):
    """Where a picture lies that is as red as can be."""
    path = tmp_path / "red.png"
    Image.new("RGB", (48, 32), (255, 0, 0)).save(path)
    return path


@pytest.fixture
def pictures(tmp_path):
    """Two flat pictures, the second with a white square in its lower right cell; and where they lie."""
    before = np.full((32, 48, 3), 100, np.uint8)
    after = before.copy()
    after[16:, 32:] = 255
    paths = tmp_path / "before.png", tmp_path / "after.png"
    for array, path in zip((before, after), paths, strict=True):
        Image.fromarray(array).save(path)
    return paths


@pytest.fixture
def lock(monkeypatch):
    """Makes files that nobody may open, whoever runs the tests."""
    locked = set()

    def refusing(real):
        def opened(path, *arguments, **named):
            if isinstance(path, str | Path) and Path(path) in locked:
                raise PermissionError(errno.EACCES, "Permission denied", str(path))
            return real(path, *arguments, **named)

        return opened

    monkeypatch.setattr(Path, "open", refusing(Path.open))
    monkeypatch.setattr(os, "open", refusing(os.open))
    return locked.add


@pytest.fixture(scope="session")
def ray():
    """Ray, imported as the package imports it: its messages would stand in the output of later tests."""
    if find_spec("ray") is None:
        pytest.skip("needs the extra scale")
    return import_silent("ray")


@pytest.fixture
def whatchanged(monkeypatch, capsys):
    """Runs the command line in this process: (exit code, stdout, stderr)."""

    def run(*arguments):
        from whatchanged.cli import main

        monkeypatch.setattr(sys, "argv", ["whatchanged", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        return ended.value.code or 0, captured.out, captured.err

    return run


@pytest.fixture
def pairs(tmp_path, pictures):
    """A list of seven pairs, every second one with a change."""
    path = tmp_path / "pairs.csv"
    rows = [f"before.png,{'after.png' if i % 2 else 'before.png'},p{i}" for i in range(7)]
    path.write_text("before,after,id\n" + "\n".join(rows) + "\n")
    return path


@pytest.fixture
def caption(whatchanged, bundle_folder):
    """Runs ``whatchanged caption`` with a small model: (exit code, stdout, stderr)."""
    return lambda *arguments: whatchanged("caption", "--model", bundle_folder, *arguments)


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder on the path to install made-up packages into; plug-ins' lines are told anew."""
    from support.fake_packages import Site

    from whatchanged import plugins

    folder = tmp_path / "site-packages"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(plugins, "_warned", set())
    made = Site(folder)
    yield made
    made.forget()


@pytest.fixture(scope="session")
def old_formats(tmp_path_factory):
    """Runs and bundles as earlier versions wrote them (``fixtures/make_old.py``); to be read only."""
    folder = tmp_path_factory.mktemp("old") / "formats"
    shutil.copytree(Path(__file__).parent / "fixtures" / "old", folder)
    for packed in sorted(folder.rglob("*.gz")):
        packed.with_suffix("").write_bytes(gzip.decompress(packed.read_bytes()))
        packed.unlink()
    return folder


@pytest.fixture(scope="session")
def tiny_pool(tmp_path_factory):
    """The folder of a small drawn pool, to be read only."""
    from support.tiny_pool import draw

    return draw(tmp_path_factory.mktemp("pool") / "tiny")
