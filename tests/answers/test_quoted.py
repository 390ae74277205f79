"""Which statements of the measured answer are quoted, with a reader that is no recogniser."""

from dataclasses import replace

import numpy as np
import pytest

from whatchanged.answers import Answerer, quoted
from whatchanged.errors import MissingExtra
from whatchanged.measured import Statement, measure
from whatchanged.text import Quotes

BLANK = np.full((8, 8, 3), 255, np.uint8)
TEXT = Statement("rewritten", (0, 0, 4, 4), (0, 0, 5, 4), "Something that looks like text changed.", 0.5)


def measured(*statements):
    measured = measure(BLANK, np.zeros((8, 8, 3), np.uint8))
    return replace(measured, statements=statements, sentence="As it was.")


@pytest.fixture
def reader(monkeypatch):
    asked = []

    def read(before, after, *boxes):
        asked.append(boxes)
        return Quotes("Save", "Store")

    monkeypatch.setattr(quoted, "read_quotes", read)
    return asked


def test_a_rewritten_text_is_quoted(reader):
    result = quoted.quoted(measured(TEXT), BLANK, BLANK)
    assert result.sentence == result.statements[0].sentence == 'The text changed from "Save" to "Store".'
    assert result.statements[0].values == {"text_before": "Save", "text_after": "Store"}
    assert reader == [(TEXT.box_before, TEXT.box_after)]


def test_nothing_else_is_read(reader):
    others = measured(replace(TEXT, kind="recolored"), replace(TEXT, box_before=None))
    assert quoted.quoted(others, BLANK, BLANK) == others and reader == []


def test_where_the_reader_is_not_sure_nothing_is_altered(monkeypatch):
    monkeypatch.setattr(quoted, "read_quotes", lambda *_: None)
    assert quoted.quoted(measured(TEXT), BLANK, BLANK) == measured(TEXT)


def test_without_the_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "rapidocr", None)
    from whatchanged.text import recogniser

    recogniser._recogniser.cache_clear()
    with pytest.raises(MissingExtra, match=r"whatchanged\[text\]"):
        Answerer(read_text=True)
    recogniser._recogniser.cache_clear()
    Answerer()
