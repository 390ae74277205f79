"""What types cannot say of a whole recipe: ranges, and settings that only make sense together.

A setting that would have no effect is refused, so that a recipe means what it says.
"""

from collections import Counter

from whatchanged.recipes.checks import (
    require,
    require_not_negative,
    require_positive,
    require_used,
)
from whatchanged.recipes.schema import (
    DatasetConfig,
    FeaturesConfig,
    ObjectsConfig,
    PoolConfig,
    Recipe,
    StageConfig,
)


def check(recipe: Recipe, where: str) -> None:
    """Raise RecipeError, with the key and what it wants, at the first setting that does not fit."""
    require(where, "seed", recipe.seed, recipe.seed >= 0, "0 or more")
    _check_method(recipe, where)
    recipe.vision.check(where)
    for stage in recipe.stages:
        _check_numbers(stage, where)
        _check_evaluation(recipe, stage, where)
        _check_tasks(recipe, stage, where)
        _check_vision_use(recipe, stage, where)
    if isinstance(recipe.data, DatasetConfig):
        _check_dataset(recipe, recipe.data, where)
    else:
        _check_pool(recipe, recipe.data, where)
    if isinstance(recipe.vision, ObjectsConfig):
        _check_guided_attention(recipe, recipe.vision, where)
    recipe.method.check(recipe, where)


def _check_method(recipe: Recipe, where: str) -> None:
    method = recipe.method
    require(where, "method.max_length", method.max_length, method.max_length >= 4, "at least 4")
    dropout = getattr(method, "dropout", 0.0)
    require(where, "method.dropout", dropout, 0 <= dropout < 1, "a number from 0 to below 1")
    counts = Counter(task.number for task in recipe.tasks.values())
    shared = [number for number, count in counts.items() if count > 1]
    names = [name for name, task in recipe.tasks.items() if task.number in shared]
    wanted = f"task numbers of its own: {', '.join(names)} share one"
    require(where, "method.name", method.name, not shared, wanted)


def _check_numbers(stage: StageConfig, where: str) -> None:
    """A stage's numbers, whatever it learns."""
    prefix = f"stage.{stage.name}."
    require_positive(where, prefix, stage, "steps", "batch", "lr", "log_every", "save_every")
    require_not_negative(where, prefix, stage, "warmup", "weight_decay", "evaluate_every", "evaluate_from")
    require_not_negative(where, prefix, stage, "patience", "max_grad_norm")
    require(where, prefix + "beta2", stage.beta2, 0 <= stage.beta2 < 1, "a number from 0 to below 1")
    ramp = stage.schedule != "inverse_sqrt" or stage.warmup > 0
    require(where, prefix + "warmup", stage.warmup, ramp, "at least 1 with schedule inverse_sqrt")
    stairs = stage.stair > 0 if stage.schedule == "stairs" else stage.stair == 0
    require(where, prefix + "stair", stage.stair, stairs, "1 or more with schedule stairs, 0 with any other")


def _check_evaluation(recipe: Recipe, stage: StageConfig, where: str) -> None:
    """When the stage is validated, by what, and when it stops."""
    prefix, every = f"stage.{stage.name}.", stage.evaluate_every
    ranks = stage.metric != "R@1" or recipe.method.embeds_captions
    wanted = "CIDEr-D or ROUGE-L: this method does not embed captions"
    require(where, prefix + "metric", stage.metric, ranks, wanted)
    reached = stage.evaluate_from <= stage.steps
    require(where, prefix + "evaluate_from", stage.evaluate_from, reached, f"at most the {stage.steps} steps")
    for key in ("metric", "evaluate_from", "patience"):
        require_used(where, prefix, stage, key, every > 0, "evaluate_every")


def _check_tasks(recipe: Recipe, stage: StageConfig, where: str) -> None:
    """Tasks that the method and its vision have, on data that they can read."""
    prefix, known = f"stage.{stage.name}.", recipe.tasks
    for name in stage.tasks:
        require(where, prefix + "tasks", name, name in known, f"some of {', '.join(known)}")
    single = [name for name, task in known.items() if task.single_pictures]
    fits = stage.data == "pairs" or set(stage.tasks) <= set(single)
    wanted = f"pairs: only {', '.join(single) or 'no task of this method'} can read single pictures"
    require(where, prefix + "data", stage.data, fits, wanted)
    disk = stage.data == "single" or any(known[name].reads == "labelled" for name in stage.tasks)
    source = recipe.data.source
    wanted = "dataset: single and labelled pictures lie on disk"
    require(where, "data.source", source, not disk or source == "dataset", wanted)
    drawn = any(known[name].truth for name in stage.tasks)
    wanted = f"pool: the truth that {', '.join(stage.tasks)} learns from is that of drawn pairs"
    require(where, "data.source", source, not drawn or source == "pool", wanted)


def _check_vision_use(recipe: Recipe, stage: StageConfig, where: str) -> None:
    """Whether there is a vision that could learn."""
    prefix = f"stage.{stage.name}."
    learns = recipe.vision.learns
    wanted = f"a vision that learns (kind = {recipe.vision.kind!r} has no weights)"
    require_used(where, prefix, stage, "train_vision", learns, wanted)
    rate = stage.rates.get("vision", 1.0)
    fits = "vision" not in stage.rates or (learns and stage.train_vision)
    require(where, prefix + "rates.vision", rate, fits, "none: the vision does not learn in this stage")


def _check_dataset(recipe: Recipe, data: DatasetConfig, where: str) -> None:
    """Keys of a data set that some stage, or the vision, reads."""
    require_not_negative(where, "data.", data, "validation")
    stored = isinstance(recipe.vision, FeaturesConfig)
    require_used(where, "data.", data, "features", stored, 'vision.kind = "features"')
    single = any(stage.data == "single" for stage in recipe.stages)
    for key in ("single", "single_preparation"):
        require_used(where, "data.", data, key, single, 'a stage with data = "single"')
    labelled = any(recipe.tasks[name].reads == "labelled" for stage in recipe.stages for name in stage.tasks)
    require_used(where, "data.", data, "labelled", labelled, "a stage whose task reads labelled pictures")
    common = not recipe.stages or any(_reads_common_examples(stage) for stage in recipe.stages)
    for key in ("examples", "exchange"):
        require_used(where, "data.", data, key, common, "a stage without examples of its own")
    scenes = not data.exchange or data.examples == "scenes"
    require(where, "data.exchange", data.exchange, scenes, 'false, unless data.examples = "scenes"')
    for stage in recipe.stages:
        _check_examples(data, stage, where)


def _reads_common_examples(stage: StageConfig) -> bool:
    return not stage.examples and stage.data == "pairs"


def _check_examples(data: DatasetConfig, stage: StageConfig, where: str) -> None:
    """What a stage may say of its own examples."""
    prefix, own = f"stage.{stage.name}.", stage.examples
    views = not stage.exchange or own == "scenes" or (own == "captions" and stage.changed_only)
    wanted = 'false, unless the stage\'s own examples are "scenes", or "captions" with changed_only'
    require(where, prefix + "exchange", stage.exchange, views, wanted)
    mixed = not stage.changed_only or (own or data.examples) != "scenes"
    wanted = "false with scenes, which hold both pairs"
    require(where, prefix + "changed_only", stage.changed_only, mixed, wanted)
    for key in ("examples", "changed_only"):
        require_used(where, prefix, stage, key, stage.data == "pairs", 'data = "pairs"')


def _check_pool(recipe: Recipe, data: PoolConfig, where: str) -> None:
    """What a pool of drawn triples can give."""
    require_not_negative(where, "data.", data, "validation")
    kind = recipe.vision.kind
    pictures = not isinstance(recipe.vision, FeaturesConfig)
    wanted = 'another with data.source = "pool", which holds no grid features'
    require(where, "vision.kind", kind, pictures, wanted)
    objects = isinstance(recipe.vision, ObjectsConfig)
    require_used(where, "data.", data, "tokens", objects, 'vision.kind = "objects"')
    pictures_read = not data.tokens
    require_used(where, "data.", data, "augment", pictures_read, "pictures: stored tokens come in variants")
    by = 'data.source = "dataset": the pairs of a pool are drawn'
    for stage in recipe.stages:
        for key in ("examples", "exchange", "changed_only"):
            require_used(where, f"stage.{stage.name}.", stage, key, False, by)


def _check_guided_attention(recipe: Recipe, vision: ObjectsConfig, where: str) -> None:
    """Guided attention needs words whose objects are known, and a method that has their attention."""
    guided = vision.guided_attention
    known = isinstance(recipe.data, PoolConfig) and not recipe.data.merges  # truth tells of whole words
    able = known and recipe.method.guidable
    wanted = "false with data.merges, without a pool, and with a method that does not ask for every word"
    require(where, "vision.guided_attention", guided, able or not guided, wanted)
