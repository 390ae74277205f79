"""One run, from a recipe to trained weights: begun, or gone on with, in its folder (``run_folder``)."""

import random
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import torch
from torch import nn

from whatchanged.captioner.bundle import MANIFEST, open_bundle, shipped
from whatchanged.errors import OutputError, RecipeError
from whatchanged.recipes.schema import Recipe
from whatchanged.training.checkpoint import State, read_checkpoint, save_checkpoint
from whatchanged.training.data.sources import open_sources
from whatchanged.training.data.token_cache import leaves_backbone, with_tokens
from whatchanged.training.features.backbones import token_weights
from whatchanged.training.loop import train
from whatchanged.training.methods import Method, initialise_from
from whatchanged.training.methods.clip4idc import CLIP4IDC
from whatchanged.training.objects.token_files import read_origin
from whatchanged.training.objects.tokens import ObjectVision
from whatchanged.training.run_folder import (
    check_vocabulary,
    choose_device,
    first_init,
    keep,
    keep_vocabulary,
    make_method,
    open_run,
    read_recipe,
)
from whatchanged.training.schedule import trained_groups
from whatchanged.training.weights.bundle_weights import check_norms, initialise_from_bundle
from whatchanged.training.weights.clip_weights import assumed, load_clip


def run_recipe(
    recipe: Recipe | None,
    run: Path,
    resume: bool = False,
    max_seconds: float | None = None,
    device: str = "auto",
    quiet: bool = False,
    init: Path | None = None,
    workers: int = 0,
) -> State:
    """Train a recipe into the folder ``run``, or go on with the run there (``recipe`` may then be None).

    init: another run, whose last weights are taken over (``initialise_from``), a bundle (a shipped one by
    name),
    or a file of CLIP's weights for clip4idc. A run that goes on keeps what it began from.
    readers: processes that read the examples; 0 reads them in threads, which is enough for a CPU.

    Raises OutputError where the folder holds something and ``resume`` is not set, RecipeError where the run
    was started with another recipe or on data of other words, or its stored tokens are of other weights than
    its own.
    """
    last = run / "checkpoints" / "last.safetensors"
    recipe = _settle(recipe, run, resume)
    where = choose_device(device)
    fresh = not (run / "recipe.toml").exists()
    start = read_checkpoint(last) if last.exists() else None  # none yet: it was killed early and starts over
    if start is not None and start.state.finished:
        return start.state
    init = first_init(run, init)
    try:
        if fresh:  # before the data: opening it may take long, and be broken off
            keep(recipe, run, where, init)
        sources = open_sources(recipe, run)
        if start is not None:
            check_vocabulary(sources.vocabulary, run)
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
        check_tokens(recipe, method)
    except BaseException:
        if fresh:
            shutil.rmtree(run, ignore_errors=True)
        raise
    keep(recipe, run, where, init, resumed=start is not None)
    keep_vocabulary(sources.vocabulary, run)
    cast(nn.Module, method).to(where)
    if leaves_backbone(recipe) and isinstance(method.vision, ObjectVision) and not workers:
        sources = with_tokens(sources, method.vision)
    if start is None and init is not None:  # what it began from may change, or go
        save_checkpoint(last, State(), cast(nn.Module, method), None)
    return train(recipe, method, sources, run, where, start, max_seconds, quiet, workers)


def start_from(recipe: Recipe, method: Method, init: Path, quiet: bool) -> None:
    """Weights to begin with: a run's last ones, or a bundle's or a file of CLIP's; says what was taken over.


    Of a run and a bundle: what ``initialise_from`` says. Raises RecipeError where the method does not begin
    from CLIP, or nothing fits; ShapeError where a tensor's shape does not.
    """
    if str(init) in shipped() or (init / MANIFEST).is_file():
        said = initialise_from_bundle(recipe, method, open_bundle(str(init)))
    elif not init.is_file():
        source = open_run(init, "last")[1]
        check_norms(recipe, method, source, str(init))
        said = initialise_from(method, source, str(init))
    else:
        if not isinstance(method, CLIP4IDC):
            raise RecipeError(f"{init}: this is a file; only clip4idc begins from one. Name a run's folder.")
        said = str(load_clip(method, init))
    if not quiet:
        print(f"{init}: {said}", file=sys.stderr)


def check_tokens(recipe: Recipe, method: Method) -> None:
    """Raises RecipeError where a pool's stored tokens were made by other weights than the method sees with.

    It would learn from one backbone and later read pictures through another. Tokens that do not say what made
    them (``token_files``) pass.
    """
    if (
        recipe.data.source != "pool"
        or not recipe.data.features
        or not isinstance(method.vision, ObjectVision)
    ):
        return
    about = read_origin(Path(recipe.data.features))
    if about is not None and about.get("sha256") != token_weights(method.vision):
        raise RecipeError(
            f"{recipe.data.features}: these tokens were made by other weights than this run would see with."
            " Begin from the run that made them: --init RUN"
        )


def warn_of_random_clip(recipe: Recipe) -> None:
    """Say so where a recipe counts on CLIP's weights and begins without any."""
    if found := assumed(recipe):
        print(
            f"Warning: {recipe.name} begins from random numbers, as no weights were given, but it {found}."
            " It will learn next to nothing of pictures. Give CLIP's weights (--init FILE), or let all of it"
            " learn (--set method.freeze=false, and rates near 1), as clip4idc-tiny does.",
            file=sys.stderr,
        )


def seed_everything(seed: int) -> None:
    """Set the generators of Python, NumPy and torch."""
    random.seed(seed)
    np.random.seed(seed % 2**32)
    torch.manual_seed(seed)


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
