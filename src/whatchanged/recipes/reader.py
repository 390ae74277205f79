"""TOML <-> ``Recipe``: strict both ways, so that a recipe fails on load and never in hour three.

A setting that is unknown, missing or of the wrong type is reported with its file, its key and the nearest
known key. ``stage.<name>.<key>`` (or ``stages.<name>.<key>``) addresses a stage in overrides and messages.
"""

import difflib
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from whatchanged.errors import RecipeError
from whatchanged.recipes.schema import (
    METHOD_CONFIGS,
    CLIP4IDCConfig,
    MethodConfig,
    PCLBirdsConfig,
    PCLConfig,
    Recipe,
    ScorerConfig,
    StageConfig,
    Task,
)

TASKS = get_args(Task)


def recipe_names() -> tuple[str, ...]:
    """The recipes inside the package, sorted."""
    files = resources.files("whatchanged.recipes").iterdir()
    return tuple(sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml")))


def recipe_text(name_or_path: str | Path) -> str:
    """A recipe's file as it stands, comments included.

    Raises RecipeError if it is neither a file nor the name of a recipe inside the package.
    """
    path = Path(name_or_path)
    if path.suffix == ".toml" and path.is_file():
        try:
            return path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise RecipeError(f"{path}: cannot read the recipe: {error}") from error
    if str(name_or_path) in recipe_names():
        return (
            resources.files("whatchanged.recipes")
            .joinpath(f"{name_or_path}.toml")
            .read_text(encoding="utf-8")
        )
    raise RecipeError(
        f"{name_or_path}: no such recipe. It is neither a .toml file nor one of: {', '.join(recipe_names())}"
        + _nearest(str(name_or_path), recipe_names())
    )


def load_recipe(name_or_path: str | Path, overrides: Sequence[str] = ()) -> Recipe:
    """Read a recipe by name or from a file, then apply ``KEY=VALUE`` overrides, typed by the schema.

    Raises RecipeError on anything that the schema does not know or allow.
    """
    return parse_recipe(recipe_text(name_or_path), str(name_or_path), overrides)


def parse_recipe(text: str, where: str, overrides: Sequence[str] = ()) -> Recipe:
    """``text`` (TOML) as a Recipe; ``where`` names it in messages."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RecipeError(f"{where}: not a TOML file: {error}") from error
    for override in overrides:
        _apply_override(table, override)
    recipe: Recipe = _build(Recipe, table, where, "")
    _check(recipe, where)
    return recipe


def dump_recipe(recipe: Recipe) -> str:
    """The recipe as TOML with every setting spelled out; ``parse_recipe`` reads the same recipe back."""
    top, tables = [], []
    for entry in fields(recipe):
        value = getattr(recipe, entry.name)
        if entry.name == "stages":
            tables += ["[[stages]]\n" + _dump_fields(stage) for stage in value]
        elif is_dataclass(value):
            tables.append(f"[{entry.name}]\n" + _dump_fields(value))
        else:
            top.append(f"{entry.name} = {_dump_value(value)}\n")
    return "\n".join(["".join(top), *tables])


def _dump_fields(config: Any) -> str:
    return "".join(f"{entry.name} = {_dump_value(getattr(config, entry.name))}\n" for entry in fields(config))


def _dump_value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_dump_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, tuple):
        return "[" + ", ".join(_dump_value(item) for item in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # TOML's basic strings share JSON's escapes, but for DEL, which TOML wants escaped.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)


def _build(cls: Any, table: Any, where: str, prefix: str) -> Any:
    """One dataclass from one TOML table, field by field."""
    if not isinstance(table, dict):
        raise RecipeError(f"{where}: {prefix.rstrip('.')}: got {table!r}, wanted a table of settings")
    known: dict[str, Field[Any]] = {entry.name: entry for entry in fields(cls)}
    hints = get_type_hints(cls)
    for key in table:
        if key not in known:
            raise RecipeError(f"{where}: unknown key {prefix}{key}." + _nearest(key, known))
    values = {}
    for key, entry in known.items():
        if key in table:
            values[key] = _typed(hints[key], table[key], where, prefix + key)
        elif entry.default is MISSING and entry.default_factory is MISSING:
            raise RecipeError(f"{where}: key {prefix}{key} is missing. Add it to the recipe.")
    return cls(**values)


def _typed(hint: Any, value: Any, where: str, key: str) -> Any:
    """``value`` if it has the type ``hint``; ints pass as floats and lists as tuples, nothing else."""
    origin, wanted = get_origin(hint), get_args(hint)
    if hint == MethodConfig:
        return _method(value, where)
    if is_dataclass(hint):
        return _build(hint, value, where, key + ".")
    if hint == tuple[StageConfig, ...]:
        return _stages(value, where)
    if origin is tuple and isinstance(value, list):
        return tuple(_typed(wanted[0], item, where, key) for item in value)
    if origin is Mapping or origin is dict:
        return _rates(value, where, key) if key.endswith(".rates") else _task_weights(value, where, key)
    if origin is Literal and isinstance(value, str):
        if value in wanted:
            return value
        raise RecipeError(
            f"{where}: {key}: got {value!r}, wanted one of {', '.join(wanted)}." + _nearest(value, wanted)
        )
    if hint is float and type(value) in (int, float):
        return float(value)
    if isinstance(hint, type) and type(value) is hint:
        return value
    raise RecipeError(f"{where}: {key}: got {value!r}, wanted {_type_name(hint)}")


def _method(value: Any, where: str) -> MethodConfig:
    """The settings of the method that the table names."""
    name = value.get("name", "pcl") if isinstance(value, dict) else "pcl"
    if name not in METHOD_CONFIGS:
        raise RecipeError(
            f"{where}: method.name: there is no method {name!r}." + _nearest(str(name), METHOD_CONFIGS)
        )
    built: MethodConfig = _build(METHOD_CONFIGS[name], value, where, "method.")
    return built


def _stages(value: Any, where: str) -> tuple[StageConfig, ...]:
    if not isinstance(value, list) or not value:
        raise RecipeError(f"{where}: stages: got {value!r}, wanted at least one [[stages]] table")
    built = []
    for number, table in enumerate(value):
        name = table.get("name", number) if isinstance(table, dict) else number
        built.append(_build(StageConfig, table, where, f"stage.{name}."))
    names = [stage.name for stage in built]
    for name in names:
        if names.count(name) > 1:
            raise RecipeError(f"{where}: two stages are called {name!r}. Rename one of them.")
    return tuple(built)


def _task_weights(value: Any, where: str, key: str) -> dict[str, float]:
    if not isinstance(value, dict) or not value:
        raise RecipeError(f"{where}: {key}: got {value!r}, wanted a table of task = weight")
    for task in value:
        if task not in TASKS:
            raise RecipeError(f"{where}: {key}: unknown task {task!r}, wanted some of {', '.join(TASKS)}."
                              + _nearest(task, TASKS))  # fmt: skip
    weights = {task: _typed(float, weight, where, f"{key}.{task}") for task, weight in value.items()}
    if any(not 0 < weight < float("inf") for weight in weights.values()):
        raise RecipeError(
            f"{where}: {key}: got {value!r}, wanted weights above zero. Leave out unused tasks."
        )
    return weights


def _rates(value: Any, where: str, key: str) -> dict[str, float]:
    if not isinstance(value, dict):
        raise RecipeError(f"{where}: {key}: got {value!r}, wanted a table of parameter group = factor")
    rates = {group: _typed(float, rate, where, f"{key}.{group}") for group, rate in value.items()}
    for group, rate in rates.items():
        _in(where, f"{key}.{group}", rate, 0 <= rate < float("inf"), "0 (left as it is) or more")
    return rates


def _apply_override(table: dict[str, Any], override: str) -> None:
    """Set one ``a.b=value`` in the raw table; the types are checked later, with all the rest."""
    key, equals, text = override.partition("=")
    where = f"--set {override}"
    if not equals or not key.strip():
        raise RecipeError(f"{where}: wanted KEY=VALUE, for example stage.caption.lr=1e-4")
    path = key.strip().split(".")
    target: Any = table
    if path[0] in ("stage", "stages"):
        stages = [s for s in table.get("stages", []) if isinstance(s, dict)]
        names = [str(stage.get("name")) for stage in stages]
        if len(path) < 3 or path[1] not in names:
            raise RecipeError(f"{where}: wanted stage.<name>.<key> with one of the stages {', '.join(names)}")
        target, path = stages[names.index(path[1])], path[2:]
    for part in path[:-1]:
        target = target.setdefault(part, {})
        if not isinstance(target, dict):
            raise RecipeError(f"{where}: {part} holds a value, not a table of settings")
    target[path[-1]] = _override_value(text.strip())


def _override_value(text: str) -> Any:
    """The value as TOML reads it; a bare word is a string, so that ``schedule=cosine`` needs no quotes."""
    try:
        parsed = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    return parsed["value"] if len(parsed) == 1 else text


def _check(recipe: Recipe, where: str) -> None:
    """What types cannot say: ranges, and settings that only make sense together."""
    method, vision = recipe.method, recipe.vision
    _positive(where, "method.", {name: getattr(method, name) for name in ("width", "heads")})
    sizes = ("rows", "columns", "feature_width", "image_width", "image_height", "patch")
    _positive(where, "vision.", {name: getattr(vision, name) for name in sizes})
    _in(where, "method.width", method.width, method.width % method.heads == 0, "a multiple of method.heads")
    _in(where, "method.dropout", method.dropout, 0 <= method.dropout < 1, "a number from 0 to below 1")
    _in(where, "method.max_length", method.max_length, method.max_length >= 4, "at least 4")
    _in(where, "data.validation", recipe.data.validation, recipe.data.validation >= 0, "0 (all) or more")
    _in(where, "seed", recipe.seed, recipe.seed >= 0, "0 or more")
    for stage in recipe.stages:
        prefix = f"stage.{stage.name}."
        _positive(where, prefix, {name: getattr(stage, name) for name in ("steps", "batch", "lr", "log_every",
                                                                          "save_every")})  # fmt: skip
        for name in ("warmup", "weight_decay", "evaluate_every", "evaluate_from", "patience", "clip"):
            value = getattr(stage, name)
            _in(where, prefix + name, value, 0 <= value < float("inf"), "0 or more")
        _in(where, prefix + "beta2", stage.beta2, 0 <= stage.beta2 < 1, "a number from 0 to below 1")
        ramp = stage.schedule != "inverse_sqrt" or stage.warmup > 0
        _in(where, prefix + "warmup", stage.warmup, ramp, "at least 1 with schedule inverse_sqrt")
        stairs = stage.stair > 0 if stage.schedule == "stairs" else stage.stair == 0
        _in(where, prefix + "stair", stage.stair, stairs, "1 or more with schedule stairs, 0 with any other")
        cross = stage.data == "pairs" and "fgvc" not in stage.tasks
        _in(where, "method.name", method.name, cross or isinstance(method, PCLBirdsConfig),
            'pcl-birds with the task fgvc or data = "single"')  # fmt: skip
        whole = stage.data == "pairs" or set(stage.tasks) <= {"mlm", "mvcl", "fda", "fgvc"}
        _in(where, prefix + "data", stage.data, whole, "pairs with tasks other than mlm, mvcl, fda, fgvc")
        _check_examples(recipe, stage, where)
    scenes = not recipe.data.exchange or recipe.data.examples == "scenes"
    _in(where, "data.exchange", recipe.data.exchange, scenes, 'false, unless data.examples = "scenes"')
    surveyed = not vision.survey or vision.matching
    _in(
        where,
        "vision.survey",
        vision.survey,
        surveyed,
        "false without vision.matching, which uses the places",
    )
    if isinstance(method, PCLConfig):
        _check_pcl(method, recipe.stages, where)
    elif isinstance(method, CLIP4IDCConfig):
        _check_clip4idc(method, recipe, where)
    else:
        _check_scorer(method, recipe, where)


def _check_examples(recipe: Recipe, stage: StageConfig, where: str) -> None:
    """What a stage may say of its own examples."""
    prefix, own = f"stage.{stage.name}.", stage.examples
    views = not stage.exchange or own == "scenes" or (own == "captions" and stage.changed_only)
    _in(where, prefix + "exchange", stage.exchange, views,
        'false, unless the stage\'s own examples are "scenes", or "captions" with changed_only')  # fmt: skip
    mixed = not stage.changed_only or (own or recipe.data.examples) != "scenes"
    _in(where, prefix + "changed_only", stage.changed_only, mixed, "false with scenes, which hold both pairs")
    drawn = recipe.data.source == "dataset" or not (own or stage.changed_only)
    _in(where, prefix + ("examples" if own else "changed_only"), own or True, drawn,
        'none of its own with data.source = "pool", whose pairs are drawn')  # fmt: skip


def _check_pcl(method: PCLConfig, stages: Sequence[StageConfig], where: str) -> None:
    names = ("ffn", "cross_layers", "negatives", "mvcl_temperature", "fda_temperature")
    _positive(where, "method.", {name: getattr(method, name) for name in names})
    for stage in stages:
        fits = "fda" not in stage.tasks or stage.batch > method.negatives
        _in(where, f"stage.{stage.name}.batch", stage.batch, fits, "more than method.negatives with the task "
            "fda, whose batches are batch / (negatives + 1) pairs")  # fmt: skip
        if isinstance(method, PCLBirdsConfig):
            labelled = "fgvc" not in stage.tasks or method.classes > 1
            _in(where, "method.classes", method.classes, labelled, "the number of classes, for the task fgvc")


def _check_clip4idc(method: CLIP4IDCConfig, recipe: Recipe, where: str) -> None:
    """Sizes that divide one another, words that fit their tables, and tasks that the variant has."""
    names = ("intra_layers", "text_width", "text_heads", "text_ffn", "text_layers", "joint_width",
             "decoder_width", "decoder_heads", "decoder_ffn", "decoder_layers")  # fmt: skip
    _positive(where, "method.", {name: getattr(method, name) for name in names})
    for part in ("text", "decoder"):
        width, heads = getattr(method, f"{part}_width"), getattr(method, f"{part}_heads")
        _in(where, f"method.{part}_width", width, width % heads == 0, f"a multiple of method.{part}_heads")
    words = method.max_words
    _in(where, "method.max_words", words, 3 <= words <= method.context, "3 to method.context")
    _in(where, "method.max_length", method.max_length, method.max_length <= method.context + 1,
        "at most method.context + 1")  # fmt: skip
    tied = method.variant != "clip4idc" or method.preset == "authors"
    fits = not tied or method.decoder_width == method.text_width
    _in(where, "method.decoder_width", method.decoder_width, fits,
        "method.text_width, since CLIP's word vectors enter the captioner")  # fmt: skip
    vision = recipe.vision
    if vision.kind == "patches":
        for side in ("image_width", "image_height"):
            size = getattr(vision, side)
            _in(where, f"vision.{side}", size, size % vision.patch == 0, "a multiple of vision.patch")
    allowed = ["caption"] if method.variant != "clip4idc" else ["retrieval", "caption"]
    for stage in recipe.stages:
        for task in stage.tasks:
            known = [*allowed, "seeing", "matching"]
            _in(where, f"stage.{stage.name}.tasks", task, task in known, f"some of {', '.join(allowed)}")


def _check_scorer(method: ScorerConfig, recipe: Recipe, where: str) -> None:
    names = ("word_width", "decoder_layers", "temperature")
    _positive(where, "method.", {name: getattr(method, name) for name in names})
    for name in ("view_weight", "reason_weight"):
        value = getattr(method, name)
        _in(where, f"method.{name}", value, 0 <= value < float("inf"), "0 or more")
    for name in ("width", "word_width"):
        value = getattr(method, name)
        _in(where, f"method.{name}", value, value % 2 == 0, "an even number: half of it is a position's")
    subtract, layers = method.difference == "subtract", method.layers
    aligned = not subtract or method.view_weight == 0
    _in(
        where,
        "method.view_weight",
        method.view_weight,
        aligned,
        'zero with difference = "subtract", which matches no views: --set method.view_weight=0',
    )
    _in(where, "method.layers", layers, subtract or layers > 0, 'above 0 with difference = "reconstruct"')
    mended = not method.repaired or method.preset == "authors"
    _in(where, "method.repaired", method.repaired, mended, '[] with preset = "paper", which has no mistake')
    constant = method.temperature == 1 or method.preset == "paper"
    _in(
        where,
        "method.temperature",
        method.temperature,
        constant,
        '1 with preset = "authors", which learns its own',
    )
    vision = recipe.vision
    whole = vision.kind == "features" or vision.keep in (
        0,
        vision.image_width // 8 * (vision.image_height // 8),
    )
    _in(
        where,
        "vision.keep",
        vision.keep,
        whole,
        "0: SCORER lays both pictures cell upon cell, so it needs all",
    )
    for stage in recipe.stages:
        foreign = sorted(set(stage.tasks) - {"caption", "seeing", "matching"})
        _in(where, f"stage.{stage.name}.tasks", foreign, not foreign, "caption (or seeing, matching)")


def _positive(where: str, prefix: str, values: Mapping[str, float]) -> None:
    for name, value in values.items():
        _in(where, prefix + name, value, 0 < value < float("inf"), "above 0")


def _in(where: str, key: str, value: Any, right: bool, wanted: str) -> None:
    if not right:
        raise RecipeError(f"{where}: {key}: got {value!r}, wanted {wanted}")


def _type_name(hint: Any) -> str:
    if get_origin(hint) is Literal:
        return "one of " + ", ".join(get_args(hint))
    if get_origin(hint) is tuple:
        return "a list of " + _type_name(get_args(hint)[0])
    names = {int: "a whole number", float: "a number", bool: "true or false", str: "a string"}
    return names.get(hint, str(hint))


def _nearest(key: str, known: Any) -> str:
    close = difflib.get_close_matches(key, list(known), n=1, cutoff=0.4)
    return f" Did you mean {close[0]}?" if close else f" Known: {', '.join(known)}."
