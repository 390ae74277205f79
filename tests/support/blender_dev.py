"""The Blender-rendered development set, where it is at hand: measured against, never trained on."""

import json
import os
from pathlib import Path

import pytest

DEV = Path(os.environ.get("BLENDER_DEV", Path(__file__).parents[2] / "../shared/data/blender_clevr_dev"))


@pytest.fixture(scope="session")
def dev_folder():
    if not (DEV / "scenes.json").exists():
        pytest.skip("the development set is not here; set BLENDER_DEV to its folder")
    return DEV


@pytest.fixture(scope="session")
def dev_pictures(dev_folder):
    return json.loads((dev_folder / "scenes.json").read_text())["scenes"]
