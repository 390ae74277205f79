"""Recipes: TOML files in this package, read into frozen dataclasses. Nothing here imports torch.

A plug-in package with a method, vision or source imports from here whatever its settings need: the base
classes of settings, ``Task``, ``Recipe``, and the checks (``require_...``). Each check refuses a wrong
setting with one clear message.
"""

from whatchanged.recipes.checks import (
    check_dropout,
    check_width,
    require,
    require_not_negative,
    require_positive,
    require_used,
)
from whatchanged.recipes.methods import METHODS, MethodSettings, Task
from whatchanged.recipes.reader import load_recipe, recipe_names
from whatchanged.recipes.schema import Recipe, StageConfig
from whatchanged.recipes.sources import SOURCES, DataSettings
from whatchanged.recipes.sources.dataset import DatasetConfig
from whatchanged.recipes.sources.pool import PoolConfig
from whatchanged.recipes.values import dump_recipe
from whatchanged.recipes.visions import VISIONS, VisionSettings
from whatchanged.recipes.visions.backbone import BackboneConfig
from whatchanged.recipes.visions.features import FeaturesConfig
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
    "MethodSettings",
    "ObjectsConfig",
    "PatchesConfig",
    "PoolConfig",
    "Recipe",
    "StageConfig",
    "Task",
    "VisionSettings",
    "check_dropout",
    "check_width",
    "dump_recipe",
    "load_recipe",
    "recipe_names",
    "require",
    "require_not_negative",
    "require_positive",
    "require_used",
]
