"""Reads recipes from TOML. All errors of a recipe are found when it is loaded.

If a setting is unknown, missing or of the wrong type, the message contains its file, its key and the nearest
known key. In overrides and messages, the key of a stage's setting is ``stage.<name>.<key>`` (or
``stages.<name>.<key>``).
"""

from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from whatchanged.errors import RecipeError
from whatchanged.opening import read_regular_text
from whatchanged.recipes.building import build
from whatchanged.recipes.compatibility import (
    REGION_RECIPES,
    current_form,
    has_regions,
    is_of_before,
    regions_are_gone,
)
from whatchanged.recipes.consistency import check
from whatchanged.recipes.hints import nearest
from whatchanged.recipes.overrides import apply_overrides
from whatchanged.recipes.schema import Recipe
from whatchanged.recipes.tables import TABLES
from whatchanged.recipes.values import read_toml, toml_value


def recipe_names() -> tuple[str, ...]:
    """Return the names of the recipes in this package, sorted."""
    files = resources.files("whatchanged.recipes").iterdir()
    return tuple(sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml")))


def recipe_text(name_or_path: str | Path) -> str:
    """Return the text of a recipe's file, comments included.

    Raises RecipeError if there is neither a file nor a recipe in this package of that name.
    """
    path = Path(name_or_path)
    if path.suffix == ".toml" and path.is_file():
        try:
            return read_regular_text(path, "utf-8-sig")  # some editors mark UTF-8 at its beginning
        except (OSError, UnicodeDecodeError) as error:
            raise RecipeError(f"{path}: cannot read the recipe: {error}") from error
    if str(name_or_path) in recipe_names():
        file = resources.files("whatchanged.recipes").joinpath(f"{name_or_path}.toml")
        return file.read_text(encoding="utf-8")
    if str(name_or_path) in REGION_RECIPES:
        raise regions_are_gone(str(name_or_path))
    raise RecipeError(
        f"{name_or_path}: no such recipe, and no .toml file."
        + nearest(str(name_or_path), recipe_names())
        + " `whatchanged recipes` lists them."
    )


def load_recipe(name_or_path: str | Path, overrides: Sequence[str] = ()) -> Recipe:
    """Read a recipe by name or from a file, then apply ``KEY=VALUE`` overrides. The schema determines the
    types of the values.

    Raises RecipeError for every key or value that the schema does not contain or allow.
    """
    return parse_recipe(recipe_text(name_or_path), str(name_or_path), overrides)


def parse_recipe(text: str, where: str, overrides: Sequence[str] = ()) -> Recipe:
    """Return the Recipe that ``text`` (TOML) describes. ``where``: the recipe's name or file, for messages.

    ``base = "NAME"`` copies all settings of a recipe of this package, except its stages.
    """
    table = _read_table(text, where)
    if is_of_before(table):
        raise RecipeError(
            f"{where}: a run of an earlier version cannot be resumed. Start another run from its weights"
            " (--init)."
        )
    if has_regions(table):
        raise regions_are_gone(where)
    table = _with_base(table, where)
    apply_overrides(table, overrides)
    recipe: Recipe = build(Recipe, table, where, "")
    check(recipe, where)
    return recipe


def parse_saved_recipe(text: str, where: str) -> Recipe:
    """Return the resolved recipe of a run or a bundle, from this version or an earlier version.

    Settings without effect are accepted here, because the recipe has run before. Raises RecipeError where the
    recipe cannot be read.
    """
    table = _read_table(text, where)
    if has_regions(table):
        raise regions_are_gone(where)
    try:
        table = current_form(table)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise RecipeError(f"{where}: this is no recipe that whatchanged wrote ({error!r}).") from error
    recipe: Recipe = build(Recipe, table, where, "")
    return recipe


def _read_table(text: str, where: str) -> dict[str, Any]:
    try:
        return read_toml(text)
    except ValueError as error:  # a number of thousands of digits, too
        raise RecipeError(f"{where}: not a TOML file: {error}") from error


def _with_base(table: dict[str, Any], where: str) -> dict[str, Any]:
    """Return the table, completed with the settings of its base recipe.

    A table whose kind differs from the base's table (another ``vision.kind``, for example) takes nothing from
    the base.
    """
    base = table.pop("base", None)
    if base is None:
        return table
    if base not in recipe_names():
        known = nearest(str(base), recipe_names())
        raise RecipeError(f"{where}: base: there is no recipe {toml_value(base)}.{known}")
    beneath = _with_base(_read_table(recipe_text(base), base), base)
    beneath.pop("stages", None)
    for key, value in table.items():
        under = beneath.get(key)
        if isinstance(value, dict) and isinstance(under, dict) and _of_one_kind(key, value, under):
            beneath[key] = {**under, **value}
        else:
            beneath[key] = value
    return beneath


def _of_one_kind(key: str, value: Mapping[str, Any], under: Mapping[str, Any]) -> bool:
    """Return whether one of two tables with equal names may complete the other table. A table without a tag
    may complete any table.
    """
    if key not in TABLES:
        return True
    tag = TABLES[key].tag
    return bool(value.get(tag, under.get(tag)) == under.get(tag))
