"""The exported parts of a run: the recipe, the method with a checkpoint's weights, and a record of the
training.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from torch import Tensor

from whatchanged.errors import RecipeError
from whatchanged.plugins import imported
from whatchanged.recipes.schema import Recipe
from whatchanged.recipes.values import dump_recipe
from whatchanged.training.checkpoint import State, model_tensors, read_state
from whatchanged.training.methods import Method
from whatchanged.training.run_folder import (
    captioning_stages,
    check_captions,
    checkpoint_file,
    launches,
    open_run,
)
from whatchanged.training.weights.bundle_weights import has_folded_norms


@dataclass(frozen=True)
class TrainedModel:
    """The parts of a run that are exported.

    recipe, method: of the run, with a backbone in front if the run reads stored features. tensors,
    folded_norms: the weights of the run itself, without that backbone. provenance: how they were trained.
    """

    run: Path
    name: str
    recipe: Recipe
    method: Method
    tensors: Mapping[str, Tensor]
    folded_norms: bool
    fp16: bool
    provenance: Mapping[str, Any]


def open_trained_model(
    run: Path, checkpoint: str, name: str, fp16: bool, weights: Path | None, unfinished: bool
) -> TrainedModel:
    """Return the model of a run. The arguments and errors are the arguments and errors of ``export_run``."""
    recipe, method, state = open_run(run, checkpoint)
    provenance = _training(run, recipe, method, state, _is_finished(run, recipe, unfinished))
    if not unfinished and captioning_stages(recipe):
        check_captions(run, recipe, state)
    tensors, folded_norms = model_tensors(method), has_folded_norms(method)
    if recipe.vision.in_front:
        recipe, backbone = imported(recipe.vision.in_front)(run, recipe, method, weights)
        if backbone is not None:
            provenance["features"] = backbone.about()
    provenance["weights_stored_as"] = "fp16 where large" if fp16 else "fp32"
    return TrainedModel(run, name, recipe, method, tensors, folded_norms, fp16, provenance)


def _is_finished(run: Path, recipe: Recipe, unfinished: bool) -> bool:
    """Return whether the run has finished. Raises RecipeError if it has not, and unfinished runs are not
    allowed.
    """
    state = read_state(checkpoint_file(run, "last"))
    if not state.finished and not unfinished:
        stage = recipe.stages[min(state.stage, len(recipe.stages) - 1)]
        raise RecipeError(
            f"{run}: this run is not finished: it stands at step {state.step:,} of {stage.steps:,} of"
            f" {stage.name}, stage {state.stage + 1} of {len(recipe.stages)}. Go on with it (train --resume),"
            " or export it as it is: --unfinished"
        )
    return state.finished


def _training(run: Path, recipe: Recipe, method: Method, state: State, finished: bool) -> dict[str, Any]:
    """Return a record of the training for the bundle's card, without paths."""
    stage = recipe.stages[state.stage]
    resolved = replace(recipe, data=recipe.data.without_folders())
    launched = launches(run)
    return {
        "recipe": recipe.name,
        "resolved_recipe": dump_recipe(resolved),
        "preparation": recipe.data.preparation,
        "attention": method.attention_description,
        "checkpoint": {"stage": stage.name, "step": state.step, "of": stage.steps, "best": state.best},
        "finished": finished,
        "training_seconds": round(state.seconds),
        "from_nothing": launched[0].get("init") is None if launched else None,  # None: it is not known
        "environment": _environment(launched),
    }


def _environment(launched: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the machine and versions of the run's first launch, and of all later launches.

    Commands and start weights are left out, because they hold private paths. {} where no launch is recorded.
    """
    private = ("command", "init")
    shown = [{key: value for key, value in launch.items() if key not in private} for launch in launched]
    return {**shown[0], **({"launches": shown[1:]} if shown[1:] else {})} if shown else {}
