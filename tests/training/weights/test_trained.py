"""What names a trained method, and what is said of a model that only an earlier version could train from."""

from pathlib import Path

import pytest

from whatchanged.captioner.bundle import SHIPPED
from whatchanged.errors import BundleError
from whatchanged.training.weights.trained import is_model, open_trained


def test_a_model_is_told_from_a_run(tmp_path):
    assert is_model(Path("clevr-pcl")) and is_model(SHIPPED / "clevr-pcl")
    assert not is_model(tmp_path)


def test_a_model_of_an_earlier_version_is_refused_by_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        BundleError, match=r"^screens: it holds a network that judges regions of screens\. .* Version 0\.2"
    ):
        open_trained(Path("screens"))
    Path("screens").mkdir()  # a run may have any name
    assert not is_model(Path("screens"))
