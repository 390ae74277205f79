"""Shrinks a recipe to toy size, so that it trains in seconds, with the same method, tasks and kind of data.

Preset, optimiser and schedule stay, too. ``shrink`` reads a recipe with every setting spelled out
(``dump_recipe``) and returns the ``KEY=VALUE`` settings that make it small. Keys that the recipe does not
have are not set, so the settings fit any version of the schema.
"""

from collections.abc import Iterator, Mapping
from typing import Any

STEPS = 20
"""Steps of each stage."""
IMAGE = (96, 64)
"""Width and height of the pictures of the tiny data, which a convolutional backbone sees whole."""
SQUARE = 64
"""Side of a picture that is cut into patches."""
GRID = (3, 3)
FEATURE_WIDTH = 24
CLASSES = 6
"""Classes of the labelled pictures of the tiny birds."""

METHOD: Mapping[str, Any] = {
    "width": 32,
    "heads": 4,
    "ffn": 32,
    "single_layers": 1,
    "pair_layers": 1,
    "cross_layers": 2,
    "layers": 2,
    "word_width": 12,
    "decoder_layers": 2,
    "intra_layers": 2,
    "inter_layers": 1,
    "text_width": 16,
    "text_heads": 2,
    "text_ffn": 32,
    "text_layers": 1,
    "context": 40,
    "joint_width": 12,
    "decoder_width": 16,
    "decoder_heads": 2,
    "decoder_ffn": 32,
    "classes": CLASSES,
    "attention_width": 32,
    "view_width": 16,
    "hidden_width": 24,
    "projector_width": 48,
}
TEXT_TOWER = ("text_heads", "text_ffn", "text_layers", "joint_width")
"""Sizes without effect in CLIP4IDC's baseline FT2, where they must stay as they are."""
VISION: Mapping[str, Mapping[str, Any]] = {
    "features": {"rows": GRID[0], "columns": GRID[1], "feature_width": FEATURE_WIDTH},
    "patches": {"image_width": SQUARE, "image_height": SQUARE, "patch": 32},
    "backbone": {"image_width": IMAGE[0], "image_height": IMAGE[1], "channels": [4, 6, 8], "blocks": 1},
}
"""Sizes by kind of vision; any other kind is a backbone, too."""
KEEP = 6
"""Tokens kept of a picture, where a recipe does not keep all."""
STAGE: Mapping[str, int] = {
    "warmup": 4,
    "stair": 8,
    "first_stair": 5,
    "evaluate_every": 10,
    "evaluate_from": 15,
}
"""Numbers of steps, where a stage has them."""


def shrink(table: Mapping[str, Any], steps: int = STEPS) -> list[str]:
    """The settings that make a recipe small; ``table`` is the spelled-out recipe as TOML reads it."""
    method = table["method"]
    unused = TEXT_TOWER if method.get("variant") == "ft2" else ()
    settings = [
        f"method.{key}={size}" for key, size in METHOD.items() if method.get(key) and key not in unused
    ]
    settings += [f"vision.{key}={value}" for key, value in _vision(table["vision"])]
    return [*settings, *shrink_stages(table, steps)]


def shrink_stages(table: Mapping[str, Any], steps: int = STEPS) -> list[str]:
    """The settings that make the stages of a recipe short and leave the model as large as it is."""
    return [
        f"stage.{stage['name']}.{key}={value}"
        for stage in table["stages"]
        for key, value in _stage(stage, steps)
    ]


def _vision(vision: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    sizes = VISION.get(vision["kind"], VISION["backbone"])
    yield from ((key, value) for key, value in sizes.items() if key in vision)
    if vision.get("keep") and sizes is VISION["backbone"]:
        yield "keep", KEEP


def _stage(stage: Mapping[str, Any], steps: int) -> Iterator[tuple[str, int]]:
    yield "steps", steps
    yield "batch", 14 if "fda" in stage["tasks"] else 6  # with six false captions each: two pairs
    yield "log_every", 1
    yield "save_every", steps
    yield from ((key, min(value, steps)) for key, value in STAGE.items() if stage.get(key))
