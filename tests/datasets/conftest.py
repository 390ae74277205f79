"""The real annotation files, where they lie beside the repository."""

import os
from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parents[2] / "../shared/data"


@pytest.fixture(scope="session")
def annotations():
    """The folder with one folder of real annotation files a data set (no pictures)."""
    place = Path(os.environ.get("WHATCHANGED_ANNOTATIONS", DATA / "annotations"))
    if place.is_dir():
        return place
    pytest.skip("the real annotation files are not here (WHATCHANGED_ANNOTATIONS names their folder)")


@pytest.fixture(scope="session")
def development_renders():
    """The folder of the development renders, which may only measure."""
    place = Path(os.environ.get("BLENDER_DEV", DATA / "blender_clevr_dev"))
    if place.is_dir():
        return place
    pytest.skip("the development renders are not here")


@pytest.fixture
def pictures_for():
    """Puts one small picture in the place of every picture that the records name."""
    from support.tiny_sets import paint

    def put(records, seed):
        paint(seed)
        for path in {p for r in records for p in (r.before, r.after) if p is not None}:
            path.parent.mkdir(parents=True, exist_ok=True)
            os.link(seed, path)

    return put
