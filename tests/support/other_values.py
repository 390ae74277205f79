"""Another sensible value for each key of a recipe: the table behind ``test_every_key.py``."""

from dataclasses import fields

from whatchanged.recipes import tables
from whatchanged.recipes.schema import Recipe, StageConfig

METHOD = {
    "name": ("scorer", "pcl"),
    "preset": ("paper", "authors"),
    "max_length": (12, 10),
    "width": (64, 48),
    "heads": (2, 4),
    "ffn": (48, 64),
    "single_layers": (2, 1),
    "pair_layers": (2, 1),
    "cross_layers": (1, 2),
    "dropout": (0.4, 0.3),
    "mvcl_temperature": (0.5, 0.4),
    "fda_temperature": (0.5, 0.4),
    "negatives": (5, 4),
    "difference_encoder": (True, False),
    "distractor_judging": (True, False),
    "every_word": (True, False),
    "classes": (7, 8),
    "margin": (0.1, 0.2),
    "single_length": (8, 9),
    "repaired": (("mean_sentence",), ()),
    "difference": ("subtract", "reconstruct"),
    "word_width": (14, 16),
    "layers": (1, 2),
    "decoder_layers": (1, 2),
    "view_weight": (0.5, 0.4),
    "reason_weight": (0.5, 0.4),
    "temperature": (0.5, 0.4),
    "variant": ("ft1", "ft2"),
    "intra_layers": (1, 2),
    "inter_layers": (2, 1),
    "text_width": (32, 16),
    "text_heads": (1, 2),
    "text_ffn": (48, 32),
    "text_layers": (2, 1),
    "context": (48, 40),
    "joint_width": (20, 12),
    "decoder_width": (32, 16),
    "decoder_heads": (1, 2),
    "decoder_ffn": (48, 32),
    "activation": ("gelu", "quick_gelu"),
    "max_words": (6, 8),
    "freeze": (True, False),
    "train_words": (True, False),
    "attention_width": (64, 32),
    "norm_groups": (8, 16),
    "view_width": (14, 16),
    "hidden_width": (20, 16),
    "map_weight": (0.5, 0.4),
    "entropy_weight": (0.5, 0.4),
    "regularise": ("all", "changed"),
    "allow_marks": (True, False),
    "projector_width": (40, 48),
    "decorrelation_weight": (0.5, 0.4),
    "contrast_weight": (0.7, 0.8),
    "off_diagonal": (0.01, 0.02),
    "epsilon": (1e-3, 1e-2),
    "pooling": ("all", "words"),
    "fusion": ("sum", "product"),
    "matching": ("max", "mean"),
    "heads_combined": ("sum", "mean"),
    "view_loss": ("contrast", "distance"),
}
VISION = {
    "kind": ("patches", "backbone"),
    "rows": (4, 3),
    "columns": (4, 3),
    "feature_width": (20, 24),
    "image_width": (96, 64, 160),
    "image_height": (64, 96, 128),
    "patch": (16, 32),
    "channels": ((6, 6, 8), (4, 6, 8)),
    "blocks": (2, 1),
    "same_cell": (True, False),
    "keep": (8, 6),
    "matching": (True, False),
    "scene_context": (True, False),
    "occlusion": (True, False),
    "landmarks": (True, False),
    "guided_attention": (True, False),
    "frozen": (True, False),
    "aligned": (True, False),
}
DATA = {
    "source": ("pool", "dataset"),
    "single_preparation": ("none", "pcl-cub"),
    "wording": ("short", "captions"),
    "preparation": ("levir", "none"),
    "examples": ("pairs", "captions"),
    "exchange": (True, False),
    "shift": (3, 2),
    "mirror_unless": (("cube",), ("sphere",)),
    "validation": (1, 2),
    "ordered_pairs": ("all", "official"),
    "augment": ("batches", "examples"),
}
STAGE = {
    "name": ("another", "one"),
    "tasks": ({"mlm": 1.0, "mvcl": 1.0}, {"matching": 1.0}, {"caption": 1.0}),
    "steps": (50, 40),
    "batch": (21, 28),
    "lr": (0.1, 0.2),
    "schedule": ("cosine", "constant"),
    "warmup": (7, 5),
    "stair": (9, 8),
    "first_stair": (3, 4),
    "optimizer": ("bert_adam", "adamw"),
    "beta2": (0.9, 0.95),
    "weight_decay": (0.5, 0.4),
    "data": ("single", "pairs"),
    "evaluate_every": (17, 13),
    "evaluate_from": (25, 15),
    "patience": (1, 2),
    "metric": ("ROUGE-L", "CIDEr-D"),
    "train_vision": (True, False),
    "log_every": (3, 4),
    "save_every": (7, 8),
    "max_grad_norm": (1e-3, 2e-3),
    "precision": ("bf16", "fp32"),
    "examples": ("pairs", "captions", "scenes"),
    "exchange": (True, False),
    "changed_only": (True, False),
    "drop_last": (True, False),
}


def keys_of(recipe: Recipe) -> list[str]:
    """All keys that a person could try on this recipe, those of other kinds of vision and data among them.

    ``name`` and ``description`` say nothing.
    """
    results = ["seed", *(f"method.{entry.name}" for entry in fields(recipe.method))]
    for table, kinds in (("vision", tables.VISION.kinds()), ("data", tables.DATA.kinds())):
        results += dict.fromkeys(f"{table}.{entry.name}" for kind in kinds for entry in fields(kind))
    for stage in recipe.stages:
        results += [f"stage.{stage.name}.{entry.name}" for entry in fields(StageConfig)]
    return results


def other_value(recipe: Recipe, key: str, data):
    """Another value than the recipe's own; for a key that the recipe's kinds do not have, any."""
    table, _, name = key.rpartition(".")
    if table == "":
        return recipe.seed + 1
    if table == "data" and name in ("path", "features", "single", "labelled", "merges", "tokens"):
        return str(_folder(recipe, name, data))
    if table.startswith("stage."):
        stage = next(stage for stage in recipe.stages if table == f"stage.{stage.name}")
        if name == "rates":
            return {recipe.method.groups(stage.tasks)[0]: 0.5}
        return _first_other(STAGE[name], getattr(stage, name), stage.examples or _examples(recipe))
    config = getattr(recipe, table)
    values = {"method": METHOD, "vision": VISION, "data": DATA}[table][name]
    return _first_other(values, getattr(config, name, None))


def _examples(recipe: Recipe) -> str:
    return getattr(recipe.data, "examples", "")


def _first_other(values, *present):
    return next(value for value in values if value not in present)


def _folder(recipe: Recipe, name: str, data):
    """Another folder of the same kind as the recipe's own."""
    birds = data.birds("other")
    if name == "path":
        return data.pool(which="other") if recipe.data.source == "pool" else data.twin("other")
    if name == "features":
        vision = recipe.vision
        grid = [getattr(vision, size, 3) for size in ("rows", "columns", "feature_width")]
        return data.features(*grid, "other")
    if name == "tokens":
        return data.tokens(recipe.vision)
    return {"single": birds / "cub", "labelled": birds / "nabirds", "merges": data.merges}[name]
