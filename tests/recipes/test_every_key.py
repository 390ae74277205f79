"""A recipe means what it says: another value for a key changes what the run does, or the key is refused.

What a run does is computed by the program itself, on tiny data (``fingerprint``). For each key there is one
other value (``other_values``). Only the recipe's name and description say nothing.
"""

from collections import Counter
from dataclasses import fields

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("torch")

from fingerprint import Fingerprint, Seen
from other_values import keys_of, other_value
from tiny_data import small

from whatchanged.errors import RecipeError
from whatchanged.recipes.reader import load_recipe, recipe_names
from whatchanged.recipes.schema import StageConfig
from whatchanged.recipes.values import toml_value

REFUSED = "refused"
QUICK = ("pcl-tiny", "scorer-tiny", "clip4idc-tiny-ft1")


class Changes:
    """What becomes of changed keys, for the recipes of the package at toy size."""

    def __init__(self, data, folder):
        self.data, self.seen = data, Seen(folder, {}, {})
        self.plain = {}

    def outcome(self, name, key):
        """The part of the fingerprint that another value changes, "refused", or None for nothing at all."""
        if name not in self.plain:
            recipe = load_recipe(name, small(name))
            self.plain[name] = recipe, Fingerprint(self.data.placed(recipe), self.seen)
        recipe, before = self.plain[name]
        value = toml_value(other_value(recipe, key, self.data))
        kept = [setting for setting in small(name) if not _of_another_kind(setting, key)]
        try:
            changed = load_recipe(name, [*kept, f"{key}={value}"])
        except RecipeError as error:
            assert str(error).startswith(f"{name}: ")
            return REFUSED
        stages = [number for number, s in enumerate(recipe.stages) if key.startswith(f"stage.{s.name}.")]
        after = Fingerprint(self.data.placed(changed), self.seen)
        return after.difference(before, stages[0] if stages else None)


def _of_another_kind(setting, key):
    """Whether the setting makes a kind small that the key replaces by another."""
    return key in ("method.name", "vision.kind") and setting.startswith(key.partition(".")[0] + ".")


@pytest.fixture(scope="module")
def changes(tiny_data, tmp_path_factory):
    return Changes(tiny_data, tmp_path_factory.mktemp("runs"))


@given(st.data())
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], database=None)
def test_a_drawn_key_does_something_or_is_refused(changes, data):
    name = data.draw(st.sampled_from(QUICK))
    key = data.draw(st.sampled_from(keys_of(load_recipe(name, small(name)))))
    assert changes.outcome(name, key) is not None


def test_the_same_recipe_twice_has_the_same_fingerprint(changes):
    """Otherwise any key would seem to do something."""
    for name in QUICK:
        again = Changes(changes.data, changes.seen.folder / f"again-{name}")
        for one in (changes, again):
            one.outcome(name, "seed")
        first, second = changes.plain[name][1], again.plain[name][1]
        assert first.difference(second) is None


@pytest.mark.slow
def test_every_key_of_every_recipe_does_something_or_is_refused(changes):
    outcomes = {}
    for name in recipe_names():
        for key in keys_of(load_recipe(name)):
            outcomes[name, key] = changes.outcome(name, key)
    idle = [where for where, outcome in outcomes.items() if outcome is None]
    assert not idle
    # what was covered: every recipe, every key of every method, vision, data source and stage
    assert len({name for name, _ in outcomes}) == len(recipe_names()) >= 43
    keys = {_without_stage(key) for _, key in outcomes}
    assert keys == {"seed", *ALL_KEYS}
    assert len(outcomes) > 3000
    # each key does something in some recipe
    at_work = {_without_stage(key) for (_, key), outcome in outcomes.items() if outcome != REFUSED}
    assert at_work == keys
    print(len(outcomes), Counter((outcome or "").split()[0] for outcome in outcomes.values()))


def _without_stage(key):
    """A key with the same name for all stages."""
    table, _, name = key.rpartition(".")
    return f"stage.{name}" if table.startswith("stage.") else key


def all_keys():
    """All keys that there are, but for a recipe's name and description."""
    from typing import get_args

    from whatchanged.recipes.building import find_method, method_names
    from whatchanged.recipes.schema import DataConfig, VisionConfig

    kinds = [("method", find_method(name, "")) for name in method_names()]
    kinds += [("vision", kind) for kind in get_args(VisionConfig)]
    kinds += [("data", kind) for kind in get_args(DataConfig)]
    kinds += [("stage", StageConfig)]
    return {f"{table}.{entry.name}" for table, kind in kinds for entry in fields(kind)}


ALL_KEYS = all_keys()
