"""From a training run to a bundle: two graphs, weights, a card, a README.

Export fails, and writes nothing, unless the graphs caption the validation pairs with the same words as torch.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

import whatchanged
from whatchanged.captioner.bundle import MANIFEST, WEIGHTS, Bundle, open_bundle, write_bundle
from whatchanged.captioner.card import Card, GridAttention, NoChange, PictureInput
from whatchanged.errors import OutputError, RecipeError
from whatchanged.files import whole_folder
from whatchanged.images import normalise
from whatchanged.plugins import imported
from whatchanged.recipes.reader import dump_recipe
from whatchanged.recipes.schema import Recipe
from whatchanged.recipes.sources import DataSettings
from whatchanged.training.batches import Source, read_examples
from whatchanged.training.checkpoint import State, model_tensors, read_state
from whatchanged.training.data.sources import Sources, open_sources
from whatchanged.training.export.calibration import calibrate, sayable_sentences
from whatchanged.training.export.graphs import compare, compare_ood_distance, store_half, write_graphs
from whatchanged.training.export.in_distribution import OODDistance, fit_in_distribution
from whatchanged.training.export.model_card import model_card
from whatchanged.training.methods import Method
from whatchanged.training.run_folder import check_captions, checkpoint_file, launches, open_run
from whatchanged.training.weights.bundle_weights import has_folded_norms, pack_weights
from whatchanged.worlds import World, world_of

FIXTURE_PAIRS = 64


def export_run(
    run: Path,
    output: Path,
    name: str,
    data: Path | None = None,
    fp16: bool = False,
    checkpoint: str = "auto",
    force: bool = False,
    weights: Path | None = None,
    in_distribution: Path | None = None,
    unfinished: bool = False,
) -> Bundle:
    """Write the run's model as a bundle folder; nothing is left at ``output`` if anything fails.

    data: a data set folder whose validation pairs calibrate the no-change probability and test the graphs;
    default: the run's own. fp16 stores large weights in half the bytes; the graphs still compute in fp32.
    checkpoint: as in ``checkpoint_file``. weights: of the backbone that a model of stored features needs to
    read pictures, where no package carries them; without a backbone that is known, it reads features
    (``of_features``). in_distribution: a pool of drawn pictures of the model's
    size; the bundle then reports how unlike them a picture is (``in_distribution.py``).

    unfinished: also of a run that has not come to its end; its card says how far it came.

    Raises RecipeError for a run that no bundle can be made of, or that is not finished; OutputError where
    ``output`` is not a folder, exists without ``force``, or holds anything but a model; BundleError where a
    graph and torch do not agree.
    """
    _check_output(output, force)
    model = _open_model(run, checkpoint, name, fp16, weights, unfinished)
    imported(model.recipe.vision.exporter)(model, output, data, in_distribution)
    bundle = open_bundle(output.absolute())
    bundle.check()
    return bundle


@dataclass(frozen=True)
class TrainedModel:
    """What is exported.

    recipe, method: of the run, a backbone in front of them where the run reads stored features. tensors,
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


def _open_model(
    run: Path, checkpoint: str, name: str, fp16: bool, weights: Path | None, unfinished: bool
) -> TrainedModel:
    """The run's model; arguments and what is raised: see ``export_run``."""
    recipe, method, state = open_run(run, checkpoint)
    provenance = _training(run, recipe, method, state, _is_finished(run, recipe, unfinished))
    if not unfinished and any("caption" in stage.tasks for stage in recipe.stages):
        check_captions(run, recipe, state)
    tensors, folded_norms = model_tensors(method), has_folded_norms(method)
    if recipe.vision.in_front:
        recipe, backbone = imported(recipe.vision.in_front)(run, recipe, method, weights)
        if backbone is not None:
            provenance["features"] = backbone.about()
    provenance["weights_stored_as"] = "fp16 where large" if fp16 else "fp32"
    return TrainedModel(run, name, recipe, method, tensors, folded_norms, fp16, provenance)


def export_pictures(
    model: TrainedModel, output: Path, data: Path | None, in_distribution: Path | None
) -> None:
    """Write the bundle of a model that reads pictures; what is raised: see ``export_run``."""
    recipe, method, statistics = model.recipe, model.method, model.method.vision.pixel_statistics
    if recipe.vision.picture_size is None or statistics is None:
        raise RecipeError(f"{model.run}: this model reads no pictures, so it cannot caption any.")
    places = data_of(recipe.data, data)
    sources = open_sources(replace(recipe, data=places, stages=()), model.run)  # nothing to train on
    distance, fitted = None, None
    if in_distribution is not None:
        distance, fitted = fit_in_distribution(method.vision, in_distribution)
    before, after = fixture_pairs(sources.validation)
    pairs = normalise(before, *statistics), normalise(after, *statistics)
    with whole_folder(output, replace=True) as draft:
        (draft / WEIGHTS).write_bytes(pack_weights(model.tensors))
        graphs = write_checked_graphs(model, pairs, distance, draft)
        world = world_of(dataset_name(sources.validation), Path(places.path))
        card = Card(
            name=model.name,
            version=whatchanged.__version__,
            method=recipe.method.name,
            preset=recipe.method.preset,
            world="none" if world is None else world.name,
            input=PictureInput(recipe.vision.picture_size, *statistics),
            attention=GridAttention(method.vision.rows, method.vision.columns),
            vocabulary=method.vocabulary,
            max_length=method.max_length,
            no_change=calibrated_no_change(model, sources, world),
            provenance={**model.provenance, "graphs_against_torch": graphs},
            in_distribution=fitted,
            folded_norms=model.folded_norms,
        )
        (draft / "README.md").write_text(model_card(card, recipe, world, draft), encoding="utf-8")
        write_bundle(draft, card)


def write_checked_graphs(
    model: TrainedModel,
    pairs: tuple[NDArray[np.float32], NDArray[np.float32]],
    distance: OODDistance | None,
    folder: Path,
) -> dict[str, Any]:
    """Write both graphs and run them on the pairs beside torch; returns how near they came, for the card.

    Raises BundleError where they do not agree.
    """
    before, after = pairs
    write_graphs(model.method, (before[:2], after[:2]), folder, distance)
    if model.fp16:
        for graph in ("encoder.onnx", "decoder.onnx"):
            store_half(folder / graph)
    difference = compare(model.method, folder, before, after)
    if distance is not None:
        compare_ood_distance(model.method, distance, folder, before, after)
    return {"pairs": len(before), "ids": "equal", "largest_difference": difference}


def dataset_name(validation: Source) -> str:
    """The name of the data set that the pairs are of."""
    return validation.example(0, np.random.default_rng(0)).record.dataset


def calibrated_no_change(model: TrainedModel, sources: Sources, world: World | None) -> NoChange:
    """The no-change probability, calibrated on validation pairs, by the sentences that say that nothing did:
    those of the world, or those of the data that the model can say."""
    sentences = () if world is None else world.language.no_change_sentences
    vocabulary = model.method.vocabulary
    sentences = sentences or sayable_sentences(sources.no_change_captions, model.recipe, vocabulary)
    return calibrate(model.method, sources.validation, sentences)


def _check_output(output: Path, force: bool) -> None:
    """Raise OutputError where the bundle must not be written."""
    if output.is_symlink() or (output.exists() and not output.is_dir()):
        raise OutputError(f"{output}: is a file or a link, and a model is a folder. Choose another place.")
    if output.exists() and not force:
        raise OutputError(f"{output}: exists already. Pass --force to replace it, or choose another folder.")
    if output.exists() and any(output.iterdir()) and not (output / MANIFEST).is_file():
        raise OutputError(f"{output}: holds other files than a model's, so it stays. Choose another folder.")


def _is_finished(run: Path, recipe: Recipe, unfinished: bool) -> bool:
    """Whether the run came to its end. Raises RecipeError where it did not, and that was not asked for."""
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
    """How the weights were trained, for the bundle's card; without paths."""
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
    """The machine and versions of the first launch of the run, and of all later ones; without commands and
    start, whose paths are private. {} where no launch is known."""
    private = ("command", "init")
    shown = [{key: value for key, value in launch.items() if key not in private} for launch in launched]
    return {**shown[0], **({"launches": shown[1:]} if shown[1:] else {})} if shown else {}


def data_of(data: DataSettings, folder: Path | None) -> DataSettings:
    """The settings that read the pairs of ``folder``, or of the run's own data, as pictures.

    The vocabulary stays that of the run, and each pair is read by itself.
    """
    return data.as_pictures() if folder is None else data.of_folder(str(folder))


def fixture_pairs(validation: Source) -> tuple[NDArray[Any], NDArray[Any]]:
    """The first validation pairs, as they are read: pixels (B, H, W, 3) uint8, or features, (B, N, F), each.

    Raises RecipeError if there are none.
    """
    examples = list(read_examples(validation, range(min(len(validation), FIXTURE_PAIRS))))
    if len(examples) < 2:
        raise RecipeError("There are no validation pairs to test the graphs on. Name a data set with --data.")
    before, after = (np.stack([getattr(e, side) for e in examples]) for side in ("before", "after"))
    return before, after
