"""Recipes of earlier versions, as they stand in run folders and bundles; the one place that knows them.

Before 0.2 every ``[vision]`` and ``[data]`` had the keys of all kinds. A backbone always had the heads of
object tokens. Guided attention was a setting of the method. Some settings, tasks and methods had other names.

Up to 0.2 what judges regions of screens was a vision (``vision.kind = "regions"``) of a method that did not
learn beside it. Where that method did learn, the recipe can no longer be read.
"""

from collections.abc import Mapping
from typing import Any

from whatchanged.errors import RecipeError

METHODS_BEFORE = {"pcl-birds": "pcl-cross-task"}
TASKS_BEFORE = {"seeing": "detection"}
STAGE_KEYS_BEFORE = {"clip": "max_grad_norm"}
"""Names of before -> names of today."""
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
"""Keys that no ``[vision]`` of today has together."""

REGIONS = "regions"
"""Up to 0.2 a kind of vision and its only task; now a method, its task, and a source of data."""
REGION_KEYS = ("regions", "width", "dropout", "networks")
"""Keys of ``[vision]`` up to 0.2 that are keys of the method now."""
REGION_DATA_KEYS = ("path", "features")
REGION_TOKEN_RECIPES = ("screens-pcl",)
"""Recipes of the package up to 0.2 whose method learned from regions as tokens."""
LAST_WITH_REGION_TOKENS = "0.2"
"""The last version in which a method could learn from regions as tokens."""


def is_of_before(table: Mapping[str, Any]) -> bool:
    """Whether a resolved recipe was written before 0.2: its vision then spells out the keys of all kinds."""
    vision = table.get("vision")
    return isinstance(vision, dict) and vision.keys() >= ALL_KINDS


def has_region_vision(table: Mapping[str, Any]) -> bool:
    """Whether a recipe was written while what judges regions was a vision."""
    vision = table.get("vision")
    return isinstance(vision, dict) and vision.get("kind") == REGIONS


def region_tokens_are_gone(name: str) -> RecipeError:
    """What is wrong with a recipe whose method learns from regions as tokens."""
    return RecipeError(
        f"{name}: in it a method learned from regions of screens as tokens, which no method does any more."
        f" Version {LAST_WITH_REGION_TOKENS} reads it: install that one beside this one."
    )


def _region_method(table: Mapping[str, Any]) -> dict[str, Any]:
    """A recipe in which nothing but the vision of regions learned: that is the method now."""
    if any(task != REGIONS for stage in table["stages"] for task in stage["tasks"]):
        raise region_tokens_are_gone(str(table["name"]))
    vision, data = table["vision"], table["data"]
    return {
        **table,
        "method": {"name": REGIONS, **{key: vision[key] for key in REGION_KEYS if key in vision}},
        "vision": {"kind": "none"},
        "data": {"source": REGIONS, **{key: data[key] for key in REGION_DATA_KEYS if key in data}},
        "stages": [_region_stage(stage) for stage in table["stages"]],
    }


def _region_stage(stage: Mapping[str, Any]) -> dict[str, Any]:
    """A stage without settings that chose among captions; rates of the vision are the method's."""
    chose = ("data", "examples", "exchange", "changed_only", "train_vision", "rates")
    results = {key: value for key, value in stage.items() if key not in chose}
    rates = stage.get("rates", {})
    return {**results, "rates": {"method": rates["vision"]}} if "vision" in rates else results


def current_form(table: Mapping[str, Any]) -> dict[str, Any]:
    """A resolved recipe of an earlier version in the form of this one; others are returned as they are.

    Raises RecipeError for one that only an earlier version can read.
    """
    if has_region_vision(table):
        return _region_method(table)
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
