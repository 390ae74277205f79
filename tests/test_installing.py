"""The command that adds an extra names where this install came from, and an index only where that was one."""

import importlib.metadata
import json

import pytest

from whatchanged import installing
from whatchanged.errors import MissingExtra
from whatchanged.installing import install_command


class Distribution:
    """What is installed, with what pip wrote of where it came from."""

    def __init__(self, text):
        self.text = text

    def read_text(self, name):
        return self.text if name == "direct_url.json" else None


@pytest.mark.parametrize(
    ("written", "command"),
    [
        (None, 'pip install "whatchanged[train]"'),
        (
            {"url": "file:///home/a%20b/src", "dir_info": {"editable": True}},
            "pip install -e '/home/a b/src[train]'",
        ),
        ({"url": "file:///home/src", "dir_info": {}}, "pip install '/home/src[train]'"),
        (
            {"url": "https://example.org/w.git", "vcs_info": {"vcs": "git", "commit_id": "ab12"}},
            'pip install "whatchanged[train] @ git+https://example.org/w.git@ab12"',
        ),
        (
            {"url": "https://example.org/w.whl", "archive_info": {}},
            'pip install "whatchanged[train] @ https://example.org/w.whl"',
        ),
    ],
)
def test_where_it_came_from(monkeypatch, written, command):
    text = None if written is None else json.dumps(written)
    monkeypatch.setattr(importlib.metadata, "distribution", lambda name: Distribution(text))
    assert install_command("train") == command
    assert str(MissingExtra("this", "torch", "train")).endswith(f"Run: {command}")


def test_sources_that_are_not_installed(monkeypatch, tmp_path):
    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", missing)
    assert install_command("train").startswith("pip install -e ")
    monkeypatch.setattr(installing, "__file__", str(tmp_path / "a" / "b" / "installing.py"))
    assert install_command("train") == 'pip install "whatchanged[train]"'


def test_a_torn_record_of_it_is_as_none(monkeypatch, tmp_path):
    monkeypatch.setattr(importlib.metadata, "distribution", lambda name: Distribution("{"))
    monkeypatch.setattr(installing, "__file__", str(tmp_path / "a" / "b" / "installing.py"))
    assert install_command(again=True) == 'pip install --force-reinstall "whatchanged"'
