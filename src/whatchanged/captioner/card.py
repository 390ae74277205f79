"""A model's card: what the model is, what it reads, and how its answers are to be understood."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from whatchanged.vocabulary import Vocabulary


@dataclass(frozen=True)
class PictureInput:
    """The model reads whole pictures, all resized to one size.

    Pixels are normalised per channel: (pixels / 255 - mean) / std.
    """

    size: tuple[int, int]
    """Width and height in pixels."""
    mean: tuple[float, ...]
    std: tuple[float, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """(channels, height, width) of what the encoder reads of a picture."""
        return 3, self.size[1], self.size[0]


@dataclass(frozen=True)
class FeatureInput:
    """The model reads grid features that were computed from pictures beforehand, and no pictures.

    Cells stand row by row, each with ``width`` numbers, as they are stored.
    """

    rows: int
    columns: int
    width: int
    made_by: str
    """What computed them: a backbone and the first twelve letters of the SHA-256 of its weights; "" where the
    features do not say."""

    @property
    def shape(self) -> tuple[int, ...]:
        """(cells, numbers) of what the encoder reads of a picture."""
        return self.rows * self.columns, self.width


Input = PictureInput | FeatureInput
"""What a model reads; ``input`` in ``bundle.json``."""


@dataclass(frozen=True)
class GridAttention:
    """The attention of a word covers each whole picture with a grid of equal cells."""

    rows: int
    columns: int

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return self.rows, self.columns


@dataclass(frozen=True)
class NoChange:
    """The probability that nothing changed: where it comes from and how it is calibrated.

        p = sigmoid(scale · logit(p_model) + shift)

    p_model is an output of the encoder (``by`` "head"), or the probability that the decoder gives to
    ``sentences`` (``by`` "sentences", see ``no_change.sentences_probability``). ``scale`` and ``shift`` were
    fitted on validation data, as ``how`` tells. ``p >= threshold`` means that nothing changed.

    ``sentences`` are the sentences that say that nothing changed. A description goes by its sentence and
    reports the probability beside it.
    """

    threshold: float
    scale: float
    shift: float
    how: str
    sentences: tuple[str, ...]
    by: Literal["head", "sentences"] = "head"

    def calibrated(self, probability: float) -> float:
        """The model's probability on the calibrated scale."""
        p = min(max(probability, 1e-7), 1 - 1e-7)
        logit = self.scale * math.log(p / (1 - p)) + self.shift
        return 1 / (1 + math.exp(-min(max(logit, -700.0), 700.0)))


@dataclass(frozen=True)
class InDistribution:
    """Up to which distance from the training pictures a picture counts as one of their kind.

    The encoder computes the distance. A picture above ``threshold`` is out of distribution, and so is one
    with a number about its colours outside ``colors`` (``captioner.colors``). ``how`` tells how the
    distance, the threshold and the ranges were found.
    """

    threshold: float
    how: str
    colors: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Name -> the least and the largest value in distribution; {} where colours do not count."""


@dataclass(frozen=True)
class Card:
    """All that is needed to run a model and to judge what it says."""

    name: str
    version: str
    method: str
    world: str
    preset: str
    """One reading of the method."""
    input: Input
    attention: GridAttention
    """How what the model looks at lies over the pictures."""
    vocabulary: Vocabulary
    max_length: int
    """The largest number of ids of a sentence, BOS included."""
    no_change: NoChange
    provenance: Mapping[str, Any]
    """How the weights came about: recipe, checkpoint, machine."""
    in_distribution: InDistribution | None = None
    """None: the encoder computes no distance."""
    folded_norms: bool = False
    """The backbone's batch norms were folded into its convolutions, so it can no longer be trained."""
