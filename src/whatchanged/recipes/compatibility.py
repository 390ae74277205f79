"""Recipes of earlier versions, as they stand in run folders and bundles; the one place that knows them.

Before 0.2 every ``[vision]`` and ``[data]`` had the keys of all kinds. A backbone always had the heads of
object tokens. Guided attention was a setting of the method. Some settings, tasks and methods had other names.
"""

from collections.abc import Mapping
from typing import Any

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


def is_of_before(table: Mapping[str, Any]) -> bool:
    """Whether a resolved recipe was written before 0.2: its vision then spells out the keys of all kinds."""
    vision = table.get("vision")
    return isinstance(vision, dict) and vision.keys() >= ALL_KINDS


def current_form(table: Mapping[str, Any]) -> dict[str, Any]:
    """A resolved recipe of before 0.2 in the form of this version; others are returned as they are."""
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
    found = {"kind": kind, **{key: vision[key] for key in VISION_KEYS[kind] if key in vision}}
    if kind == "objects":
        found["scene_context"] = vision.get("survey", vision.get("scene_context", False))
        found["guided_attention"] = guided
    return found


def _data(data: Mapping[str, Any]) -> dict[str, Any]:
    if data["source"] == "dataset":
        return {"source": "dataset", **{key: data[key] for key in DATASET_KEYS if key in data}}
    found = {"source": "pool", **{key: data[key] for key in POOL_KEYS if key in data}}
    found["tokens"] = data.get("features", "")
    found["augment"] = data.get("vary", data.get("augment", "examples"))
    return found


def _stage(stage: Mapping[str, Any]) -> dict[str, Any]:
    found = {STAGE_KEYS_BEFORE.get(key, key): value for key, value in stage.items()}
    found["tasks"] = {TASKS_BEFORE.get(task, task): weight for task, weight in stage["tasks"].items()}
    return found
