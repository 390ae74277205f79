"""The tables of a recipe that are one of several, and what they name."""

import subprocess
import sys
from dataclasses import fields

import pytest

from whatchanged.errors import PluginError
from whatchanged.plugins import imported
from whatchanged.recipes.tables import DATA, METHOD, TABLES, VISION


@pytest.mark.parametrize("table", TABLES.values())
def test_the_first_field_of_each_kind_is_its_tag(table):
    tags = [fields(kind)[0] for kind in table.kinds()]
    assert {tag.name for tag in tags} == {table.tag}
    assert [tag.default for tag in tags] == list(table.builtin)


def test_a_table_that_names_nothing_is_of_the_first_kind():
    assert (VISION.named({}), DATA.named({}), METHOD.named({})) == ("features", "dataset", "")
    assert VISION.named({"kind": "patches"}) == "patches"


def test_a_key_is_of_the_kinds_that_have_it():
    assert VISION.kinds_with("blocks") == ("backbone", "objects")
    assert DATA.kinds_with("tokens") == ("pool",)
    assert DATA.kinds_with("path") == ("dataset", "pool")
    assert VISION.kinds_with("path") == ()


def test_an_unknown_kind_is_refused():
    with pytest.raises(PluginError, match=r"no vision 'eyes'\. Known: features, patches"):
        VISION.find("eyes")


@pytest.mark.parametrize("kind", [*VISION.kinds(), *DATA.kinds()])
def test_what_computes_is_there(kind):
    pytest.importorskip("torch")
    names = {name: getattr(kind, name) for name in dir(kind) if isinstance(getattr(kind, name), str)}
    places = {
        name: place for name, place in names.items() if place.startswith("whatchanged.") and ":" in place
    }
    wanted = {"implementation", "reader", "planned"} if "kind" in names else {"opener"}
    assert places.keys() >= wanted
    assert all(callable(imported(place)) for place in places.values())


def test_settings_load_no_torch():
    program = (
        "import sys; from whatchanged.recipes.tables import TABLES;"
        "[kind() for table in TABLES.values() for kind in table.kinds()];"
        "sys.exit(any(name in sys.modules for name in ('torch', 'numpy')))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
