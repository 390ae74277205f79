"""The installed models, and which of them may know two pictures; none is built before it is needed."""

import math
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from whatchanged.answers.answer import MEASURED
from whatchanged.captioner.bundle import DEFAULT, Bundle, open_bundle, shipped
from whatchanged.captioner.card import Card, PictureInput
from whatchanged.captioner.colours import colour_distance, unlike_a_screen
from whatchanged.errors import PluginError
from whatchanged.images import LEAST_SIDE, resize
from whatchanged.measured.gate import probability_of_no_change
from whatchanged.measured.reading import Pixels
from whatchanged.worlds import find_world

if TYPE_CHECKING:
    from whatchanged.captioner.runtime import Captioner
    from whatchanged.regions.runtime import RegionModel

MOST_STRETCH = 1.25
"""Pictures whose proportions the model's input would change by more are not asked about: 4:3 and 16:9 become
3:2 by less, a square or a picture on its side by more."""


class Installed:
    """A model on disk, of which only the card has been read."""

    def __init__(self, bundle: Bundle, threads: int | None = None) -> None:
        """threads: how many an operator may use; None: at most two."""
        self.bundle = bundle
        self._threads = threads

    @property
    def card(self) -> Card:
        """What is known of the model."""
        return self.bundle.card


class Model(Installed):
    """A model of whole pictures."""

    def build(self) -> "Captioner":
        """The model, ready to run; built when it is first asked for. Raises BundleError."""
        return self._captioner

    @cached_property
    def _captioner(self) -> "Captioner":
        from whatchanged.captioner.runtime import Captioner

        return Captioner(self.bundle, self._threads)

    @cached_property
    def explains_view_and_light(self) -> bool:
        """Whether pictures of the model's world may differ by viewpoint and light though nothing changed.

        Not so in a world that is not installed: nobody has declared it.
        """
        try:
            return find_world(self.card.world).view_and_light_differ
        except PluginError:
            return False

    def read(self, before: Pixels, after: Pixels) -> Pixels:
        """The pair as the model reads it: (2, H, W, 3)."""
        wanted = self.build().input
        return np.stack([as_input(picture, wanted) for picture in (before, after)])

    def read_if_known(self, before: Pixels, after: Pixels) -> Pixels | None:
        """The pair as the model reads it, if the model may know both pictures by their shape and colours.

        Its graphs are not needed for that. A model that cannot tell which pictures it knows knows none.
        """
        known, wanted = self.card.in_distribution, self.card.input
        if known is None or not isinstance(wanted, PictureInput):
            return None
        if not all(_fits(picture, wanted) for picture in (before, after)):
            return None
        pixels = np.stack([as_input(picture, wanted) for picture in (before, after)])
        return pixels if (colour_distance(pixels, known.colours) <= 1).all() else None


class StatementModel(Installed):
    """A model that makes statements of regions."""

    def build(self) -> "RegionModel":
        """The model, ready to run; built when it is first asked for. Raises BundleError."""
        return self._regions

    @cached_property
    def _regions(self) -> "RegionModel":
        from whatchanged.regions.runtime import RegionModel

        return RegionModel(self.bundle, self._threads)

    def distance(self, before: Pixels, after: Pixels) -> float | None:
        """How far the stranger of the two pictures is from what the model knows, 1 the limit.

        Its graph is not needed for that. None for a model that cannot tell.
        """
        known = self.card.in_distribution
        if known is None:
            return None
        return max(unlike_a_screen(picture, known.threshold) for picture in (before, after))


def _fits(picture: Pixels, wanted: PictureInput) -> bool:
    """Whether the picture is large enough, and has about the model's proportions."""
    height, width = picture.shape[:2]
    stretch = width * wanted.size[1] / (height * wanted.size[0])
    return min(height, width) >= LEAST_SIDE and abs(math.log(stretch)) <= math.log(MOST_STRETCH)


def as_input(picture: Pixels, wanted: PictureInput) -> Pixels:
    """A picture at the model's size."""
    return resize(Image.fromarray(picture), wanted.size)


def chosen_model(name_or_folder: str | Path, threads: int | None = None) -> Model | StatementModel:
    """The model that a person named. Raises BundleError."""
    bundle = open_bundle(name_or_folder)
    return Model(bundle, threads) if bundle.card.statements is None else StatementModel(bundle, threads)


def asked_models(
    name_or_folder: str | Path | None, threads: int | None = None
) -> tuple[Model | StatementModel, ...]:
    """The models that may answer: the one that was named, or, where None was, the installed ones.

    Raises BundleError.
    """
    return installed_models(threads) if name_or_folder is None else (chosen_model(name_or_folder, threads),)


def installed_models(threads: int | None = None) -> tuple[Model | StatementModel, ...]:
    """One model of each world: the default one, or else the first by name. Raises BundleError."""
    found: dict[str, Model | StatementModel] = {}
    for name in sorted(shipped(), key=lambda name: (name != DEFAULT, name)):
        model = chosen_model(name, threads)
        found.setdefault(model.card.world, model)
    return tuple(found.values())


def identity_of_models(models: Sequence[Model | StatementModel], named: bool) -> dict[str, Any]:
    """What answers owe to their models: each model's name and files, and the threshold of each ``answer``.

    named: whether the one model was named by a person, whose sentence then stands in any case.
    """
    if named:
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
