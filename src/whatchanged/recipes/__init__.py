"""Recipes: TOML files inside the package, read into frozen dataclasses; listing them needs no torch."""

from whatchanged.recipes.methods import METHODS, LearnerSettings, MethodSettings, Task
from whatchanged.recipes.methods.regions import RegionsConfig
from whatchanged.recipes.reader import dump_recipe, load_recipe, recipe_names
from whatchanged.recipes.schema import (
    BackboneConfig,
    DatasetConfig,
    FeaturesConfig,
    NoVision,
    ObjectsConfig,
    PatchesConfig,
    PoolConfig,
    Recipe,
    RegionPairsConfig,
    StageConfig,
)

__all__ = [
    "METHODS",
    "BackboneConfig",
    "DatasetConfig",
    "FeaturesConfig",
    "LearnerSettings",
    "MethodSettings",
    "NoVision",
    "ObjectsConfig",
    "PatchesConfig",
    "PoolConfig",
    "Recipe",
    "RegionPairsConfig",
    "RegionsConfig",
    "StageConfig",
    "Task",
    "dump_recipe",
    "load_recipe",
    "recipe_names",
]
