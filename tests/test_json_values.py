"""JSON from strangers: the value, or a ValueError whatever is wrong."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whatchanged.json_values import read_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


@settings(max_examples=30, deadline=None)
@given(VALUES, st.booleans())
def test_what_json_writes_is_read(value, as_bytes):
    text = json.dumps(value)
    if "Infinity" not in text:
        assert read_json(text.encode() if as_bytes else text, finite=True) == value
    assert read_json(text) == value


@pytest.mark.parametrize(
    "text",
    ["", "{", "[1,]", b"\xff", "[" * 100_000, '{"a":' * 100_000, "9" * 5000, '{"a" 1}', "nan", "\ufeff1"],
)
def test_whatever_is_wrong_is_one_kind_of_error(text):
    with pytest.raises(ValueError, match=r"\w"):
        read_json(text)


@pytest.mark.parametrize("text", ["NaN", "[1, Infinity]", '{"a": -Infinity}', "1e999", "[-1e400]"])
def test_numbers_that_are_none(text):
    read_json(text)
    with pytest.raises(ValueError, match="number"):
        read_json(text, finite=True)


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(content):
    try:
        read_json(content)
    except ValueError:
        return


def test_a_hook_sees_every_key():
    assert read_json('{"a": 1, "a": 2}', object_pairs_hook=list) == [("a", 1), ("a", 2)]
