"""The suite for readers finds each broken duty of a small one."""

import pytest

from whatchanged.errors import DatasetError
from whatchanged.testing import check_dataset

READER = """
from dataclasses import replace
from whatchanged.datasets import plain

def recognises(path):
    return {recognised}

def read(path, reading):
    records = plain.read(path / "toys.jsonl", reading)
    return {records}
"""
KEPT = {"recognised": '(path / "toys.jsonl").is_file()', "records": "records"}


@pytest.fixture
def toys(tmp_path, pictures, site):
    """A small data set of a plug-in, whose reader the test may spoil."""
    folder = tmp_path / "toys"
    folder.mkdir()
    for name in ("a.png", "b.png", "c.png"):
        (folder / name).write_bytes(pictures[0].read_bytes())
    rows = ["a.png", "b.png", "c.png"]
    lines = [f'{{"before": "{name}", "after": "b.png", "captions": ["it moved"]}}' for name in rows]
    (folder / "toys.jsonl").write_text("\n".join(lines))

    def install(**broken):
        site.install("toys", {"whatchanged.datasets": {"toys": "toys"}}, toys=READER.format(**KEPT | broken))
        return folder

    return install


def test_a_plug_ins_reader_keeps_the_contract(toys):
    check_dataset(toys(), "toys")


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ({"recognised": "True"}, "takes empty for its data set"),
        ({"recognised": "path.name == 'toys' or 1 / 0"}, "recognises failed on empty: ZeroDivisionError"),
        (
            {"records": "[replace(r, split='dev') for r in records]"},
            "the split 'dev'. A record's split is one of train, val, test",
        ),
        ({"records": "[replace(r, change_type='add') for r in records]"}, "add, but changed is None"),
        ({"records": "[replace(r, after=None) for r in records]"}, "after is None"),
        ({"records": "[replace(r, captions=[]) for r in records]"}, "captions should be a tuple"),
        ({"records": "[replace(r, before=path / 'x.png') for r in records]"}, "pictures are missing"),
    ],
)
def test_a_broken_duty_is_found(broken, message, toys):
    with pytest.raises((AssertionError, DatasetError), match=message):
        check_dataset(toys(**broken), "toys")


def test_another_data_set_is_told(toys):
    with pytest.raises(AssertionError, match="recognised as toys, wanted toy"):
        check_dataset(toys(), "toy")
