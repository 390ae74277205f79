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

from support.fingerprint import Fingerprint, Seen
from support.other_values import keys_of, other_value
from support.tiny_data import small

from whatchanged.errors import RecipeError
from whatchanged.recipes.reader import load_recipe, recipe_names
from whatchanged.recipes.schema import StageConfig
from whatchanged.recipes.values import toml_value

REFUSED = "refused"
NEED_MATCHING = ("scene_context", "occlusion", "landmarks")
ALONE = {"vision.matching": tuple(f"vision.{key}=false" for key in NEED_MATCHING)}
"""Key -> settings that need it, and are the same before and after."""
QUICK = ("pcl-tiny", "scorer-tiny", "clip4idc-tiny-ft1", "duda-tiny")


class Changes:
    """What becomes of changed keys, for the recipes of the package at toy size."""

    def __init__(self, data, folder):
        self.data, self.seen = data, Seen(folder, {}, {})
        self._plain = {}

    def plain(self, name, key="seed"):
        """The recipe that has not been changed, and its fingerprint."""
        given = tuple(self.given(name, key))
        if (name, given) not in self._plain:
            recipe = load_recipe(name, given)
            self._plain[name, given] = recipe, self.fingerprint(recipe)
        return self._plain[name, given]

    def given(self, name, key):
        """The settings that make the recipe small, and allow the key to be changed alone."""
        alone = ALONE.get(key, ())
        if alone and load_recipe(name).vision.kind != "objects":
            return small(name)
        return [*small(name), *alone]

    def fingerprint(self, recipe):
        return Fingerprint(self.data.placed(recipe), self.seen)

    def outcome(self, name, key):
        """The part of the fingerprint that another value changes, "refused", or None for nothing at all."""
        recipe, before = self.plain(name, key)
        value = toml_value(other_value(recipe, key, self.data))
        kept = [setting for setting in self.given(name, key) if not _of_another_kind(setting, key)]
        try:
            changed = load_recipe(name, [*kept, f"{key}={value}"])
        except RecipeError as error:
            assert str(error).startswith(f"{name}: ")
            return REFUSED
        stages = [number for number, s in enumerate(recipe.stages) if key.startswith(f"stage.{s.name}.")]
        return self.fingerprint(changed).difference(before, stages[0] if stages else None)


def _of_another_kind(setting, key):
    """Whether the setting makes a kind small that the key replaces by another."""
    return key in ("method.name", "vision.kind") and setting.startswith(key.partition(".")[0] + ".")


@pytest.fixture(scope="module")
def changes(tiny_data, tmp_path_factory):
    return Changes(tiny_data, tmp_path_factory.mktemp("runs"))


@given(st.data())
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture], database=None)
def test_a_drawn_key_does_something_or_is_refused(changes, data):
    name = data.draw(st.sampled_from(QUICK))
    key = data.draw(st.sampled_from(keys_of(load_recipe(name, small(name)))))
    assert changes.outcome(name, key) is not None


def test_the_same_recipe_twice_has_the_same_fingerprint(changes):
    """Otherwise any key would seem to do something."""
    for name in QUICK:
        again = Changes(changes.data, changes.seen.folder / f"again-{name}")
        assert changes.plain(name)[1].difference(again.plain(name)[1]) is None


def test_a_key_that_changes_only_what_never_learns_leaves_the_fingerprint_as_it_is(changes, monkeypatch):
    """PCL that only detects: its encoders are built, and no update touches them."""
    name, given = "clevr-see", small("clevr-see")
    one, other = (load_recipe(name, [*given, f"method.cross_layers={layers}"]) for layers in (1, 2))
    assert changes.fingerprint(one).difference(changes.fingerprint(other)) == "model"
    monkeypatch.setattr("support.fingerprint.HANDED_ON", ())
    assert changes.fingerprint(one).difference(changes.fingerprint(other)) is None


@pytest.mark.parametrize(
    "override",
    ['name="other"', 'description="other"', "stage.pretrain.tasks={mlm = 16, mvcl = 2, fda = 4}"],
)
def test_what_says_nothing_leaves_the_fingerprint_as_it_is(changes, override):
    """Weights of tasks only count as shares, so doubling all of them is the same mix."""
    changed = load_recipe("pcl-tiny", [*small("pcl-tiny"), override])
    assert changes.fingerprint(changed).difference(changes.plain("pcl-tiny")[1]) is None


@pytest.mark.slow
def test_every_key_of_every_recipe_does_something_or_is_refused(changes):
    outcomes = {}
    for name in recipe_names():
        for key in keys_of(load_recipe(name)):
            outcomes[name, key] = changes.outcome(name, key)
    unused = [where for where, outcome in outcomes.items() if outcome is None]
    assert not unused
    # what was covered: every recipe, every key of every method, vision, data source and stage
    assert len({name for name, _ in outcomes}) == len(recipe_names()) >= 43
    keys = {_without_stage(key) for _, key in outcomes}
    assert keys == {"seed", *ALL_KEYS}
    assert len(outcomes) > 3000
    # each key does something in some recipe
    at_work = {_without_stage(key) for (_, key), outcome in outcomes.items() if outcome != REFUSED}
    assert at_work == keys - {"vision.aligned"}  # which can only change together with vision.keep
    shown = Counter(str(outcome).split()[0] for outcome in outcomes.values())
    print(f"{len(outcomes)} keys of {len(recipe_names())} recipes: {dict(shown)}")


def _without_stage(key):
    """A key with the same name for all stages."""
    table, _, name = key.rpartition(".")
    return f"stage.{name}" if table.startswith("stage.") else key


def all_keys():
    """All keys that there are, but for a recipe's name and description."""

    from whatchanged.recipes.tables import DATA, VISION, find_method, method_names

    kinds = [("method", find_method(name, "")) for name in method_names()]
    kinds += [("vision", kind) for kind in VISION.kinds()]
    kinds += [("data", kind) for kind in DATA.kinds()]
    kinds += [("stage", StageConfig)]
    return {f"{table}.{entry.name}" for table, kind in kinds for entry in fields(kind)}


ALL_KEYS = all_keys()
