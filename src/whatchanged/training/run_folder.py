"""A run's folder: opens the recipe, method and weights in it, and writes the files beside the checkpoints.

RUN/recipe.toml        the recipe with every setting spelled out
RUN/environment.json   versions, machine, command, and the initial weights; later launches are listed too
RUN/vocabulary.json    the words in the order of their ids, for methods that write captions
RUN/checkpoints/       last, best and, for each earlier stage with validation, best-STAGE (.safetensors)
RUN/negatives.jsonl    the false captions of the task FDA; negatives.shares.json: how many of each kind
RUN/metrics.jsonl, events/, shards.json (for a run on a pool)
"""

import json
import os
import platform
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import torch

from whatchanged.bpe import from_json, to_json
from whatchanged.captioner.bundle import names_model
from whatchanged.errors import RecipeError
from whatchanged.files import whole
from whatchanged.json_values import read_json
from whatchanged.opening import read_regular, read_regular_text
from whatchanged.recipes.reader import parse_saved_recipe
from whatchanged.recipes.schema import Recipe
from whatchanged.recipes.values import dump_recipe
from whatchanged.training.build import check_weights, make_method
from whatchanged.training.checkpoint import Checkpoint, State, read_checkpoint, stage_checkpoint
from whatchanged.training.distributed import processes
from whatchanged.training.methods import Method
from whatchanged.vocabulary import Vocabulary

PACKAGES = ("whatchanged", "torch", "numpy", "safetensors", "scikit-learn", "textblob", "pillow")


def open_run(run: Path, checkpoint: str = "auto") -> tuple[Recipe, Method, State]:
    """Return a run's recipe, and the run's method with the weights of a checkpoint, in evaluation mode.

    checkpoint: as in ``checkpoint_file``. Raises RecipeError where the folder holds no run or lacks that
    checkpoint.
    """
    recipe = read_recipe(run)
    vocabulary = read_vocabulary(run)
    saved = read_checkpoint(checkpoint_file(run, checkpoint))
    check_stage(saved, recipe)
    # Before the method is built: a recipe from elsewhere may ask for more than the memory holds.
    check_weights(recipe, vocabulary, saved.model_tensors(), str(saved.path))
    method = make_method(recipe, vocabulary)
    stages = [stage.name for stage in recipe.stages]
    if checkpoint in stages and saved.state.stage != stages.index(checkpoint):
        raise RecipeError(
            f"--checkpoint {checkpoint}: {run} has no best weights of this stage yet. Go on with it"
            " (--resume), or name another checkpoint."
        )
    saved.restore_model(method)
    method.eval()
    return recipe, method, saved.state


def read_vocabulary(run: Path) -> Vocabulary:
    """Return the vocabulary of a run. Raises RecipeError where the vocabulary cannot be read."""
    try:
        found: Vocabulary = from_json(read_json(read_regular_text(run / "vocabulary.json")))
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise RecipeError(f"{run}: its vocabulary.json cannot be read ({error}). Train it again.") from error
    return found


def check_stage(saved: Checkpoint, recipe: Recipe) -> None:
    """Raise RecipeError where a checkpoint belongs to a stage or step that the recipe does not have."""
    state, stages = saved.state, recipe.stages
    if state.stage >= len(stages) or state.step > stages[state.stage].steps:
        raise RecipeError(
            f"{saved.path}: it is of step {state.step} of stage {state.stage + 1}, which its recipe does"
            " not have. Start the run again."
        )


def checkpoint_file(run: Path, checkpoint: str) -> Path:
    """Return the path of a checkpoint: "best" (of the last stage), "last", "auto" (best if it exists, else
    last) or the best checkpoint of a stage.

    To choose the best checkpoint of a stage, write the stage's name. Raises RecipeError where the run has no
    such stage.
    """
    if checkpoint not in ("best", "last", "auto"):
        stages = [stage.name for stage in read_recipe(run).stages]
        if checkpoint not in stages:
            known = ", ".join(["auto", "best", "last", *stages])
            raise RecipeError(
                f"--checkpoint {checkpoint}: {run} has no such checkpoint. Choose among: {known}."
            )
        if checkpoint != stages[-1]:
            return run / "checkpoints" / f"{stage_checkpoint(checkpoint)}.safetensors"
        # The last stage's best is best.safetensors: it is renamed only where another stage follows.
    file = run / "checkpoints" / "best.safetensors"
    if checkpoint == "last" or (checkpoint == "auto" and not file.exists()):
        return run / "checkpoints" / "last.safetensors"
    return file


def read_recipe(run: Path) -> Recipe:
    """Return the resolved recipe of a run folder. Raises RecipeError where the folder holds no recipe."""
    file = run / "recipe.toml"
    if not file.is_file():
        raise RecipeError(
            f"{run}: no run lies here (it has no recipe.toml). Name the folder given to train --output."
        )
    try:
        text = read_regular_text(file)
    except (OSError, ValueError) as error:
        raise RecipeError(f"{file}: the run's recipe cannot be read ({error}). Train it again.") from error
    return parse_saved_recipe(text, str(file))


def captioning_stages(recipe: Recipe) -> list[str]:
    """Return the names of the stages that learn to write captions."""
    teaching = recipe.method.caption_tasks
    return [stage.name for stage in recipe.stages if not teaching.isdisjoint(stage.tasks)]


def check_captions(run: Path, recipe: Recipe, state: State) -> None:
    """Raise RecipeError where no stage up to the checkpoint's stage learns to write captions."""
    stages = captioning_stages(recipe)
    if not stages:
        raise RecipeError(f"{run}: no stage of it learned to caption. Name another run.")
    if all(stage.name not in stages for stage in recipe.stages[: state.stage + 1]):
        now = recipe.stages[state.stage].name
        raise RecipeError(
            f"{run}: this checkpoint is of the stage {now}, before the decoder learned to caption (stage"
            f" {stages[0]}). Name a later one: --checkpoint, or go on with the run (train --resume)."
        )


def keep(recipe: Recipe, run: Path, where: torch.device, init: Path | None, resumed: bool = False) -> None:
    """Write the files that resuming needs. The recipe is written last, because the recipe marks the folder as
    a run.

    resumed: the environment of this launch is added to ``launches``, the list of later launches. The
    environment of the first launch stays unchanged.
    """
    run.mkdir(parents=True, exist_ok=True)
    about = environment(where)
    if resumed and (earlier := launches(run)):
        about = {**earlier[0], "launches": [*earlier[1:], about]}
    else:
        about["init"] = None if init is None else str(init)
    _write(run / "environment.json", json.dumps(about, indent=1))
    _write(run / "recipe.toml", dump_recipe(recipe))


def keep_vocabulary(vocabulary: Vocabulary, run: Path) -> None:
    """Write the vocabulary. The vocabulary is known only after the data was opened."""
    _write(run / "vocabulary.json", _entries(vocabulary))


def check_vocabulary(vocabulary: Vocabulary, run: Path) -> None:
    """Raise RecipeError where the data of a resumed run now has another vocabulary than at the start of the
    run.
    """
    kept = run / "vocabulary.json"
    if kept.is_file() and read_regular(kept).rstrip(b"\n") != _entries(vocabulary).encode():
        raise RecipeError(
            f"{run}: the data has other words now than when this run began (vocabulary.json). Resume with the"
            " same data, or start another run from this one: --init."
        )


def first_init(run: Path, init: Path | None) -> Path | None:
    """Return the weights from which the run in this folder started. For a new run, return ``init``."""
    kept = next(iter(launches(run)), {}).get("init")
    if kept and isinstance(kept, str):
        return Path(kept)
    # Whole, because a later launch may begin in another folder.
    return init if init is None or names_model(init) else init.absolute()


def _entries(vocabulary: Vocabulary) -> str:
    return json.dumps(to_json(vocabulary), ensure_ascii=False)


def launches(run: Path) -> list[dict[str, Any]]:
    """Return the record of each launch of a run, in the order of the launches. Returns [] where no record can
    be read.
    """
    try:
        first = read_json(read_regular_text(run / "environment.json"))
    except (OSError, ValueError):
        return []
    if not isinstance(first, dict) or not first:
        return []
    later = first.pop("launches", first.pop("sittings", []))  # as they were called before 0.2
    return [first, *(one for one in (later if isinstance(later, list) else []) if isinstance(one, dict))]


def _write(path: Path, text: str) -> None:
    with whole(path) as draft:
        draft.write_text(text + "\n" * (not text.endswith("\n")), encoding="utf-8")


def environment(device: torch.device) -> dict[str, object]:
    """Return the versions, machine, device and command of this launch."""
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = "not installed"
    return {
        "command": sys.argv,
        "python": platform.python_version(),
        "packages": versions,
        "platform": platform.platform(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
        "processes": processes(),
    }
