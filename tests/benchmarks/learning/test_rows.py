"""The rows of the comparison are recipes of the package, alike but for what their names say."""

import pytest

from whatchanged.errors import RecipeError
from whatchanged.recipes.reader import load_recipe

SCRIPT = "learning.rows"


def recipe(bench, row):
    return load_recipe(*bench.ROWS[row])


def test_every_row_reads_the_same_frozen_tokens(bench):
    for row in bench.ROWS:
        found = recipe(bench, row)
        assert found.vision.frozen and found.vision.matching and found.data.ordered_pairs == "balanced", row
        assert sum(stage.steps * stage.batch for stage in found.stages) == 128_000, row


@pytest.mark.parametrize(("table", "whole"), [("table4", "pcl"), ("table6", "scorer")])
def test_the_rows_of_a_table_differ_from_the_whole_method_as_the_published_ones(bench, table, whole):
    """Each switch that a published row sets otherwise than its table's whole method is set so here."""
    published = {"table4": "pcl-table4-", "table6": "scorer-table6-"}[table]
    entire = {"table4": "4-mlm-mvcl-fda", "table6": "5-scorer-cbr"}[table]
    theirs_whole, own_whole = load_recipe(published + entire), recipe(bench, whole)
    for row in bench.TABLES[table].rows:
        if row == whole:
            continue
        theirs, own = load_recipe(row), recipe(bench, row)
        assert _switches(own, own_whole) == _switches(theirs, theirs_whole) != {}, row


def _switches(found, whole):
    """The method's settings in which a recipe differs from another, and its tasks if they do."""
    same = vars(whole.method)
    differ = {name: value for name, value in vars(found.method).items() if value != same[name]}
    tasks = [stage.tasks for stage in found.stages]
    return {**differ, **({"tasks": tasks} if tasks != [stage.tasks for stage in whole.stages] else {})}


def test_the_baselines_are_those_of_the_published_table(bench):
    for variant in ("ft1", "ft2"):
        found = recipe(bench, f"clip4idc-{variant}")
        assert found.method.variant == variant and [list(s.tasks) for s in found.stages] == [["caption"]]


def test_every_table_is_compared_within_itself(bench):
    for table in bench.TABLES.values():
        assert all(
            one in table.rows and other in table.rows and one != other for one, other in table.compared
        )
        assert all(row in bench.ROWS and row in bench.TITLES for row in table.rows)


def test_names_of_rows_tables_and_rates(bench):
    assert list(bench.chosen("scorer=3e-3,clip4idc,scorer=1e-3,methods")) == [
        ("scorer", 3e-3),
        ("clip4idc", None),
        ("scorer", 1e-3),
        ("pcl", None),
        ("scorer", None),
    ]
    assert len(bench.rows_named("all")) == 28 and "clip4idc-small" not in bench.rows_named("all")
    assert [
        len(bench.rows_named(name)) for name in ("table4", "table6", "comparisons", "others", "baselines")
    ] == [6, 5, 9, 3, 3]
    for wrong, message in (("pcr", "choose among"), ("scorer=fast", "'fast' is no rate")):
        with pytest.raises(RecipeError, match=message):
            list(bench.chosen(wrong))
