"""A run and its folder: everything that a recipe needs, built, and what is written beside the checkpoints.

RUN/recipe.toml        as resolved, every setting spelled out
RUN/environment.json   versions, machine, command, and what the run begins from
RUN/vocabulary.json    the words, ids in order
RUN/checkpoints/       last, best and, of each earlier stage that was validated, best-STAGE (.safetensors)
RUN/metrics.jsonl, events/, negatives.jsonl (where FDA built them), shards.json (of a pool)
"""

import json
import os
import platform
import random
import shutil
import sys
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import cast

import numpy as np
import torch
from torch import nn

from whatchanged.captioner.bundle import MANIFEST, open_bundle, shipped
from whatchanged.errors import OutputError, RecipeError
from whatchanged.files import whole
from whatchanged.pieces import from_json, to_json
from whatchanged.recipes.reader import dump_recipe, parse_recipe
from whatchanged.recipes.schema import Recipe
from whatchanged.training.checkpoint import State, read_checkpoint, save_checkpoint, stage_checkpoint
from whatchanged.training.data.seen_once import leaves_backbone, with_tokens
from whatchanged.training.data.sources import open_sources
from whatchanged.training.loop import train
from whatchanged.training.methods import Method, begin_from, build_method
from whatchanged.training.schedule import trained_groups
from whatchanged.training.seeing.vision import PixelVision, build_vision
from whatchanged.vocabulary import Vocabulary

PACKAGES = ("whatchanged", "torch", "numpy", "safetensors", "scikit-learn", "textblob", "pillow")


def run_recipe(
    recipe: Recipe | None,
    run: Path,
    resume: bool = False,
    max_seconds: float | None = None,
    device: str = "auto",
    quiet: bool = False,
    init: Path | None = None,
    readers: int = 0,
) -> State:
    """Train a recipe into the folder ``run``, or go on with the run there (``recipe`` may then be None).

    init: another run, whose last weights are taken over (``begin_from``), a bundle (a shipped one by name),
    or a file of CLIP's weights for clip4idc. A run that goes on keeps what it began from.
    readers: processes that read the examples; 0 reads them in threads, which is enough for a CPU.

    Raises OutputError where the folder holds something and ``resume`` is not set, RecipeError where the run
    was started with another recipe.
    """
    last = run / "checkpoints" / "last.safetensors"
    recipe = _settle(recipe, run, resume)
    where = choose_device(device)
    fresh = not (run / "recipe.toml").exists()
    start = read_checkpoint(last) if last.exists() else None  # none yet: it was killed early and starts over
    if start is not None and start.state.finished:
        return start.state
    init = _first_init(run, init)
    try:
        if fresh:  # before the data: opening it may take long, and be broken off
            _keep(recipe, run, where, init)
        sources = open_sources(recipe, run)
        seed_everything(recipe.seed)
        method = make_method(recipe, sources.vocabulary)
        for stage in recipe.stages:
            trained_groups(cast(nn.Module, method), stage)
        if start is not None:
            start.restore_model(cast(nn.Module, method))
        elif init is not None:
            start_from(recipe, method, init, quiet)
        elif not quiet:
            warn_of_random_clip(recipe)
    except BaseException:
        if fresh:
            shutil.rmtree(run, ignore_errors=True)
        raise
    _keep(recipe, run, where, init)
    _write(run / "vocabulary.json", json.dumps(to_json(sources.vocabulary), ensure_ascii=False))
    cast(nn.Module, method).to(where)
    if leaves_backbone(recipe) and isinstance(method.vision, PixelVision) and not readers:
        sources = with_tokens(sources, method.vision)
    if start is None and init is not None:  # what it began from may change, or go
        save_checkpoint(last, State(), cast(nn.Module, method), None)
    return train(recipe, method, sources, run, where, start, max_seconds, quiet, readers)


def make_method(recipe: Recipe, vocabulary: Vocabulary) -> Method:
    """The recipe's method with its vision, freshly initialised."""
    return build_method(recipe.method, build_vision(recipe.vision), vocabulary)


def start_from(recipe: Recipe, method: Method, init: Path, quiet: bool) -> None:
    """Weights to begin with: a run's last ones, or a bundle's or a file of CLIP's; says what was taken over.

    Of a run and a bundle: what ``begin_from`` says. Raises RecipeError where the method does not begin from
    CLIP, or nothing fits; ShapeError where a tensor's shape does not.
    """
    if str(init) in shipped() or (init / MANIFEST).is_file():
        from whatchanged.training.weights.bundle_weights import begin_from_bundle

        said = begin_from_bundle(recipe, method, open_bundle(str(init)))
    elif not init.is_file():
        said = begin_from(method, open_run(init, "last")[1], str(init))
    else:
        from whatchanged.training.methods.clip4idc import CLIP4IDC
        from whatchanged.training.weights.clip_weights import load_clip

        if not isinstance(method, CLIP4IDC):
            raise RecipeError(f"{init}: this is a file; only clip4idc begins from one. Name a run's folder.")
        said = str(load_clip(method, init))
    if not quiet:
        print(f"{init}: {said}", file=sys.stderr)


def warn_of_random_clip(recipe: Recipe) -> None:
    """Say so where a recipe counts on CLIP's weights and begins without any."""
    from whatchanged.training.weights.clip_weights import assumed

    if found := assumed(recipe):
        print(
            f"Warning: {recipe.name} begins from random numbers, as no weights were given, but it {found}."
            " It will learn next to nothing of pictures. Give CLIP's weights (--init FILE), or let all of it"
            " learn (--set method.freeze=false, and rates near 1), as clip4idc-tiny does.",
            file=sys.stderr,
        )


def open_run(run: Path, checkpoint: str = "auto") -> tuple[Recipe, Method, State]:
    """A run's recipe, and its method with the weights of a checkpoint, in evaluation mode.

    checkpoint: as in ``checkpoint_file``. Raises RecipeError where the folder holds no run or not that
    checkpoint.
    """
    recipe = read_recipe(run)
    try:
        vocabulary = from_json(json.loads((run / "vocabulary.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise RecipeError(f"{run}: its vocabulary.json cannot be read ({error}). Train it again.") from error
    method = make_method(recipe, vocabulary)
    saved = read_checkpoint(checkpoint_file(run, checkpoint))
    saved.restore_model(cast(nn.Module, method))
    cast(nn.Module, method).eval()
    return recipe, method, saved.state


def checkpoint_file(run: Path, checkpoint: str) -> Path:
    """Where "best" (of the last stage), "last", "auto" (best where there is one) or a stage's best lies.

    A stage is given by its name. Raises RecipeError where the run has no such stage.
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
    file = run / "checkpoints" / "best.safetensors"
    if checkpoint == "last" or (checkpoint == "auto" and not file.exists()):
        return run / "checkpoints" / "last.safetensors"
    return file


def read_recipe(run: Path) -> Recipe:
    """The resolved recipe of a run folder; raises RecipeError where there is none."""
    file = run / "recipe.toml"
    if not file.is_file():
        raise RecipeError(
            f"{run}: no run lies here (it has no recipe.toml). Name the folder given to train --output."
        )
    return parse_recipe(file.read_text(encoding="utf-8"), str(file))


def choose_device(name: str) -> torch.device:
    """ "auto" is the first GPU, or the CPU without one; raises RecipeError for a device that is not there."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name.partition(":")[0] not in ("cpu", "cuda"):
        raise RecipeError(f"--device {name}: wanted auto, cpu or cuda")
    if name.startswith("cuda") and not torch.cuda.is_available():
        raise RecipeError(f"--device {name}: torch sees no such device here. Use --device cpu.")
    return torch.device(name)


def seed_everything(seed: int) -> None:
    """Set the generators of Python, NumPy and torch."""
    random.seed(seed)
    np.random.seed(seed % 2**32)
    torch.manual_seed(seed)


def environment(device: torch.device) -> dict[str, object]:
    """What the run runs on: versions, machine, device, command."""
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
    }


def _settle(recipe: Recipe | None, run: Path, resume: bool) -> Recipe:
    """The recipe to run; a run that is there is only gone on with when told to, and only with its own recipe.

    The data may have moved since: ``data.path`` and ``data.features`` may differ.
    """
    if resume and (run / "recipe.toml").is_file():
        kept = read_recipe(run)
        if recipe is None:
            return kept
        moved = replace(
            kept.data,
            path=recipe.data.path or kept.data.path,
            features=recipe.data.features or kept.data.features,
        )
        kept, recipe = replace(kept, data=moved), replace(recipe, data=replace(
            recipe.data, path=moved.path, features=moved.features))  # fmt: skip
        if recipe != kept:
            raise RecipeError(
                f"{run}: this run was started with another recipe or other settings (see its recipe.toml)."
                " Resume without naming a recipe, or choose another folder."
            )
        return kept
    if recipe is None:
        raise RecipeError(f"{run}: there is no run to resume here. Name a recipe to start one.")
    if run.exists() and (not run.is_dir() or any(run.iterdir())):
        cure = (
            "It holds no recipe.toml to go on with: choose"
            if resume
            else "Go on with it (--resume) or choose"
        )
        raise OutputError(f"{run}: exists already. {cure} another folder.")
    return recipe


def _keep(recipe: Recipe, run: Path, where: torch.device, init: Path | None) -> None:
    """Write what a run needs to be gone on with; the recipe last, as it makes the folder a run."""
    run.mkdir(parents=True, exist_ok=True)
    told = {**environment(where), "init": None if init is None else str(init)}
    _write(run / "environment.json", json.dumps(told, indent=1))
    _write(run / "recipe.toml", dump_recipe(recipe))


def _first_init(run: Path, init: Path | None) -> Path | None:
    """What the run in this folder began from; what a new one is told to."""
    try:
        kept = json.loads((run / "environment.json").read_text(encoding="utf-8"))["init"]
    except (OSError, ValueError, TypeError, KeyError):  # no run yet, or one that kept no such line
        kept = None
    if kept:
        return Path(kept)
    return init if init is None or str(init) in shipped() else init.absolute()


def _write(path: Path, text: str) -> None:
    with whole(path) as draft:
        draft.write_text(text + "\n" * (not text.endswith("\n")), encoding="utf-8")
