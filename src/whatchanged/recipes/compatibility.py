"""Reads the recipes of earlier versions in run folders and bundles. No other module contains the old forms.

Before 0.2, every ``[vision]`` and ``[data]`` had the keys of all kinds. A backbone always had the heads of
object tokens. Guided attention was a setting of the method. Before 0.2, some settings, tasks and methods had
other names.

Up to 0.2, some networks judged regions of screens. Recipes of such networks can no longer be read.
"""

from collections.abc import Mapping
from typing import Any

from whatchanged.errors import REGIONS_ARE_GONE, RecipeError

METHODS_BEFORE = {"pcl-birds": "pcl-cross-task"}
TASKS_BEFORE = {"seeing": "detection"}
STAGE_KEYS_BEFORE = {"clip": "max_grad_norm"}
"""A mapping from names before version 0.2 to present names."""
VISION_KEYS = {
    "features": ("rows", "columns", "feature_width"),
    "patches": ("image_width", "image_height", "patch"),
    "objects": ("image_width", "image_height", "channels", "blocks", "keep", "matching"),
}
DATASET_KEYS = (
    "path",
    "features",
    "single",
    "single_preparation",
    "labelled",
    "merges",
    "wording",
    "preparation",
    "examples",
    "exchange",
    "validation",
)
POOL_KEYS = ("path", "merges", "wording", "ordered_pairs", "validation")
ALL_KINDS = frozenset({"kind", "scene_truth", "rows", "keep", "patch"})
"""Keys of ``[vision]`` that no present kind of vision has together."""

REGIONS = "regions"
"""The common name of the removed method, vision and data source that judged regions of screens."""
REGION_RECIPES = ("screens-pcl", "screens-real", "screens-regions")
"""Names of the package's recipes, up to version 0.2, that learned from regions of screens."""


def is_of_before(table: Mapping[str, Any]) -> bool:
    """Return whether a resolved recipe was written before 0.2. A recipe from before 0.2 lists the vision keys
    of all kinds.
    """
    vision = table.get("vision")
    return isinstance(vision, dict) and vision.keys() >= ALL_KINDS


def has_regions(table: Mapping[str, Any]) -> bool:
    """Return whether any part of a recipe learns from regions of screens."""
    parts = (("method", "name"), ("vision", "kind"), ("data", "source"))
    return any(isinstance(table.get(part), dict) and table[part].get(key) == REGIONS for part, key in parts)


def regions_are_gone(where: str) -> RecipeError:
    """Return the message that a recipe for regions of screens can no longer be read."""
    return RecipeError(f"{where}: {REGIONS_ARE_GONE}")


def current_form(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a resolved recipe of an earlier version in the present form. Recipes in the present form are
    returned unchanged.
    """
    if not is_of_before(table):
        return dict(table)
    method, vision, data = dict(table["method"]), table["vision"], table["data"]
    guided = method.pop("guided_attention", False)
    method["name"] = METHODS_BEFORE.get(method["name"], method["name"])
    return {
        **table,
        "method": method,
        "vision": _vision(vision, guided),
        "data": _data(data),
        "stages": [_stage(stage) for stage in table["stages"]],
    }


def _vision(vision: Mapping[str, Any], guided: bool) -> dict[str, Any]:
    kind = "objects" if vision["kind"] == "backbone" else vision["kind"]
    results = {"kind": kind, **{key: vision[key] for key in VISION_KEYS[kind] if key in vision}}
    if kind == "objects":
        results["scene_context"] = vision.get("survey", vision.get("scene_context", False))
        results["guided_attention"] = guided
    return results


def _data(data: Mapping[str, Any]) -> dict[str, Any]:
    if data["source"] == "dataset":
        return {"source": "dataset", **{key: data[key] for key in DATASET_KEYS if key in data}}
    results = {"source": "pool", **{key: data[key] for key in POOL_KEYS if key in data}}
    results["tokens"] = data.get("features", "")
    results["augment"] = data.get("vary", data.get("augment", "examples"))
    return results


def _stage(stage: Mapping[str, Any]) -> dict[str, Any]:
    results = {STAGE_KEYS_BEFORE.get(key, key): value for key, value in stage.items()}
    results["tasks"] = {TASKS_BEFORE.get(task, task): weight for task, weight in stage["tasks"].items()}
    return results
