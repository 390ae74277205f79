"""Caption pairs from stored features instead of pictures, with a model trained on such features."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from whatchanged.captioner.bundle import Bundle
from whatchanged.captioner.card import FeatureInput
from whatchanged.captioner.description import Description, Floats
from whatchanged.captioner.onnx_graphs import CaptionGraphs
from whatchanged.errors import BundleError
from whatchanged.launch import checked_count
from whatchanged.worlds import known_world

FeatureReader = Callable[[Path], Floats]
"""A function from a picture's path to its features (N, F), for N cells row by row."""


def declared_features(bundle: Bundle) -> FeatureInput:
    """Return the declared features of the model's input. Raises BundleError where the model does not read
    features.
    """
    declared = bundle.card.input
    if not isinstance(declared, FeatureInput):
        raise BundleError(
            f"{bundle.folder}: {bundle.card.name} does not read stored features. Leave --features out."
        )
    return declared


class FeatureCaptioner:
    """A loaded model that reads stored features."""

    def __init__(self, bundle: Bundle, read: FeatureReader, beams: int = 1) -> None:
        """read: returns a picture's features. beams, and the errors: see ``runtime.Captioner``."""
        declared_features(bundle)
        self.bundle, self.read, self.beams = bundle, read, checked_count("beams", beams)
        self.name, self.grid = bundle.card.name, bundle.card.attention.shape
        self._graphs = CaptionGraphs(bundle, known_world(bundle.card.world))

    @property
    def layer(self) -> str:
        """The name of the attention layer of its maps."""
        return str(self.bundle.card.provenance.get("attention", self.name))

    def about(self) -> dict[str, str]:
        """Return the fields that identify the model."""
        return {
            "name": self.name,
            "version": self.bundle.card.version,
            "fingerprint": self.bundle.fingerprint,
        }

    def describe(self, pairs: Sequence[tuple[Path, Path]], batch_size: int) -> Iterator[Description]:
        """Yield the description of each pair, in order. Raises what ``read`` raises."""
        for start in range(0, len(pairs), batch_size):
            batch = pairs[start : start + batch_size]
            before, after = (np.stack([self.read(pair[side]) for pair in batch]) for side in (0, 1))
            yield from self._graphs.describe(before, after, self.beams)
