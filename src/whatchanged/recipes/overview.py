"""Groups the package's recipes by their requirements, and lists the requirements and the training time of
each recipe.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from whatchanged.recipes.reader import load_recipe, recipe_names, recipe_text
from whatchanged.recipes.schema import Recipe

PICTURES = "What runs with nothing but pictures"
FEATURES = "What needs features"
DRAWN = "What needs drawn pairs"
CLIP = "What needs CLIP's weights"
TABLES = "The papers' tables"
GROUPS = {
    PICTURES: "A data set's folder, or a list of pairs: whatchanged train RECIPE --data DATA -o RUN",
    FEATURES: "A data set, and a grid of features of each picture, published or made by: whatchanged features"
    " DATA OUT --backbone NAME. Then: whatchanged train RECIPE --data DATA --features OUT -o RUN",
    DRAWN: "Pairs whose truth is known. The commands that draw them stand at the head of each recipe:"
    " whatchanged recipes RECIPE",
    CLIP: "A data set, CLIP's weights and its merges file: whatchanged train RECIPE --data DATA --init"
    " WEIGHTS --set data.merges=MERGES -o RUN",
    TABLES: "Rows of the papers' comparisons, at published size or (clevr-*) on drawn pairs. The command"
    " stands at the head of each recipe: whatchanged recipes RECIPE",
}
"""A mapping from the heading of a group to a description of its recipes."""

ROW = re.compile(r"\bTable \d")
TIME = re.compile(r"^# Hours and machine: (.+?)\.?$", re.MULTILINE)


@dataclass(frozen=True)
class ListedRecipe:
    """A recipe in the list.

    needs: what a user must have besides the pictures, one phrase for each requirement. time: the training
    time as the head of the recipe's file states it.
    """

    name: str
    description: str
    needs: tuple[str, ...]
    time: str


def grouped_recipes() -> dict[str, list[ListedRecipe]]:
    """Return a mapping from the heading of a group to the recipes in the group, sorted by name. Each recipe
    of the package is in one group.
    """
    results: dict[str, list[ListedRecipe]] = {group: [] for group in GROUPS}
    for name in recipe_names():
        recipe = load_recipe(name)
        entry = ListedRecipe(name, recipe.description, tuple(_needs(recipe)), time_of(name))
        results[_group(recipe)].append(entry)
    return results


def _group(recipe: Recipe) -> str:
    """Return the heading of a recipe's group."""
    if ROW.search(recipe.description):
        return TABLES
    if recipe.data.knows_scenes:
        return DRAWN
    if recipe.vision.stored:
        return FEATURES
    return CLIP if recipe.method.expects_weights(recipe) else PICTURES


def _needs(recipe: Recipe) -> Iterator[str]:
    """Return what a recipe needs besides pairs on a disk."""
    yield from filter(None, (recipe.data.needs, recipe.vision.needs))
    if _begins_from_a_vision(recipe):
        yield "a vision that has learned (--init clevr-pcl, or a run)"
    if not recipe.data.knows_scenes and recipe.method.expects_weights(recipe):
        yield "CLIP's weights (--init) and merges (data.merges)"
    if any(stage.data == "single" for stage in recipe.stages):
        yield "single pictures with captions (data.single)"
    if any(recipe.tasks[task].reads == "labelled" for stage in recipe.stages for task in stage.tasks):
        yield "pictures of labelled classes (data.labelled)"


def _begins_from_a_vision(recipe: Recipe) -> bool:
    """Return whether the recipe needs a trained vision. A recipe needs a trained vision if the vision is
    frozen, or if heads that the first stage does not train choose the cells.
    """
    taught = {name for name, task in recipe.vision.tasks.items() if task.vision_only}
    chooses = not recipe.vision.keeps_every_cell and not taught & recipe.stages[0].tasks.keys()
    return recipe.vision.frozen or chooses


def time_of(name: str) -> str:
    """Return the text after "Hours and machine:" in the head of a recipe; "" where the head has no such
    text.
    """
    found = TIME.search(recipe_text(name))
    return found[1] if found else ""
