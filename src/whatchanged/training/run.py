"""One run, from a recipe to trained weights: started or resumed in its folder (``run_folder``)."""

import random
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path

import numpy as np
import torch

from whatchanged.captioner.bundle import open_bundle
from whatchanged.errors import OutputError, RecipeError, printable
from whatchanged.recipes.schema import Recipe
from whatchanged.recipes.sources import DataSettings
from whatchanged.training.batches import Source, read_examples, stack_pictures
from whatchanged.training.build import check_memory, make_method
from whatchanged.training.checkpoint import Checkpoint, State, read_checkpoint, save_checkpoint
from whatchanged.training.data.negatives import share_lines
from whatchanged.training.data.sources import Sources, open_sources
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
    recipe = _settle(recipe, run, resume)
    launch = _look(recipe, run, choose_device(device), init, quiet)
    if launch.start is not None and launch.start.state.finished:
        return launch.start.state
    wait_for_all()  # every process has looked at the folder, which now changes
    with _removed_on_failure(launch), first_process_first():
        _begin_folder(launch)
        sources = _open_data(launch)
        method = _make_method(launch, sources)
    _complete_folder(launch, sources)  # only here, so that a launch that fails leaves no trace in a run
    method.to(launch.device)
    if leaves_backbone(recipe) and has_backbone(method.vision) and not workers:
        sources = with_tokens(sources, method.vision)
    if launch.start is None and launch.init is not None:  # what it began from may change, or go
        save_checkpoint(launch.last, State(), method, None)
    return train(
        recipe, method, sources, run, launch.device, launch.start, max_seconds, quiet, workers, accumulate
    )


@dataclass(frozen=True)
class Launch:
    """One launch of a run, and what was in its folder before any process wrote there.

    recipe  as it is trained
    run     the folder
    device  where it is trained
    fresh   whether the folder holds no run yet
    start   the last checkpoint; None: from the first step
    init    the weights that the run begins from; None: random ones
    last    where the last checkpoint lies, or will
    quiet   whether nothing is printed
    """

    recipe: Recipe
    run: Path
    device: torch.device
    fresh: bool
    start: Checkpoint | None
    init: Path | None
    last: Path
    quiet: bool


def _look(recipe: Recipe, run: Path, device: torch.device, init: Path | None, quiet: bool) -> Launch:
    """What is there to begin with, checked as far as no data is needed: to open it may take long.

    Raises RecipeError where the checkpoint is not of this recipe, or it cannot start from random weights.
    """
    last = run / "checkpoints" / "last.safetensors"
    start = read_checkpoint(last) if last.exists() else None
    if start is not None:
        check_stage(start, recipe)
    fresh = not (run / "recipe.toml").exists()
    if start is None and not fresh and not quiet:
        _print_note(f"{run}: it was ended before its first checkpoint, so it starts over.")
    init = first_init(run, init)
    if start is None and init is None:
        check_start(recipe, quiet)
    return Launch(recipe, run, device, fresh, start, init, last, quiet)


@contextmanager
def _removed_on_failure(launch: Launch) -> Iterator[None]:
    """A folder that was made for this run goes again where the run cannot begin, so that it may be tried
    again with the same name. One that was there stays as it is."""
    try:
        yield
    except BaseException:
        if launch.fresh and rank() == 0:
            shutil.rmtree(launch.run, ignore_errors=True)
        raise


def _begin_folder(launch: Launch) -> None:
    """Make a new folder a run: before the data, because opening it may take long, and be broken off."""
    if launch.fresh and rank() == 0:
        keep(launch.recipe, launch.run, launch.device, launch.init)


def _open_data(launch: Launch) -> Sources:
    """What the run reads. Raises RecipeError where the data has other words than a resumed run began with."""
    sources = open_sources(launch.recipe, launch.run)
    if launch.start is None and not launch.quiet and rank() == 0:
        for line in share_lines(launch.run):
            _print_note(line)
    if launch.start is not None and launch.recipe.method.captions:
        check_vocabulary(sources.vocabulary, launch.run)
    return sources


def _make_method(launch: Launch, sources: Sources) -> Learner:
    """The method with the weights that it goes on from, or begins with.

    Raises RecipeError where no memory holds it, a stage would train nothing, or the weights do not fit.
    """
    recipe, start = launch.recipe, launch.start
    check_memory(recipe, sources.vocabulary)
    seed_everything(recipe.seed)  # right before the random weights, so that nothing else moves them
    method = make_method(recipe, sources.vocabulary, sources.longest_caption)
    for stage in recipe.stages:  # a stage that cannot be trained stops the run now, not after days
        trained_groups(method, stage)
    if start is not None:
        start.restore_model(method)
    elif launch.init is not None:
        start_from(recipe, method, launch.init, launch.quiet)
    if start is None and method.vision is not None:  # a checkpoint holds what was measured
        measure_tokens(method.vision, sources.train)
    check_tokens(recipe, method)
    return method


def _complete_folder(launch: Launch, sources: Sources) -> None:
    """Write what is known now that the data is open, and note this launch beside earlier ones."""
    if rank() == 0:
        keep(launch.recipe, launch.run, launch.device, launch.init, resumed=launch.start is not None)
        if launch.recipe.method.captions:
            keep_vocabulary(sources.vocabulary, launch.run)


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
        _print_note(f"{init}: {said}")


def _print_note(text: str) -> None:
    """A line on stderr."""
    print(printable(text), file=sys.stderr)


def check_start(recipe: Recipe, quiet: bool) -> None:
    """Check a recipe that starts from random weights.

    Raises RecipeError where its vision is frozen, or keeps the best cells of a picture by heads and no stage
    learns to see. Warns where the first stage chooses cells by heads that it does not train, and where the
    recipe expects published weights.
    """
    if recipe.vision.frozen:
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
        _print_note(
            f"Warning: {recipe.name} starts from random weights, and its first stage chooses cells by heads"
            " that it does not train. It will learn next to nothing of pictures. Start from trained weights"
            " (--init RUN)."
        )
    if (expects := recipe.method.expects_weights(recipe)) and not quiet:
        _print_note(
            f"Warning: {recipe.name} starts from random weights, as no others were given, but it {expects}."
            " It will learn next to nothing of pictures. Give CLIP's weights (--init FILE), or let all of it"
            " learn (--set method.freeze=false, and rates near 1), as clip4idc-tiny does."
        )


def check_tokens(recipe: Recipe, method: Learner) -> None:
    """Raises RecipeError where a pool's stored tokens were made by other weights than the method's own.

    It would learn from one backbone and later read pictures with another. Tokens that do not name their
    weights (``token_files``) are accepted.
    """
    data = recipe.data
    if not data.tokens or not has_backbone(method.vision):
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
    np.random.seed(seed % 2**32)  # it takes no larger one
    torch.manual_seed(seed)


def _settle(recipe: Recipe | None, run: Path, resume: bool) -> Recipe:
    """The recipe to run. A run in the folder is resumed only where ``resume`` is set, with its own recipe.

    The folders of the data may differ: the data may have moved.
    """
    if resume and (run / "recipe.toml").is_file():
        kept = read_recipe(run)
        if recipe is None:
            return kept
        # Folders do not count: each side is compared with those that the other one names.
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


def _moved(data: DataSettings, other: DataSettings) -> DataSettings:
    """``data`` with the folders that ``other`` names."""
    return data.with_folders(other.path or data.path, other.stored or data.stored)
