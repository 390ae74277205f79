"""The installed models, and which of them may know two pictures; none is built before it is needed."""

import math
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from whatchanged.captioner.bundle import DEFAULT, Bundle, open_bundle, shipped
from whatchanged.captioner.card import Card, PictureInput
from whatchanged.captioner.colours import colour_distance
from whatchanged.errors import PluginError
from whatchanged.images import LEAST_SIDE, resize
from whatchanged.worlds import find_world

if TYPE_CHECKING:
    from whatchanged.captioner.runtime import Captioner

Pixels = NDArray[np.uint8]
"""(H, W, 3): red, green, blue."""

MOST_STRETCH = 1.25
"""Pictures whose proportions the model's input would change by more are not asked about: 4:3 and 16:9 become
3:2 by less, a square or a picture on its side by more."""


class Model:
    """A model on disk, of which only the card has been read."""

    def __init__(self, bundle: Bundle, threads: int | None = None) -> None:
        """threads: how many an operator may use; None: at most two."""
        self.bundle = bundle
        self._threads = threads

    @property
    def card(self) -> Card:
        """What is known of the model."""
        return self.bundle.card

    @cached_property
    def captioner(self) -> "Captioner":
        """The model, ready to run; built when it is asked for. Raises BundleError."""
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

    def may_know(self, before: Pixels, after: Pixels) -> bool:
        """Whether the model may know both pictures, by their shape and colours; its graphs are not needed.

        A model that cannot tell which pictures it knows knows none.
        """
        known, wanted = self.card.in_distribution, self.card.input
        if known is None or not isinstance(wanted, PictureInput):
            return False
        for picture in (before, after):
            height, width = picture.shape[:2]
            stretch = width * wanted.size[1] / (height * wanted.size[0])
            if min(height, width) < LEAST_SIDE or abs(math.log(stretch)) > math.log(MOST_STRETCH):
                return False
        pixels = np.stack([as_input(picture, wanted) for picture in (before, after)])
        return bool((colour_distance(pixels, known.colours) <= 1).all())

    def read(self, before: Pixels, after: Pixels) -> Pixels:
        """The pair as the model reads it: (2, H, W, 3)."""
        wanted = self.captioner.input
        return np.stack([as_input(picture, wanted) for picture in (before, after)])


def as_input(picture: Pixels, wanted: PictureInput) -> Pixels:
    """A picture at the model's size."""
    return resize(Image.fromarray(picture), wanted.size)


def chosen_model(name_or_folder: str | Path, threads: int | None = None) -> Model:
    """The model that a person named. Raises BundleError."""
    return Model(open_bundle(name_or_folder), threads)


def installed_models(threads: int | None = None) -> tuple[Model, ...]:
    """One model of each world: the default one, or else the first by name. Raises BundleError."""
    found: dict[str, Model] = {}
    for name in sorted(shipped(), key=lambda name: (name != DEFAULT, name)):
        model = chosen_model(name, threads)
        found.setdefault(model.card.world, model)
    return tuple(found.values())
