"""Writes the bundle of a run whose method captions pictures: two graphs, weights, a card, a README.

If the graphs do not caption the validation pairs with the same words as torch, export fails and writes
nothing.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import whatchanged
from whatchanged.captioner.bundle import WEIGHTS, write_bundle
from whatchanged.captioner.card import Card, GridAttention, InDistribution, Input, NoChange, PictureInput
from whatchanged.errors import RecipeError
from whatchanged.files import whole_folder
from whatchanged.images import normalise
from whatchanged.recipes.schema import Recipe
from whatchanged.recipes.sources import DataSettings
from whatchanged.training.batches import Source, read_examples
from whatchanged.training.build import open_sources
from whatchanged.training.data.sources import Sources
from whatchanged.training.export.calibration import calibrate, sayable_sentences
from whatchanged.training.export.graphs import compare, compare_ood_distance, store_half, write_graphs
from whatchanged.training.export.in_distribution import OODDistance, fit_in_distribution
from whatchanged.training.export.model_card import model_card
from whatchanged.training.export.trained_model import TrainedModel
from whatchanged.training.methods import Method
from whatchanged.training.weights.bundle_weights import pack_weights
from whatchanged.worlds import World, world_of

FIXTURE_PAIRS = 64


def export_pictures(
    model: TrainedModel, output: Path, data: Path | None, in_distribution: Path | None
) -> None:
    """Write the bundle of a model that reads pictures; errors are those of ``export_run``."""
    recipe, method = model.recipe, model.method
    size, statistics = recipe.vision.picture_size, method.vision.pixel_statistics
    if size is None or statistics is None:
        raise RecipeError(f"{model.run}: this model reads no pictures, so it cannot caption any.")
    pictures = picture_data(recipe.data, data)
    sources = open_sources(replace(recipe, data=pictures, stages=()), model.run)  # nothing to train on
    distance, fitted = None, None
    if in_distribution is not None:
        distance, fitted = fit_in_distribution(method.vision, in_distribution)
    before, after = fixture_pairs(sources.validation)
    pairs = normalise(before, *statistics), normalise(after, *statistics)
    write_model(
        model, output, sources, pictures.path, PictureInput(size, *statistics), pairs, distance, fitted
    )


def write_model(
    model: TrainedModel,
    output: Path,
    sources: Sources,
    root: str,
    reads: Input,
    pairs: tuple[NDArray[np.float32], NDArray[np.float32]],
    distance: OODDistance | None = None,
    fitted: InDistribution | None = None,
) -> None:
    """Write the bundle of a model that captions, atomically.

    sources: the pairs that calibrate it, in ``root``. reads: what its encoder reads. pairs: what the encoder
    reads of the ``fixture_pairs``, on which the graphs are tested. distance, fitted: the distance from the
    training pictures, and its threshold.
    """
    recipe, method = model.recipe, model.method
    with whole_folder(output, replace=True) as draft:
        (draft / WEIGHTS).write_bytes(pack_weights(model.tensors))
        graphs = write_checked_graphs(method, model.fp16, pairs, distance, draft)
        dataset = sources.validation.example(0, np.random.default_rng(0)).record.dataset
        world = world_of(dataset, Path(root))
        card = Card(
            name=model.name,
            version=whatchanged.__version__,
            method=recipe.method.name,
            preset=recipe.method.preset,
            world="none" if world is None else world.name,
            input=reads,
            attention=GridAttention(method.vision.rows, method.vision.columns),
            vocabulary=method.vocabulary,
            max_length=method.max_length,
            no_change=calibrated_no_change(method, recipe, sources, world),
            provenance={**model.provenance, "graphs_against_torch": graphs},
            in_distribution=fitted,
            folded_norms=model.folded_norms,
        )
        (draft / "README.md").write_text(model_card(card, recipe, world, draft), encoding="utf-8")
        write_bundle(draft, card)


def write_checked_graphs(
    method: Method,
    fp16: bool,
    pairs: tuple[NDArray[np.float32], NDArray[np.float32]],
    distance: OODDistance | None,
    folder: Path,
) -> dict[str, Any]:
    """Write both graphs and compare them with torch on the pairs; returns the differences, for the card.

    Raises BundleError where they disagree.
    """
    before, after = pairs
    write_graphs(method, (before[:2], after[:2]), folder, distance)
    if fp16:
        for graph in ("encoder.onnx", "decoder.onnx"):
            store_half(folder / graph)
    difference = compare(method, folder, before, after)
    if distance is not None:
        compare_ood_distance(method, distance, folder, before, after)
    return {"pairs": len(before), "ids": "equal", "largest_difference": difference}


def calibrated_no_change(method: Method, recipe: Recipe, sources: Sources, world: World | None) -> NoChange:
    """Return the no-change probability, calibrated on validation pairs.

    Its no-change sentences are those of the world, or those of the data whose words the model has.
    """
    sentences = () if world is None else world.language.no_change_sentences
    sentences = sentences or sayable_sentences(sources.no_change_captions, recipe, method.vocabulary)
    return calibrate(method, sources.validation, sentences)


def picture_data(data: DataSettings, folder: Path | None) -> DataSettings:
    """Return the settings that read the pairs of ``folder``, or of the run's own data, as pictures.

    The vocabulary stays that of the run, and each pair is an example of its own.
    """
    return data.as_pictures() if folder is None else data.of_folder(str(folder))


def fixture_pairs(validation: Source) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the first validation pairs, as the model reads them: pixels (B, H, W, 3) uint8, or features (B,
    N, F).

    Raises RecipeError if there are none.
    """
    examples = list(read_examples(validation, range(min(len(validation), FIXTURE_PAIRS))))
    if len(examples) < 2:
        raise RecipeError("There are no validation pairs to test the graphs on. Name a data set with --data.")
    before, after = (np.stack([getattr(e, side) for e in examples]) for side in ("before", "after"))
    return before, after
