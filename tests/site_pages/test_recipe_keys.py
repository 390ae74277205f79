"""The page of recipe keys."""

from collections.abc import Mapping
from typing import Literal

import pytest

pytest.importorskip("griffe", reason="needs the extra docs")

from site_pages.recipe_keys import recipes_page, toml, type_name


@pytest.mark.slow
def test_every_key_has_its_row_and_its_meaning():
    told = []
    page = recipes_page(told.append)
    assert told == []
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert len(rows) > 100 and all(len(row.split(" | ")[-1]) > 5 for row in rows)
    assert "| `dropout` | number | `0.2` | Share of the activations that training sets to 0. |" in rows
    assert '### `kind = "backbone"`' in page and "## `[[stages]]`" in page


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (int, "whole number"),
        (bool, "true or false"),
        (tuple[int, ...], "list: whole number"),
        (Mapping[str, float], "table: name = number"),
        (Literal["a", "b"], '`"a"`, `"b"`'),
    ],
)
def test_types_in_words(kind, said):
    assert type_name(kind) == said


def test_defaults_as_toml_writes_them():
    assert [toml(value) for value in (True, 3, 0.5, "a", (1, 2), ())] == [
        "true",
        "3",
        "0.5",
        '"a"',
        "[1, 2]",
        "[]",
    ]
