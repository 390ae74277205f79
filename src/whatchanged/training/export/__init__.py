"""From a training run to a bundle: two graphs, weights, a card, a README.

Export fails, and writes nothing, unless the graphs caption the validation pairs with the same words as torch.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import whatchanged
from whatchanged.captioner.bundle import MANIFEST, WEIGHTS, Bundle, open_bundle, write_bundle
from whatchanged.captioner.card import BoxAttention, Card, GridAttention, NoChange, PictureInput, RegionInput
from whatchanged.datasets import open_dataset
from whatchanged.errors import OutputError, RecipeError
from whatchanged.files import whole_folder
from whatchanged.images import normalise
from whatchanged.json_values import read_json
from whatchanged.measured.numbers import NUMBERS
from whatchanged.recipes.reader import dump_recipe
from whatchanged.recipes.schema import DataConfig, DatasetConfig, FeaturesConfig, Recipe, RegionsConfig
from whatchanged.training.batches import Source, read_examples
from whatchanged.training.checkpoint import State, model_tensors, read_state
from whatchanged.training.data.sources import open_sources
from whatchanged.training.export.backbone_in_front import put_backbone_in_front
from whatchanged.training.export.calibration import calibrate, sayable_sentences
from whatchanged.training.export.graphs import compare, compare_ood_distance, store_half, write_graphs
from whatchanged.training.export.in_distribution import fit_in_distribution
from whatchanged.training.export.model_card import model_card
from whatchanged.training.export.regions import write_region_model
from whatchanged.training.methods import Method
from whatchanged.training.regions.vision import RegionVision
from whatchanged.training.run_folder import checkpoint_file, open_run
from whatchanged.training.weights.bundle_weights import has_folded_norms, pack_weights
from whatchanged.worlds import world_of

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
    read pictures, where no package carries them. in_distribution: a pool of drawn pictures of the model's
    size; the bundle then reports how unlike them a picture is (``in_distribution.py``).

    unfinished: also of a run that has not come to its end; its card says how far it came.

    Raises RecipeError for a run that no bundle can be made of, or that is not finished; OutputError where
    ``output`` is not a folder, exists without ``force``, or holds anything but a model; BundleError where a
    graph and torch do not agree.
    """
    _check_output(output, force)
    trained, method, state = open_run(run, checkpoint)
    finished = _is_finished(run, trained, unfinished)
    # The weights of the run itself, before a backbone is put in front of it.
    tensors, folded_norms = model_tensors(method), has_folded_norms(method)
    recipe, features = trained, None
    if isinstance(trained.vision, FeaturesConfig):
        recipe, backbone = put_backbone_in_front(run, trained, method, weights)
        features = backbone.about()
    if isinstance(trained.vision, RegionsConfig) and isinstance(method.vision, RegionVision):
        if in_distribution is not None:
            raise RecipeError(
                "--familiar: a model of regions tells screens by how even they are. Leave it out."
            )
        about = _training(run, trained, method, state, finished)
        return _export_regions(trained, method, method.vision, about, output, name, data, fp16)
    if isinstance(recipe.vision, FeaturesConfig | RegionsConfig) or method.vision.pixel_statistics is None:
        raise RecipeError(f"{run}: this model reads no pictures, so it cannot caption any.")
    size = (recipe.vision.image_width, recipe.vision.image_height)
    statistics = method.vision.pixel_statistics
    places = _places(recipe.data, data)
    sources = open_sources(replace(recipe, data=places, stages=()), run)  # nothing to train on
    validation = sources.validation
    distance, fitted = None, None
    if in_distribution is not None:
        distance, fitted = fit_in_distribution(method.vision, in_distribution)
    pairs = _fixture_pairs(validation, *statistics)
    with whole_folder(output, replace=True) as draft:
        (draft / WEIGHTS).write_bytes(pack_weights(tensors))
        write_graphs(method, (pairs[0][:2], pairs[1][:2]), draft, distance)
        if fp16:
            for graph in ("encoder.onnx", "decoder.onnx"):
                store_half(draft / graph)
        difference = compare(method, draft, *pairs)
        if distance is not None:
            compare_ood_distance(method, distance, draft, *pairs)
        dataset = validation.example(0, np.random.default_rng(0)).record.dataset
        world = world_of(dataset, Path(places.path))
        sentences = () if world is None else world.no_change_sentences
        sentences = sentences or sayable_sentences(sources.no_change_captions, recipe, method.vocabulary)
        no_change = calibrate(method, validation, sentences)
        graphs = {"pairs": len(pairs[0]), "ids": "equal", "largest_difference": difference}
        provenance = {
            **_training(run, trained, method, state, finished),
            **({} if features is None else {"features": features}),
            "weights_stored_as": "fp16 where large" if fp16 else "fp32",
            "graphs_against_torch": graphs,
        }
        card = Card(
            name=name,
            version=whatchanged.__version__,
            method=recipe.method.name,
            preset=recipe.method.preset,
            world="none" if world is None else world.name,
            input=PictureInput(size, *statistics),
            attention=GridAttention(method.vision.rows, method.vision.columns),
            vocabulary=method.vocabulary,
            max_length=method.max_length,
            no_change=no_change,
            provenance=provenance,
            in_distribution=fitted,
            folded_norms=folded_norms,
        )
        (draft / "README.md").write_text(model_card(card, recipe, world, draft), encoding="utf-8")
        write_bundle(draft, card)
    bundle = open_bundle(output.absolute())
    bundle.check()
    return bundle


def _export_regions(
    recipe: Recipe,
    method: Method,
    vision: RegionVision,
    about: dict[str, Any],
    output: Path,
    name: str,
    data: Path | None,
    fp16: bool,
) -> Bundle:
    """The bundle of a run whose vision judges regions; what is raised: see ``export_run``."""
    assert isinstance(recipe.vision, RegionsConfig)
    places = _places(recipe.data, data)
    dataset = open_dataset(Path(places.path))
    records = [record for record in dataset.records if record.split == "val"]
    world = world_of(dataset.name, Path(places.path))
    if world is None:
        raise RecipeError(
            f"{places.path}: these pairs are of no world, so no statement can be put into words."
        )
    card = Card(
        name=name,
        version=whatchanged.__version__,
        method=recipe.method.name,
        preset=recipe.method.preset,
        world=world.name,
        input=RegionInput(recipe.vision.regions, NUMBERS),
        attention=BoxAttention(),
        vocabulary=method.vocabulary,
        max_length=method.max_length,
        no_change=NoChange(0.5, 1.0, 0.0, "nothing", world.no_change_sentences),
        provenance={**about, "weights_stored_as": "fp16 where large" if fp16 else "fp32"},
    )
    with whole_folder(output, replace=True) as draft:
        (draft / WEIGHTS).write_bytes(pack_weights(model_tensors(method)))
        truths = world.truths(Path(places.path), records)
        card = write_region_model(vision, recipe.vision, records, truths, card, draft, fp16)
        (draft / "README.md").write_text(model_card(card, recipe, world, draft), encoding="utf-8")
        write_bundle(draft, card)
    bundle = open_bundle(output.absolute())
    bundle.check()
    return bundle


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
    resolved = replace(recipe, data=replace(recipe.data.with_folders("", ""), merges=""))
    preparation = recipe.data.preparation if isinstance(recipe.data, DatasetConfig) else "none"
    launched = read_json((run / "environment.json").read_text(encoding="utf-8"))
    return {
        "recipe": recipe.name,
        "resolved_recipe": dump_recipe(resolved),
        "preparation": preparation,
        "attention": method.attention_description,
        "checkpoint": {"stage": stage.name, "step": state.step, "of": stage.steps, "best": state.best},
        "finished": finished,
        "training_seconds": round(state.seconds),
        "from_nothing": launched.get("init") is None,
        "environment": _environment(launched),
    }


def _environment(first: Mapping[str, Any]) -> dict[str, Any]:
    """The machine and versions of each launch of the run; without commands and start, whose paths are
    private."""

    def shown(launch: Mapping[str, Any]) -> dict[str, Any]:
        private = ("command", "init", "launches", "sittings")
        return {key: value for key, value in launch.items() if key not in private}

    later = first.get("launches", first.get("sittings", []))  # "sittings" before 0.2
    return {**shown(first), **({"launches": [shown(launch) for launch in later]} if later else {})}


def _places(data: DataConfig, folder: Path | None) -> DataConfig:
    """The settings that read the pairs of ``folder``, or of the run's own data set or pool, as pictures.

    The vocabulary stays that of the run, and each pair is read by itself.
    """
    if isinstance(data, DatasetConfig):
        data = replace(data, features="", merges="", examples="captions", exchange=False)
        return data if folder is None else replace(data, path=str(folder), wording="captions")
    if folder is None:
        return replace(data, tokens="", merges="")
    return DatasetConfig(path=str(folder), validation=data.validation)


def _fixture_pairs(
    validation: Source, mean: Sequence[float], std: Sequence[float]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The first validation pairs as the graphs read them: normalised, (B, 3, H, W) each.

    Raises RecipeError if there are none.
    """
    examples = list(read_examples(validation, range(min(len(validation), FIXTURE_PAIRS))))
    if len(examples) < 2:
        raise RecipeError("There are no validation pairs to test the graphs on. Name a data set with --data.")
    before, after = (np.stack([getattr(e, side) for e in examples]) for side in ("before", "after"))
    return normalise(before, mean, std), normalise(after, mean, std)
