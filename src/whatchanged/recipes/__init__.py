"""Recipes: TOML files inside the package, read into frozen dataclasses; listing them needs no torch."""

from whatchanged.recipes.schema import (
    CLIP4IDCConfig,
    DataConfig,
    PCLConfig,
    Recipe,
    ScorerConfig,
    StageConfig,
    VisionConfig,
)

__all__ = [
    "CLIP4IDCConfig",
    "DataConfig",
    "PCLConfig",
    "Recipe",
    "ScorerConfig",
    "StageConfig",
    "VisionConfig",
]
