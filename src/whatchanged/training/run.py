"""One run, from a recipe to trained weights: started or resumed in its folder (``run_folder``)."""

import random
import shutil
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import torch

from whatchanged.captioner.bundle import open_bundle
from whatchanged.errors import OutputError, RecipeError
from whatchanged.recipes.schema import DataConfig, ObjectsConfig, PoolConfig, Recipe
from whatchanged.training.batches import Source, read_examples, stack_pictures
from whatchanged.training.build import check_memory, make_method
from whatchanged.training.checkpoint import State, read_checkpoint, save_checkpoint
from whatchanged.training.data.sources import open_sources
from whatchanged.training.data.token_cache import leaves_backbone, with_tokens
from whatchanged.training.device import choose_device
from whatchanged.training.distributed import first_process_first, joined, rank, wait_for_all
from whatchanged.training.features.backbones import fingerprint
from whatchanged.training.loop import train
from whatchanged.training.methods import Learner, initialise_from
from whatchanged.training.objects.token_files import read_origin
from whatchanged.training.run_folder import (
    check_stage,
    check_vocabulary,
    first_init,
    keep,
    keep_vocabulary,
    open_run,
    read_recipe,
)
from whatchanged.training.schedule import trained_groups
from whatchanged.training.vision.base import StandardisedVision, Vision, has_backbone
from whatchanged.training.weights.bundle_weights import check_norms, initialise_from_bundle
from whatchanged.training.weights.trained import is_model

MEASURED = 512
"""Pairs by whose tokens a frozen vision standardises."""


def run_recipe(
    recipe: Recipe | None,
    run: Path,
    resume: bool = False,
    max_seconds: float | None = None,
    device: str = "auto",
    quiet: bool = False,
    init: Path | None = None,
    workers: int = 0,
    accumulate: int = 1,
) -> State:
    """Train a recipe into the folder ``run``, or resume the run there (``recipe`` may then be None).

    init: the weights to start from: another run's last ones (``initialise_from``), a bundle's (a shipped one
    by name), or a file of published weights, for a method that reads one. A resumed run keeps its own.
    workers: processes that read the examples; 0 reads them in threads, which is enough for a CPU.
    The processes that ``torchrun`` started share every batch; the first one writes the folder.
    accumulate: in how many parts each of them reads its rows, so that less memory is needed.

    Raises OutputError where the folder is not empty and ``resume`` is not set; RecipeError where the run was
    started with another recipe or on data with other words, or its stored tokens were made by other weights
    than its vision's.
    """
    with joined():
        return _run(recipe, run, resume, max_seconds, device, quiet or rank() > 0, init, workers, accumulate)


def _run(
    recipe: Recipe | None,
    run: Path,
    resume: bool,
    max_seconds: float | None,
    device: str,
    quiet: bool,
    init: Path | None,
    workers: int,
    accumulate: int,
) -> State:
    """``run_recipe``, in each of the processes."""
    last = run / "checkpoints" / "last.safetensors"
    recipe = _settle(recipe, run, resume)
    where = choose_device(device)
    fresh = not (run / "recipe.toml").exists()
    start = read_checkpoint(last) if last.exists() else None
    if start is not None:
        check_stage(start, recipe)
    if start is not None and start.state.finished:
        return start.state
    if start is None and not fresh and not quiet:
        print(f"{run}: it was ended before its first checkpoint, so it starts over.", file=sys.stderr)
    init = first_init(run, init)
    if start is None and init is None:  # before the data, which may take long to open
        check_start(recipe, quiet)
    writes = rank() == 0
    wait_for_all()  # every process has looked at the folder, which now changes
    try:
        with first_process_first():
            if fresh and writes:  # before the data: opening it may take long, and be broken off
                keep(recipe, run, where, init)
            sources = open_sources(recipe, run)
            captions = recipe.method.captions
            if start is not None and captions:
                check_vocabulary(sources.vocabulary, run)
            check_memory(recipe, sources.vocabulary)
            seed_everything(recipe.seed)
            method = make_method(recipe, sources.vocabulary, sources.longest_caption)
            for stage in recipe.stages:
                trained_groups(method, stage)
            if start is not None:
                start.restore_model(method)
            elif init is not None:
                start_from(recipe, method, init, quiet)
            if start is None and method.vision is not None:
                measure_tokens(method.vision, sources.train)
            check_tokens(recipe, method)
    except BaseException:
        if fresh and writes:
            shutil.rmtree(run, ignore_errors=True)
        raise
    if writes:
        keep(recipe, run, where, init, resumed=start is not None)
        if captions:
            keep_vocabulary(sources.vocabulary, run)
    method.to(where)
    if leaves_backbone(recipe) and has_backbone(method.vision) and not workers:
        sources = with_tokens(sources, method.vision)
    if start is None and init is not None:  # what it began from may change, or go
        save_checkpoint(last, State(), method, None)
    return train(recipe, method, sources, run, where, start, max_seconds, quiet, workers, accumulate)


def start_from(recipe: Recipe, method: Learner, init: Path, quiet: bool) -> None:
    """Copy the weights to start from, a run's last ones, a bundle's or a file's, and print what was copied.

    Raises RecipeError where the method reads no file of weights, or nothing fits; ShapeError where a tensor
    has another shape.
    """
    loader = recipe.method.weights_loader
    if is_model(init):
        said = initialise_from_bundle(recipe, method, open_bundle(str(init)))
    elif not init.is_file():
        source = open_run(init, "last")[1]
        check_norms(recipe, method, source, str(init))
        said = initialise_from(method, source, str(init))
    elif not loader:
        raise RecipeError(
            f"{init}: this is a file, and {recipe.method.name} begins from none. Name a run's folder."
        )
    else:
        module, _, name = loader.partition(":")
        said = str(getattr(import_module(module), name)(method, init))
    if not quiet:
        print(f"{init}: {said}", file=sys.stderr)


def check_start(recipe: Recipe, quiet: bool) -> None:
    """Check a recipe that starts from random weights.

    Raises RecipeError where its vision is frozen, or keeps the best cells of a picture by heads and no stage
    learns to see. Warns where the first stage chooses cells by heads that it does not train, and where the
    recipe expects published weights.
    """
    if isinstance(recipe.vision, ObjectsConfig) and recipe.vision.frozen:
        raise RecipeError(
            f"{recipe.name}: vision.frozen keeps the vision as it is, and it would be random. Start from"
            " trained weights: --init clevr-pcl, or --init RUN."
        )
    tasks = recipe.vision.tasks
    teachers = {name for name, task in tasks.items() if task.vision_only}
    ranked = not recipe.vision.keeps_every_cell
    if ranked and not any(tasks.keys() & stage.tasks.keys() for stage in recipe.stages):
        raise RecipeError(
            f"{recipe.name}: vision.keep chooses cells by heads that start random, and only the task"
            f" {', '.join(sorted(teachers))} trains them, which no stage has. Start from trained weights"
            ' (--init RUN), or use vision.kind = "backbone".'
        )
    if ranked and not teachers & recipe.stages[0].tasks.keys() and not quiet:
        print(
            f"Warning: {recipe.name} starts from random weights, and its first stage chooses cells by heads"
            " that it does not train. It will learn next to nothing of pictures. Start from trained weights"
            " (--init RUN).",
            file=sys.stderr,
        )
    if (expects := recipe.method.expects_weights(recipe)) and not quiet:
        print(
            f"Warning: {recipe.name} starts from random weights, as no others were given, but it {expects}."
            " It will learn next to nothing of pictures. Give CLIP's weights (--init FILE), or let all of it"
            " learn (--set method.freeze=false, and rates near 1), as clip4idc-tiny does.",
            file=sys.stderr,
        )


def check_tokens(recipe: Recipe, method: Learner) -> None:
    """Raises RecipeError where a pool's stored tokens were made by other weights than the method's own.

    It would learn from one backbone and later read pictures with another. Tokens that do not name their
    weights (``token_files``) are accepted.
    """
    data = recipe.data
    if not isinstance(data, PoolConfig) or not data.tokens or not has_backbone(method.vision):
        return
    about = read_origin(Path(data.tokens))
    if about is not None and about.get("sha256") != fingerprint(method.vision.token_state()):
        raise RecipeError(
            f"{data.tokens}: these tokens were made by other weights than this run's vision has."
            " Begin from the run that made them: --init RUN"
        )


def measure_tokens(vision: Vision, source: Source) -> None:
    """Standardise a vision that does so by the tokens of the first ``MEASURED`` examples."""
    if isinstance(vision, StandardisedVision) and vision.standardises:
        vision.measure(*stack_pictures(list(read_examples(source, range(min(len(source), MEASURED))))))


def seed_everything(seed: int) -> None:
    """Set the generators of Python, NumPy and torch."""
    random.seed(seed)
    np.random.seed(seed % 2**32)
    torch.manual_seed(seed)


def _settle(recipe: Recipe | None, run: Path, resume: bool) -> Recipe:
    """The recipe to run. A run in the folder is resumed only where ``resume`` is set, with its own recipe.

    The folders of the data may differ: the data may have moved.
    """
    if resume and (run / "recipe.toml").is_file():
        kept = read_recipe(run)
        if recipe is None:
            return kept
        kept = replace(kept, data=_moved(kept.data, recipe.data))
        if replace(recipe, data=_moved(recipe.data, kept.data)) != kept:
            raise RecipeError(
                f"{run}: this run was started with another recipe or other settings (see its recipe.toml)."
                " Resume without naming a recipe, or choose another folder."
            )
        return kept
    if recipe is None:
        raise RecipeError(f"{run}: there is no run to resume here. Name a recipe to start one.")
    if run.exists() and (not run.is_dir() or any(run.iterdir())):
        cure = "Go on with it (--resume) or choose"
        if resume:
            cure = "It holds no recipe.toml to go on with: choose"
        raise OutputError(f"{run}: exists already. {cure} another folder.")
    return recipe


def _moved(data: DataConfig, other: DataConfig) -> DataConfig:
    """``data`` with the folders that ``other`` names."""
    return data.with_folders(other.path or data.path, other.stored or data.stored)
