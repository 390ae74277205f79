"""Trains one run, from a recipe to trained weights, in a new or an existing folder (``run_folder``)."""

import random
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from whatchanged.captioner.bundle import open_bundle
from whatchanged.errors import OutputError, RecipeError, printable
from whatchanged.launch import Launch, one_launch
from whatchanged.plugins import imported
from whatchanged.recipes.schema import Recipe
from whatchanged.recipes.sources import DataSettings
from whatchanged.training.batches import Source, read_examples, stack_pictures
from whatchanged.training.build import check_memory, make_method, open_sources
from whatchanged.training.checkpoint import Checkpoint, State, read_checkpoint, save_checkpoint
from whatchanged.training.data.negatives import share_lines
from whatchanged.training.data.sources import Sources
from whatchanged.training.data.token_cache import with_tokens
from whatchanged.training.device import choose_device
from whatchanged.training.distributed import first_process_first, joined, rank, wait_for_all
from whatchanged.training.features.backbones import fingerprint
from whatchanged.training.loop import Watcher, train
from whatchanged.training.methods import Method, initialise_from
from whatchanged.training.objects.token_files import read_origin
from whatchanged.training.run_folder import (
    check_captions,
    check_stage,
    check_vocabulary,
    first_init,
    keep,
    keep_vocabulary,
    open_run,
    read_recipe,
    read_vocabulary,
)
from whatchanged.training.schedule import trained_groups
from whatchanged.training.vision.base import StandardisedVision, Vision, has_backbone
from whatchanged.training.weights.bundle_weights import check_norms, initialise_from_bundle
from whatchanged.training.weights.trained import is_model
from whatchanged.vocabulary import Vocabulary

MEASURED = 512
"""The number of pairs whose tokens give the mean and deviation for the standardisation of a frozen vision."""
END = "end"
"""The value of ``--from`` that trains no stage."""


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
    first_stage: str = "",
    launch: Launch | None = None,
    watch: Watcher | None = None,
) -> State:
    """Train a recipe into the folder ``run``, or resume the run there (``recipe`` may then be None).

    init: the weights to start from. These are the last weights of another run (``initialise_from``), a bundle
    (a shipped bundle by its name), or a file of published weights, for a method that can read such a file. A
    resumed run ignores ``init``.
    workers: number of processes that read the examples. With 0, threads read the examples, which suffices on
    a CPU. The processes that ``torchrun`` started share every batch, and the first process writes the folder.
    accumulate: number of parts in which each process reads its rows; more parts need less memory.
    first_stage: the stage at which a new run with ``init`` begins, because the initial weights have passed
    all earlier stages. "end": no stage is trained, and the run is finished at once.
    launch: one record with device, quiet, workers and accumulate, which replaces these four keywords.
    watch: a function that is called with the method and the state before each line of the log.

    Raises OutputError where the folder is not empty and ``resume`` is not set. Raises RecipeError where the
    run was started with another recipe or another vocabulary. Raises RecipeError where the stored tokens were
    not computed with the weights of the run's vision.
    """
    by_keywords = Launch(device, workers, accumulate=accumulate, quiet=quiet)
    launch = one_launch(launch, by_keywords, Launch(workers=0))
    with joined():
        launch = replace(launch, quiet=launch.quiet or rank() > 0)
        return _run(_look(_settle(recipe, run, resume), run, init, launch, first_stage), max_seconds, watch)


def _run(beginning: "Beginning", max_seconds: float | None, watch: Watcher | None) -> State:
    """Run ``run_recipe`` in one of the processes."""
    recipe, start = beginning.recipe, beginning.start
    if beginning.start is not None and beginning.start.state.finished:
        return beginning.start.state
    with first_process_first(), _removed_on_failure(beginning):  # all have looked at the folder
        _begin_folder(beginning)
        sources = _open_data(beginning)
        method = _make_method(beginning, sources)
    _complete_folder(beginning, sources)  # only here, so that a launch that fails leaves no trace in a run
    method.to(beginning.device)
    if has_backbone(method.vision) and recipe.tokens_stay and not beginning.launch.workers:
        sources = with_tokens(sources, method.vision)
    if start is None and beginning.init is not None:  # what it began from may change, or go
        save_checkpoint(beginning.last, beginning.begin, method, None)
        if beginning.begin.finished:
            return beginning.begin
        if beginning.begin.stage:
            wait_for_all()  # the first process has written it
            start = read_checkpoint(beginning.last)
    launch = beginning.launch
    return train(recipe, method, sources, beginning.run, beginning.device, start, max_seconds, launch, watch)


@dataclass(frozen=True)
class Beginning:
    """The starting point of a launch: the content of the folder before any process wrote to the folder.

    recipe  as it is trained
    run     the folder
    launch  how it is trained
    device  the device that ``launch`` names
    fresh   whether the folder holds no run yet
    start   the last checkpoint; None: the run starts at its first step
    init    the weights that the run starts from; None: random weights
    begin   the state at the start
    last    the path of the last checkpoint, whether or not it exists yet
    """

    recipe: Recipe
    run: Path
    launch: Launch
    device: torch.device
    fresh: bool
    start: Checkpoint | None
    init: Path | None
    begin: State
    last: Path


def _look(recipe: Recipe, run: Path, init: Path | None, launch: Launch, first_stage: str) -> Beginning:
    """Find the starting point of a launch. Make all checks that do not need the data, because opening the
    data may take long.

    Raises RecipeError where the device does not exist or the checkpoint belongs to another recipe. Raises
    RecipeError where the recipe cannot start from random weights or with this stage.
    """
    device = choose_device(launch.device)
    last = run / "checkpoints" / "last.safetensors"
    start = read_checkpoint(last) if last.exists() else None
    if start is not None:
        check_stage(start, recipe)
    fresh = not (run / "recipe.toml").exists()
    if start is None and not fresh and not launch.quiet:
        print_note(f"{run}: it was ended before its first checkpoint, so it starts over.")
    init = first_init(run, init)
    if start is None and init is None:
        check_start(recipe, launch.quiet)
    if first_stage and (init is None or start is not None):
        raise RecipeError(
            f"--from {first_stage}: it is for a new run with weights to start from. Name them (--init), or"
            " leave it out."
        )
    begin = first_state(recipe, first_stage)
    return Beginning(recipe, run, launch, device, fresh, start, init, begin, last)


@contextmanager
def _removed_on_failure(beginning: Beginning) -> Iterator[None]:
    """Return a context that removes a newly made run folder if the run cannot begin. The folder's name can
    then be used again. An existing folder is left unchanged.
    """
    try:
        yield
    except BaseException:
        if beginning.fresh and rank() == 0:
            shutil.rmtree(beginning.run, ignore_errors=True)
        raise


def _begin_folder(beginning: Beginning) -> None:
    """Write the recipe into a new folder before the data is opened. Opening the data may take long and be
    interrupted.
    """
    if beginning.fresh and rank() == 0:
        keep(beginning.recipe, beginning.run, beginning.device, beginning.init)


def _open_data(beginning: Beginning) -> Sources:
    """Open the data of the run. Raises RecipeError where the vocabulary of the data differs from the
    vocabulary of the resumed run.
    """
    sources = open_sources(beginning.recipe, beginning.run)
    words = words_of(beginning.recipe, beginning.init, beginning.run if beginning.start is not None else None)
    if words is not None:
        sources = replace(sources, vocabulary=words)
    if beginning.start is None and not beginning.launch.quiet and rank() == 0:
        for line in share_lines(beginning.run):
            print_note(line)
    if beginning.start is not None:
        check_vocabulary(sources.vocabulary, beginning.run)
    return sources


def _make_method(beginning: Beginning, sources: Sources) -> Method:
    """Build the method, and load the weights from which the run resumes or starts.

    Raises RecipeError where the memory is too small, a stage would train nothing, or the weights do not fit.
    """
    recipe, start = beginning.recipe, beginning.start
    check_memory(recipe, sources.vocabulary)
    seed_everything(recipe.seed)  # right before the random weights, so that nothing else moves them
    method = make_method(recipe, sources.vocabulary, sources.longest_caption)
    for stage in recipe.stages:  # a stage that cannot be trained stops the run now, not after days
        trained_groups(method, stage)
    if start is not None:
        start.restore_model(method)
    elif beginning.init is not None:
        start_from(recipe, method, beginning.init, beginning.launch.quiet, beginning.begin.finished)
    if start is None:  # a checkpoint holds what was measured
        measure_tokens(method.vision, sources.train)
    check_tokens(recipe, method)
    return method


def _complete_folder(beginning: Beginning, sources: Sources) -> None:
    """Write the files that depend on the opened data, and add this launch to the list of launches."""
    if rank() == 0:
        keep(
            beginning.recipe,
            beginning.run,
            beginning.device,
            beginning.init,
            resumed=beginning.start is not None,
        )
        keep_vocabulary(sources.vocabulary, beginning.run)


def check_tokens(recipe: Recipe, method: Method) -> None:
    """Raise RecipeError where a pool's tokens were not computed with the weights of the method's vision.

    The method would otherwise train on one backbone's tokens and later read pictures with another backbone.
    Tokens without a record of their weights (``token_files``) are accepted.
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
    """Measure the mean and deviation for a vision that standardises its tokens, on the tokens of the first
    ``MEASURED`` examples.
    """
    if isinstance(vision, StandardisedVision) and vision.standardises:
        vision.measure(*stack_pictures(list(read_examples(source, range(min(len(source), MEASURED))))))


def seed_everything(seed: int) -> None:
    """Seed the random generators of Python, NumPy and torch."""
    random.seed(seed)
    np.random.seed(seed % 2**32)  # it takes no larger one
    torch.manual_seed(seed)


def _settle(recipe: Recipe | None, run: Path, resume: bool) -> Recipe:
    """Return the recipe to train. A run in the folder is resumed only if ``resume`` is set, and with the
    recipe in the folder.

    The data paths in the two recipes may differ, because the data may have been moved.
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
    """Return ``data`` with the paths of ``other``."""
    return data.with_folders(other.path or data.path, other.stored or data.stored)


def first_state(recipe: Recipe, stage: str) -> State:
    """Return the state of a new run that begins at this stage. With "" the run begins at the first stage.
    With ``END`` no stage is trained.

    Raises RecipeError for a stage that the recipe does not have.
    """
    names = [one.name for one in recipe.stages]
    if stage == END:
        return State(stage=len(names) - 1, finished=True)
    if stage and stage not in names:
        known = ", ".join([*names, END])
        raise RecipeError(f"--from {stage}: {recipe.name} has no such stage. Choose among: {known}.")
    return State(stage=names.index(stage) if stage else 0)


def words_of(recipe: Recipe, init: Path | None, resumed: Path | None) -> Vocabulary | None:
    """Return the vocabulary of the published weights from which a run starts, or None if the run uses the
    words of the data.

    resumed: the folder of a resumed run. The vocabulary is read from this folder, because the weights file
    may be gone. Raises RecipeError where the vocabulary cannot be read.
    """
    if init is None or not recipe.method.weights_words or is_model(init) or init.is_dir():
        return None
    if resumed is not None:
        return read_vocabulary(resumed)
    found: Vocabulary = imported(recipe.method.weights_words)(init)
    return found


def start_from(recipe: Recipe, method: Method, init: Path, quiet: bool, finished: bool = False) -> None:
    """Copy initial weights from a run's last checkpoint, a bundle or a file, and print what was copied.

    finished: no stage will be trained, so the weights must come from a model that can caption. Raises
    RecipeError where the weights do not, where the method reads no weight files, or where no tensor fits.
    Raises ShapeError where a tensor has another shape.
    """
    loader = recipe.method.weights_loader
    if is_model(init):
        said = initialise_from_bundle(recipe, method, open_bundle(str(init)))
    elif not init.is_file():
        own, source, state = open_run(init, "last")
        if finished:
            check_captions(init, own, state)
        check_norms(recipe, method, source, str(init))
        said = initialise_from(method, source, str(init))
    elif not loader:
        raise RecipeError(
            f"{init}: this is a file, and {recipe.method.name} begins from none. Name a run's folder."
        )
    else:
        copied = imported(loader)(method, init)
        said = str(copied)
        if finished and "caption" not in (getattr(copied, "learned", None) or ()):
            raise RecipeError(
                f"{init}: these weights have not learned to caption, so a run of them alone says nothing."
                " Train them: leave --from out, or name the stage that captions."
            )
    if not quiet:
        print_note(f"{init}: {said}")


def check_start(recipe: Recipe, quiet: bool) -> None:
    """Check a recipe that starts from random weights.

    Raises RecipeError where the vision is frozen, or where heads choose the best cells of a picture and no
    stage trains these heads. Warns where the first stage uses such heads without training these heads, and
    where the recipe expects published weights.
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
        print_note(
            f"Warning: {recipe.name} starts from random weights, and its first stage chooses cells by heads"
            " that it does not train. It will learn next to nothing of pictures. Start from trained weights"
            " (--init RUN)."
        )
    if (expects := recipe.method.expects_weights(recipe)) and not quiet:
        print_note(
            f"Warning: {recipe.name} starts from random weights, as no others were given, but it {expects}."
            " It will learn next to nothing of pictures. Give CLIP's weights (--init FILE), or let all of it"
            " learn (--set method.freeze=false, and rates near 1), as clip4idc-tiny does."
        )


def print_note(text: str) -> None:
    """Print a line on stderr."""
    print(printable(text), file=sys.stderr)
