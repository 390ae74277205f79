import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whatchanged.recipes.values import toml_value

texts = st.text(st.characters(codec="utf-8"), max_size=12)
plain = texts | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False)
values = st.recursive(
    plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3)
)


@given(values)
def test_tomllib_reads_back_what_was_written(value):
    assert tomllib.loads(f"value = {toml_value(value)}") == {"value": value}


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (True, "true"),
        ("a b", '"a b"'),
        ((1, 2), "[1, 2]"),
        ({"R@1": 1.5, "lr": "x"}, '{ "R@1" = 1.5, lr = "x" }'),
        ({}, "{}"),
        (None, "None"),
    ],
)
def test_how_values_look(value, written):
    assert toml_value(value) == written
