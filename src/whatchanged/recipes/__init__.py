"""Recipes: TOML files inside the package, read into frozen dataclasses; listing them needs no torch."""

from whatchanged.recipes.schema import (
    DataConfig,
    PCLConfig,
    Recipe,
    ScorerConfig,
    StageConfig,
    VisionConfig,
)

__all__ = ["DataConfig", "PCLConfig", "Recipe", "ScorerConfig", "StageConfig", "VisionConfig"]
