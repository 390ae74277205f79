"""What a run starts from: random weights, or those of another run, a model or a file; and at which stage."""

import sys
from pathlib import Path

from whatchanged.captioner.bundle import open_bundle
from whatchanged.errors import RecipeError, printable
from whatchanged.plugins import imported
from whatchanged.recipes.schema import Recipe
from whatchanged.training.checkpoint import State
from whatchanged.training.methods import Method, initialise_from
from whatchanged.training.run_folder import check_captions, open_run, read_vocabulary
from whatchanged.training.weights.bundle_weights import check_norms, initialise_from_bundle
from whatchanged.training.weights.trained import is_model
from whatchanged.vocabulary import Vocabulary

END = "end"
"""What ``--from`` names where no stage is to be trained."""


def first_state(recipe: Recipe, stage: str) -> State:
    """The state of a new run that begins at this stage. "": at the first one; ``END``: no stage is trained.

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
    """The vocabulary of the published weights that a run starts from; None if it uses the data's words.

    resumed: the folder of a resumed run, which holds a copy, because the file may be gone. Raises
    RecipeError.
    """
    if init is None or not recipe.method.weights_words or is_model(init) or init.is_dir():
        return None
    if resumed is not None:
        return read_vocabulary(resumed)
    found: Vocabulary = imported(recipe.method.weights_words)(init)
    return found


def start_from(recipe: Recipe, method: Method, init: Path, quiet: bool, finished: bool = False) -> None:
    """Copy initial weights from a run's last checkpoint, a bundle or a file, and print what was copied.

    finished: no stage will be trained, so the weights must already be able to caption. Raises RecipeError
    where they are not, where the method reads no weight files, or where no tensor fits; ShapeError where a
    tensor has another shape.
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

    Raises RecipeError where its vision is frozen, or where heads choose the best cells of a picture and no
    stage trains them. Warns where the first stage uses such heads without training them, and where the recipe
    expects published weights.
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
