"""What types cannot say of a recipe: ranges, and settings that only make sense together."""

from collections.abc import Mapping
from typing import Any

from whatchanged.errors import RecipeError
from whatchanged.recipes.schema import (
    CLIP4IDCConfig,
    MethodConfig,
    PCLConfig,
    PCLCrossTaskConfig,
    Recipe,
    ScorerConfig,
    StageConfig,
    VisionConfig,
)


def check(recipe: Recipe, where: str) -> None:
    """Raises RecipeError, with the key and what it wants, at the first setting that does not fit."""
    method = recipe.method
    _positive(where, "method.", {name: getattr(method, name) for name in ("width", "heads")})
    require(
        where, "method.width", method.width, method.width % method.heads == 0, "a multiple of method.heads"
    )
    require(where, "method.dropout", method.dropout, 0 <= method.dropout < 1, "a number from 0 to below 1")
    require(where, "method.max_length", method.max_length, method.max_length >= 4, "at least 4")
    require(where, "data.validation", recipe.data.validation, recipe.data.validation >= 0, "0 (all) or more")
    require(where, "seed", recipe.seed, recipe.seed >= 0, "0 or more")
    _check_vision(recipe.vision, where)
    _check_data(recipe, where)
    for stage in recipe.stages:
        _check_stage(stage, where)
        _check_tasks(recipe, stage, where)
        _check_examples(recipe, stage, where)
    if isinstance(method, PCLConfig):
        _check_pcl(method, recipe, where)
    elif isinstance(method, CLIP4IDCConfig):
        _check_clip4idc(method, recipe.vision, where)
    else:
        _check_scorer(method, recipe.vision, where)


def _check_vision(vision: VisionConfig, where: str) -> None:
    sizes = ("rows", "columns", "feature_width", "image_width", "image_height", "patch")
    _positive(where, "vision.", {name: getattr(vision, name) for name in sizes})
    surveyed = not vision.scene_context or vision.matching
    require(
        where,
        "vision.scene_context",
        vision.scene_context,
        surveyed,
        "false without vision.matching, which uses the places",
    )
    for switch in ("matching", "scene_truth"):
        value = getattr(vision, switch)
        require(where, f"vision.{switch}", value, vision.kind == "backbone" or not value,
            'false without vision.kind = "backbone", whose cells say what they show')  # fmt: skip
    if vision.kind == "backbone":
        for side in ("image_width", "image_height"):
            size = getattr(vision, side)
            require(where, f"vision.{side}", size, size % 8 == 0, "a multiple of 8, the side of a cell")
        three = len(vision.channels) == 3 and min(vision.channels) > 0
        require(where, "vision.channels", vision.channels, three, "three numbers above 0, one a convolution")
        _not_negative(where, "vision.", {"blocks": vision.blocks})
        cells = _cells(vision)
        require(
            where, "vision.keep", vision.keep, 0 <= vision.keep <= cells, f"0 (all) to {cells}, the cells"
        )


def _check_data(recipe: Recipe, where: str) -> None:
    data, kind = recipe.data, recipe.vision.kind
    scenes = not data.exchange or data.examples == "scenes"
    require(where, "data.exchange", data.exchange, scenes, 'false, unless data.examples = "scenes"')
    if data.source == "pool":
        require(where, "vision.kind", kind, kind != "features",
            'another with data.source = "pool", which holds no grid features')  # fmt: skip
        require(where, "data.examples", data.examples, data.examples == "captions",
            'captions with data.source = "pool", whose pairs are drawn')  # fmt: skip


def _check_stage(stage: StageConfig, where: str) -> None:
    """A stage's numbers, whatever it learns."""
    prefix = f"stage.{stage.name}."
    counts = ("steps", "batch", "lr", "log_every", "save_every")
    _positive(where, prefix, {name: getattr(stage, name) for name in counts})
    others = ("warmup", "weight_decay", "evaluate_every", "evaluate_from", "patience", "clip")
    _not_negative(where, prefix, {name: getattr(stage, name) for name in others})
    require(where, prefix + "beta2", stage.beta2, 0 <= stage.beta2 < 1, "a number from 0 to below 1")
    ramp = stage.schedule != "inverse_sqrt" or stage.warmup > 0
    require(where, prefix + "warmup", stage.warmup, ramp, "at least 1 with schedule inverse_sqrt")
    stairs = stage.stair > 0 if stage.schedule == "stairs" else stage.stair == 0
    require(where, prefix + "stair", stage.stair, stairs, "1 or more with schedule stairs, 0 with any other")
    reached = stage.evaluate_from <= stage.steps
    require(where, prefix + "evaluate_from", stage.evaluate_from, reached, f"at most the {stage.steps} steps")


def _check_tasks(recipe: Recipe, stage: StageConfig, where: str) -> None:
    """Tasks and metric that the method has, and the data and the vision that they need."""
    prefix, method = f"stage.{stage.name}.", recipe.method
    pairs = stage.data == "pairs" and "fgvc" not in stage.tasks
    require(where, "method.name", method.name, pairs or isinstance(method, PCLCrossTaskConfig),
        'pcl-birds with the task fgvc or data = "single"')  # fmt: skip
    require(where, "data.source", recipe.data.source, pairs or recipe.data.source == "dataset",
        'dataset with the task fgvc or data = "single"')  # fmt: skip
    whole = stage.data == "pairs" or set(stage.tasks) <= {"mlm", "mvcl", "fda", "fgvc"}
    require(where, prefix + "data", stage.data, whole, "pairs with tasks other than mlm, mvcl, fda, fgvc")
    own, sight = _tasks(method), _sight(recipe.vision)
    for task in stage.tasks:
        if task in ("seeing", "matching"):
            needed = 'vision.kind = "backbone", vision.scene_truth'
            needed += ", vision.matching" if task == "matching" else ""
            require(where, prefix + "tasks", task, task in sight, f"it only with {needed}")
        else:
            require(where, prefix + "tasks", task, task in own, f"some of {', '.join([*own, *sight])}")
    ranks = stage.metric != "R@1" or "retrieval" in own
    require(where, prefix + "metric", stage.metric, ranks, "CIDEr-D or ROUGE-L: only clip4idc, and not its "
        "baselines, embeds captions")  # fmt: skip


def _tasks(method: MethodConfig) -> tuple[str, ...]:
    """The tasks of a method's own."""
    if isinstance(method, PCLConfig):
        return (
            "mlm",
            "mvcl",
            "fda",
            "caption",
            *(("fgvc",) if isinstance(method, PCLCrossTaskConfig) else ()),
        )
    retrieves = isinstance(method, CLIP4IDCConfig) and method.variant == "clip4idc"
    return ("retrieval", "caption") if retrieves else ("caption",)


def _sight(vision: VisionConfig) -> tuple[str, ...]:
    """The tasks that a way of seeing adds: those of scene truth."""
    if vision.kind != "backbone" or not vision.scene_truth:
        return ()
    return ("seeing", "matching") if vision.matching else ("seeing",)


def _cells(vision: VisionConfig) -> int:
    return vision.image_width // 8 * (vision.image_height // 8)


def _check_examples(recipe: Recipe, stage: StageConfig, where: str) -> None:
    """What a stage may say of its own examples."""
    prefix, own = f"stage.{stage.name}.", stage.examples
    views = not stage.exchange or own == "scenes" or (own == "captions" and stage.changed_only)
    require(where, prefix + "exchange", stage.exchange, views,
        'false, unless the stage\'s own examples are "scenes", or "captions" with changed_only')  # fmt: skip
    mixed = not stage.changed_only or (own or recipe.data.examples) != "scenes"
    require(
        where, prefix + "changed_only", stage.changed_only, mixed, "false with scenes, which hold both pairs"
    )
    drawn = recipe.data.source == "dataset" or not (own or stage.changed_only)
    require(where, prefix + ("examples" if own else "changed_only"), own or True, drawn,
        'none of its own with data.source = "pool", whose pairs are drawn')  # fmt: skip


def _check_pcl(method: PCLConfig, recipe: Recipe, where: str) -> None:
    names = ("ffn", "cross_layers", "negatives", "mvcl_temperature", "fda_temperature")
    _positive(where, "method.", {name: getattr(method, name) for name in names})
    _not_negative(
        where, "method.", {name: getattr(method, name) for name in ("single_layers", "pair_layers")}
    )
    drawn = recipe.data.source == "pool" and not recipe.data.merges  # truth tells of whole words
    able = method.every_word and drawn and bool(_sight(recipe.vision))
    guided = method.guided_attention
    require(where, "method.guided_attention", guided, able or not guided,
        'false with data.merges, and without a pool, method.every_word, vision.kind = "backbone", '
        "vision.scene_truth")  # fmt: skip
    if isinstance(method, PCLCrossTaskConfig):
        _not_negative(where, "method.", {"classes": method.classes})
    for stage in recipe.stages:
        fits = "fda" not in stage.tasks or stage.batch > method.negatives
        require(where, f"stage.{stage.name}.batch", stage.batch, fits, "more than method.negatives with the "
            "task fda, whose batches are batch / (negatives + 1) pairs")  # fmt: skip
        if isinstance(method, PCLCrossTaskConfig):
            labelled = "fgvc" not in stage.tasks or method.classes > 1
            require(
                where, "method.classes", method.classes, labelled, "the number of classes, for the task fgvc"
            )


def _check_clip4idc(method: CLIP4IDCConfig, vision: VisionConfig, where: str) -> None:
    """Sizes that divide one another, and words that fit their tables."""
    names = ("intra_layers", "text_width", "text_heads", "text_ffn", "text_layers", "joint_width",
             "decoder_width", "decoder_heads", "decoder_ffn", "decoder_layers")  # fmt: skip
    _positive(where, "method.", {name: getattr(method, name) for name in names})
    _not_negative(where, "method.", {"inter_layers": method.inter_layers})
    for part in ("text", "decoder"):
        width, heads = getattr(method, f"{part}_width"), getattr(method, f"{part}_heads")
        require(
            where, f"method.{part}_width", width, width % heads == 0, f"a multiple of method.{part}_heads"
        )
    words = method.max_words
    require(where, "method.max_words", words, 3 <= words <= method.context, "3 to method.context")
    require(where, "method.max_length", method.max_length, method.max_length <= method.context + 1,
        "at most method.context + 1")  # fmt: skip
    tied = method.variant != "clip4idc" or method.preset == "authors"
    fits = not tied or method.decoder_width == method.text_width
    require(where, "method.decoder_width", method.decoder_width, fits,
        "method.text_width, since CLIP's word vectors enter the captioner")  # fmt: skip
    if vision.kind == "patches":
        for side in ("image_width", "image_height"):
            size = getattr(vision, side)
            require(where, f"vision.{side}", size, size % vision.patch == 0, "a multiple of vision.patch")


def _check_scorer(method: ScorerConfig, vision: VisionConfig, where: str) -> None:
    names = ("word_width", "decoder_layers", "temperature")
    _positive(where, "method.", {name: getattr(method, name) for name in names})
    names = ("layers", "view_weight", "reason_weight")
    _not_negative(where, "method.", {name: getattr(method, name) for name in names})
    for name in ("width", "word_width"):
        value = getattr(method, name)
        require(where, f"method.{name}", value, value % 2 == 0, "an even number: half of it is a position's")
    subtract, layers = method.difference == "subtract", method.layers
    aligned = not subtract or method.view_weight == 0
    require(
        where,
        "method.view_weight",
        method.view_weight,
        aligned,
        'zero with difference = "subtract", which matches no views: --set method.view_weight=0',
    )
    require(where, "method.layers", layers, subtract or layers > 0, 'above 0 with difference = "reconstruct"')
    mended = not method.repaired or method.preset == "authors"
    require(
        where, "method.repaired", method.repaired, mended, '[] with preset = "paper", which has no mistake'
    )
    constant = method.temperature == 1 or method.preset == "paper"
    require(
        where,
        "method.temperature",
        method.temperature,
        constant,
        '1 with preset = "authors", which learns its own',
    )
    whole = vision.kind == "features" or vision.keep in (0, _cells(vision))
    require(
        where,
        "vision.keep",
        vision.keep,
        whole,
        "0: SCORER lays both pictures cell upon cell, so it needs all",
    )


def _positive(where: str, prefix: str, values: Mapping[str, float]) -> None:
    for name, value in values.items():
        require(where, prefix + name, value, 0 < value < float("inf"), "above 0")


def _not_negative(where: str, prefix: str, values: Mapping[str, float]) -> None:
    for name, value in values.items():
        require(where, prefix + name, value, 0 <= value < float("inf"), "0 or more")


def require(where: str, key: str, value: Any, right: bool, wanted: str) -> None:
    """Raises RecipeError unless ``right``: the setting, what it is, and what is ``wanted``."""
    if not right:
        raise RecipeError(f"{where}: {key}: got {value!r}, wanted {wanted}")
