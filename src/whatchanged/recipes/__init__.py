"""Recipes: TOML files inside the package, read into frozen dataclasses; listing them needs no torch."""

from whatchanged.recipes.methods import METHODS, LearnerSettings, MethodSettings, Task
from whatchanged.recipes.methods.regions import RegionsConfig
from whatchanged.recipes.reader import dump_recipe, load_recipe, recipe_names
from whatchanged.recipes.schema import Recipe, StageConfig
from whatchanged.recipes.sources import SOURCES, DataSettings
from whatchanged.recipes.sources.dataset import DatasetConfig
from whatchanged.recipes.sources.pool import PoolConfig
from whatchanged.recipes.sources.regions import RegionPairsConfig
from whatchanged.recipes.visions import VISIONS, VisionSettings
from whatchanged.recipes.visions.backbone import BackboneConfig
from whatchanged.recipes.visions.features import FeaturesConfig
from whatchanged.recipes.visions.none import NoVision
from whatchanged.recipes.visions.objects import ObjectsConfig
from whatchanged.recipes.visions.patches import PatchesConfig

__all__ = [
    "METHODS",
    "SOURCES",
    "VISIONS",
    "BackboneConfig",
    "DataSettings",
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
    "VisionSettings",
    "dump_recipe",
    "load_recipe",
    "recipe_names",
]
