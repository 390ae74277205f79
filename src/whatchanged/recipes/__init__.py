"""Recipes: TOML files inside the package, read into frozen dataclasses; listing them needs no torch."""

from whatchanged.recipes.methods import METHODS, MethodSettings, Task
from whatchanged.recipes.reader import dump_recipe, load_recipe, recipe_names
from whatchanged.recipes.schema import (
    BackboneConfig,
    DatasetConfig,
    FeaturesConfig,
    ObjectsConfig,
    PatchesConfig,
    PoolConfig,
    Recipe,
    RegionsConfig,
    StageConfig,
)

__all__ = [
    "METHODS",
    "BackboneConfig",
    "DatasetConfig",
    "FeaturesConfig",
    "MethodSettings",
    "ObjectsConfig",
    "PatchesConfig",
    "PoolConfig",
    "Recipe",
    "RegionsConfig",
    "StageConfig",
    "Task",
    "dump_recipe",
    "load_recipe",
    "recipe_names",
]
