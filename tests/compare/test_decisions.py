import json

import pytest

from whatchanged.compare.decisions import Decisions, read_decisions
from whatchanged.compare.record import record_of
from whatchanged.errors import WhatchangedError


@pytest.fixture
def record(found):
    return record_of(found, "hash")


def written(path, **fields):
    path.write_text(json.dumps({"format": 1, "report": "hash", **fields}))
    return path


def test_names_of_both_kinds(record, tmp_path):
    path = written(tmp_path / "d.json", accept=["02.png", "new|*.png"], reject=["04.png"], saved="today")
    assert read_decisions(path, record) == Decisions(("02.png", "new|*.png"), ("04.png",))
    assert read_decisions(written(path), record) == Decisions((), ())


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"format": 2}, "no decisions"),
        ({"report": "another"}, "another report, or the pictures were compared again since"),
        ({"accept": ["02.png"], "reject": ["02.png"]}, "02.png is both"),
        ({"accept": ["strange.png"]}, "no pair of the report is called strange.png"),
        ({"reject": ["strange.png"]}, "no pair of the report is called strange.png"),
        ({"accept": "02.png"}, "should be a list of names"),
        ({"reject": [1]}, "should be a list of names"),
    ],
)
def test_what_does_not_fit_the_report_is_refused(record, tmp_path, fields, message):
    with pytest.raises(WhatchangedError, match=message):
        read_decisions(written(tmp_path / "d.json", **fields), record)


@pytest.mark.parametrize("content", ["", "[]", "{}", "null", "{"])
def test_what_is_no_file_of_decisions_is_refused(record, tmp_path, content):
    path = tmp_path / "d.json"
    path.write_text(content)
    with pytest.raises(WhatchangedError, match=r"d\.json"):
        read_decisions(path, record)
    with pytest.raises(WhatchangedError, match="cannot read the file"):
        read_decisions(tmp_path / "none.json", record)
