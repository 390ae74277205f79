"""The installed models, and which of them are asked; none is built before it is needed."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from whatchanged.answers.answer import MEASURED
from whatchanged.answers.by_model import Model
from whatchanged.answers.by_regions import StatementModel
from whatchanged.captioner.bundle import DEFAULT, open_bundle, reads_features, shipped
from whatchanged.captioner.card import FeatureInput
from whatchanged.measured.pixels.gate import probability_of_no_change


def chosen_model(
    name_or_folder: str | Path, threads: int | None = None, named: bool = False, beams: int = 1
) -> Model | StatementModel:
    """The model of a name or a folder, of the kind that its card declares. Raises BundleError.

    named: whether it answers for any pictures. beams: hypotheses kept by a model that writes.
    """
    bundle = open_bundle(name_or_folder)
    if isinstance(bundle.card.input, FeatureInput):
        raise reads_features(bundle)
    if bundle.card.statements is None:
        return Model(bundle, threads, named, beams)
    return StatementModel(bundle, threads, named)


def candidate_models(
    name_or_folder: str | Path | None, threads: int | None = None, beams: int = 1
) -> tuple[Model | StatementModel, ...]:
    """The models that may answer: the one that was named, or, where None was, the installed ones.

    None where the measurement was named. Raises BundleError.
    """
    if name_or_folder is None:
        return installed_models(threads, beams)
    if name_or_folder == MEASURED:
        return ()
    return (chosen_model(name_or_folder, threads, named=True, beams=beams),)


def installed_models(threads: int | None = None, beams: int = 1) -> tuple[Model | StatementModel, ...]:
    """One model of each world: the default one, or else the first by name. Raises BundleError."""
    results: dict[str, Model | StatementModel] = {}
    for name in sorted(shipped(), key=lambda name: (name != DEFAULT, name)):
        model = chosen_model(name, threads, beams=beams)
        # Two models of one world know the same pictures: which of them is nearer would be chance.
        results.setdefault(model.card.world, model)
    return tuple(results.values())


def identity_of_models(models: Sequence[Model | StatementModel], named: bool) -> dict[str, Any]:
    """What answers owe to their models: each model's name and files, and the threshold of each ``answer``.

    named: whether a model was named by a person, whose sentence then stands in any case.
    """
    if named and models:
        (model,) = models
        return {"model": _about(model), "threshold": model.card.no_change.threshold}
    thresholds = {model.card.name: model.card.no_change.threshold for model in models}
    return {
        "models": [_about(model) for model in models],
        "thresholds": {**thresholds, MEASURED: probability_of_no_change(1.0)},
    }


def _about(model: Model | StatementModel) -> dict[str, str]:
    card = model.card
    return {
        "name": card.name,
        "version": card.version,
        "fingerprint": model.bundle.fingerprint,
        "preparation": str(card.provenance.get("preparation", "unknown")),
    }
