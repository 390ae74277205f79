"""The installed models, and the selection of those that may answer; none is built before its first use."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from whatchanged.answers.answer import MEASURED
from whatchanged.answers.by_model import Model
from whatchanged.captioner.bundle import DEFAULT, open_bundle, shipped
from whatchanged.measured.pixels.gate import probability_of_no_change

INSTEAD: Mapping[str, str] = {"screens": MEASURED}
"""A model that was shipped up to 0.2 -> the model that answers in its place until 0.4."""


def who_answers(name_or_folder: str | Path | None) -> tuple[str | Path | None, str]:
    """Return who answers for this name, and a remark to print; "" for none."""
    instead = INSTEAD.get(str(name_or_folder))
    if instead is None:
        return name_or_folder, ""
    return instead, (
        f"The model {name_or_folder} is gone; {instead} answers in its place. Name {instead} or leave"
        " the model out: version 0.4 will refuse the old name."
    )


def chosen_model(
    name_or_folder: str | Path, threads: int | None = None, named: bool = False, beams: int = 1
) -> Model:
    """Return the model of a name or a folder. Raises BundleError, also for a model of stored features.

    named: whether it answers for any pictures. beams: hypotheses of its beam search.
    """
    return Model(open_bundle(name_or_folder), threads, named, beams)


def candidate_models(
    name_or_folder: str | Path | None, threads: int | None = None, beams: int = 1
) -> tuple[Model, ...]:
    """Return the models that may answer: the named one, or, where the name is None, the installed ones.

    None for the name of the measurement. Raises BundleError.
    """
    if name_or_folder is None:
        return installed_models(threads, beams)
    if name_or_folder == MEASURED:
        return ()
    return (chosen_model(name_or_folder, threads, named=True, beams=beams),)


def installed_models(threads: int | None = None, beams: int = 1) -> tuple[Model, ...]:
    """Return one model of each world: the default one, or else the first by name. Raises BundleError."""
    results: dict[str, Model] = {}
    for name in sorted(shipped(), key=lambda name: (name != DEFAULT, name)):
        model = chosen_model(name, threads, beams=beams)
        # Two models of one world know the same pictures: which of them is nearer would be chance.
        results.setdefault(model.card.world, model)
    return tuple(results.values())


def identity_of_models(models: Sequence[Model], named: bool) -> dict[str, Any]:
    """Return the identity of models: the name, the files and the threshold of each.

    named: whether the user named a model, whose sentence then always stands.
    """
    if named and models:
        (model,) = models
        return {"model": _about(model), "threshold": model.card.no_change.threshold}
    thresholds = {model.card.name: model.card.no_change.threshold for model in models}
    return {
        "models": [_about(model) for model in models],
        "thresholds": {**thresholds, MEASURED: probability_of_no_change(1.0)},
    }


def _about(model: Model) -> dict[str, str]:
    card = model.card
    return {
        "name": card.name,
        "version": card.version,
        "fingerprint": model.bundle.fingerprint,
        "preparation": str(card.provenance.get("preparation", "unknown")),
    }
