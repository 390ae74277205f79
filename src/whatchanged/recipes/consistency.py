"""Checks a whole recipe for faults that types cannot express: values out of range, and settings that do not
fit together.

A setting that would have no effect is refused, so every setting of a recipe affects the run.
"""

from collections import Counter

from whatchanged.errors import RecipeError
from whatchanged.recipes.checks import (
    require,
    require_length,
    require_not_negative,
    require_positive,
    require_used,
)
from whatchanged.recipes.hints import nearest
from whatchanged.recipes.schema import Recipe, StageConfig
from whatchanged.recipes.tables import VISION
from whatchanged.recipes.values import toml_value
from whatchanged.recipes.visions import kinds_that


def check(recipe: Recipe, where: str) -> None:
    """Raise RecipeError at the first setting that does not fit. The message contains the key and the accepted
    values.
    """
    require(where, "seed", recipe.seed, 0 <= recipe.seed < 2**63, "0 or more, below 2^63")
    require_length(where, "method.max_length", recipe.method.max_length)
    _check_task_numbers(recipe, where)
    recipe.vision.check(where)
    for stage in recipe.stages:
        _check_numbers(stage, where)
        _check_evaluation(recipe, stage, where)
        _check_tasks(recipe, stage, where)
        _check_vision_use(recipe, stage, where)
        _check_rates(recipe, stage, where)
    recipe.data.check(recipe, where)
    recipe.vision.check_recipe(recipe, where)
    recipe.method.check(recipe, where)


def _check_task_numbers(recipe: Recipe, where: str) -> None:
    """Checks that no two tasks of a recipe have the same seed number, so that no two tasks draw the same
    examples.
    """
    counts = Counter(task.number for task in recipe.tasks.values())
    names = [name for name, task in recipe.tasks.items() if counts[task.number] > 1]
    wanted = f"a method whose tasks have numbers of their own: {', '.join(names)} share one"
    require(where, "method.name", recipe.method.name, not names, wanted)


def _check_numbers(stage: StageConfig, where: str) -> None:
    """Checks the numbers that every stage has."""
    prefix = f"stage.{stage.name}."
    require_positive(where, prefix, stage, "steps", "batch", "lr", "log_every", "save_every")
    require(where, prefix + "lr", stage.lr, stage.lr <= 1000, "a rate above 0, at most 1,000")
    require_not_negative(where, prefix, stage, "warmup", "weight_decay", "evaluate_every", "evaluate_from")
    require_not_negative(where, prefix, stage, "patience", "max_grad_norm")
    require(where, prefix + "beta2", stage.beta2, 0 <= stage.beta2 < 1, "a number from 0 to below 1")
    ramp = stage.schedule != "inverse_sqrt" or stage.warmup > 0
    wanted = f'at least 1 with {prefix}schedule = "inverse_sqrt"'
    require(where, prefix + "warmup", stage.warmup, ramp, wanted)
    stairs = stage.schedule == "stairs"
    require_used(where, prefix, stage, stairs, f'{prefix}schedule = "stairs"', "stair", "first_stair")
    wanted = f"0 to {stage.stair}, the steps of a stair"
    fits = 0 <= stage.first_stair <= stage.stair
    require(where, prefix + "first_stair", stage.first_stair, fits, wanted)
    wanted = f'at least 1 with {prefix}schedule = "stairs"'
    require(where, prefix + "stair", stage.stair, not stairs or stage.stair > 0, wanted)


def _check_evaluation(recipe: Recipe, stage: StageConfig, where: str) -> None:
    """Checks when a stage is validated, by which metric, and when it stops."""
    prefix = f"stage.{stage.name}."
    by = f"evaluations ({prefix}evaluate_every is 0)"
    require_used(where, prefix, stage, stage.evaluate_every > 0, by, "metric", "evaluate_from", "patience")
    ranks = stage.metric != "R@1" or recipe.method.embeds_captions
    wanted = "CIDEr-D or ROUGE-L: this method does not embed captions"
    require(where, prefix + "metric", stage.metric, ranks, wanted)
    reached = stage.evaluate_from <= stage.steps
    wanted = f"at most {stage.steps}, the stage's steps"
    require(where, prefix + "evaluate_from", stage.evaluate_from, reached, wanted)


def _check_tasks(recipe: Recipe, stage: StageConfig, where: str) -> None:
    """Checks that the method and its vision have the stage's tasks, and can read the data for these tasks."""
    prefix, known = f"stage.{stage.name}.", recipe.tasks
    wanted = "at least one task, as in { caption = 1 }"
    require(where, prefix + "tasks", stage.tasks, bool(stage.tasks), wanted)
    for name, weight in stage.tasks.items():
        weighs = 0 < weight < float("inf")
        wanted = "a weight above 0. Leave out a task that is not used"
        require(where, f"{prefix}tasks.{name}", weight, weighs, wanted)
        if name not in known:
            hint = _task_hint(recipe, name)
            raise RecipeError(f"{where}: {prefix}tasks: there is no task {toml_value(name)}.{hint}")
    tasks = {name: known[name] for name in stage.tasks}
    captioned = any(task.reads == "pairs" for task in tasks.values())
    by = "a task that reads captioned pictures"
    require_used(where, prefix, stage, captioned, by, "data", "examples", "exchange", "changed_only")
    if stage.data == "single":
        able = [name for name, task in known.items() if task.single_pictures]
        readers = f"only {', '.join(able)} can" if able else "no task of this recipe can"
        wanted = f'"pairs": {readers} read single pictures'
        require(where, prefix + "data", stage.data, tasks.keys() <= set(able), wanted)
    source = recipe.data.source
    disk = stage.data == "single" or any(task.reads == "labelled" for task in tasks.values())
    wanted = '"dataset": single and labelled pictures lie on disk'
    require(where, "data.source", source, not disk or recipe.data.on_disk, wanted)
    drawn = ", ".join(name for name, task in tasks.items() if task.truth)
    wanted = f'"pool" for the task {drawn}, which learns from the truth of drawn scenes'
    has_truth = recipe.data.knows_scenes or (recipe.data.on_disk and recipe.vision.truth_beside_pairs)
    require(where, "data.source", source, not drawn or has_truth, wanted)


def _task_hint(recipe: Recipe, name: str) -> str:
    """Return the settings that a recipe with this task would need, or the nearest name of a task."""
    if recipe.vision.frozen and name in recipe.vision.task_needs:
        return " It trains the vision, which is frozen: set vision.frozen = false."
    for kind in (type(recipe.vision), *VISION.kinds()):
        if name in kind.task_needs:
            return f" It needs {kind.task_needs[name]}."
    return nearest(name, recipe.tasks)


def _check_vision_use(recipe: Recipe, stage: StageConfig, where: str) -> None:
    """Checks ``train_vision`` against the kind of vision, the stage's tasks and the stored tokens."""
    prefix, learns = f"stage.{stage.name}.", recipe.vision.learns
    by = f"a vision that learns: vision.kind = {kinds_that(lambda kind: kind.learns)}"
    require_used(where, prefix, stage, learns, by, "train_vision")
    fits = not (recipe.vision.frozen and stage.train_vision)
    require(where, prefix + "train_vision", stage.train_vision, fits, "false with vision.frozen")
    tokens = recipe.data.tokens
    teaching = [name for name in stage.tasks if recipe.tasks[name].vision_only]
    if teaching:
        wanted = f'"" for the task {teaching[0]}, which reads pictures'
        require(where, "data.tokens", tokens, not tokens, wanted)
        wanted = f"true for the task {teaching[0]}, which trains the vision and nothing else"
        require(where, prefix + "train_vision", stage.train_vision, stage.train_vision, wanted)
        rate = stage.rates.get("vision", 1.0)
        wanted = f"a number above 0 for the task {teaching[0]}, which trains the vision and nothing else"
        require(where, prefix + "rates.vision", rate, rate > 0, wanted)
    elif learns and tokens:
        wanted = "false with data.tokens: stored tokens do not train the vision that made them"
        require(where, prefix + "train_vision", stage.train_vision, not stage.train_vision, wanted)


def _check_rates(recipe: Recipe, stage: StageConfig, where: str) -> None:
    """Checks that at least one parameter group is trained, and that ``rates`` contains only groups that the
    stage trains.
    """
    key = f"stage.{stage.name}.rates"
    others = [name for name in stage.tasks if not recipe.tasks[name].vision_only]
    groups = list(recipe.method.groups(others)) if others else []
    if recipe.vision.learns and stage.train_vision:
        groups.append("vision")
    wanted = "true: the tasks of this stage train nothing but the vision"
    require(where, f"stage.{stage.name}.train_vision", stage.train_vision, bool(groups), wanted)
    for name, rate in stage.rates.items():
        require(where, f"{key}.{name}", rate, 0 <= rate < float("inf"), "0 (left as it is) or more")
        if name not in groups:
            raise RecipeError(
                f"{where}: {key}.{name} has no effect: this stage trains no group of parameters of that name."
                + nearest(name, groups)
            )
    left = any(stage.rates.get(name, 1.0) > 0 for name in groups)
    wanted = f"a rate above 0 for one of {', '.join(groups)}: nothing is left to train"
    require(where, key, stage.rates, left, wanted)
