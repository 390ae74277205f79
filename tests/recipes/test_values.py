import time
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whatchanged.recipes.values import DEEPEST, read_toml, toml_value

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


@pytest.mark.parametrize("part", ["a", '"a"', "'a'", "a ", "a-b_1"])
@pytest.mark.parametrize("around", ["{} = 1", "[{}]", "[[{}]]", "a = {{ {} = 1 }}"])
def test_a_key_of_thousands_of_parts_is_refused_before_it_is_read(part, around):
    key = ".".join([part] * 20_000)
    began = time.process_time()
    with pytest.raises(ValueError, match="a key of more than 50 parts"):
        read_toml(around.format(key))
    assert time.process_time() - began < 1


def test_keys_lists_and_texts_of_a_usual_length_are_read():
    key = ".".join(["a"] * DEEPEST)
    assert read_toml(f"{key} = 1")["a"]["a"]
    numbers = [0.5] * 200
    assert read_toml(f"rates = {numbers}\nword = 'a. b.'") == {"rates": numbers, "word": "a. b."}
    with pytest.raises(ValueError):
        read_toml("a = " + "[" * 100_000)


@given(st.text(alphabet="a.\"' =[]{}\n#1", max_size=90))
def test_whatever_tomllib_reads_is_read(text):
    try:
        wanted = tomllib.loads(text)
    except ValueError:
        return
    assert read_toml(text) == wanted
