"""A model's card: its name, its input, and how to interpret its output."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from whatchanged.vocabulary import Vocabulary


@dataclass(frozen=True)
class PictureInput:
    """The input of a model that reads whole pictures, all resized to one size.

    Pixels are normalised per channel: (pixels / 255 - mean) / std.
    """

    size: tuple[int, int]
    """Width and height in pixels."""
    mean: tuple[float, ...]
    std: tuple[float, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape (channels, height, width) of the encoder's input for one picture."""
        return 3, self.size[1], self.size[0]


@dataclass(frozen=True)
class FeatureInput:
    """The input of a model that reads grid features computed from pictures beforehand, and no pictures.

    Cells are ordered row by row, each with ``width`` numbers, as they are stored.
    """

    rows: int
    columns: int
    width: int
    made_by: str
    """The backbone that computed the features, with the first twelve hexadecimal digits of the SHA-256 of its
    weights; "" where the features do not record their backbone.
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape (cells, numbers) of the encoder's input for one picture."""
        return self.rows * self.columns, self.width


Input = PictureInput | FeatureInput
"""The input of a model; ``input`` in ``bundle.json``."""


@dataclass(frozen=True)
class GridAttention:
    """The attention of a word covers each whole picture with a grid of equal cells."""

    rows: int
    columns: int

    @property
    def shape(self) -> tuple[int, int]:
        """The shape (rows, columns)."""
        return self.rows, self.columns


@dataclass(frozen=True)
class NoChange:
    """The probability that nothing changed: its source and its calibration.

        p = sigmoid(scale · logit(p_model) + shift)

    p_model is an output of the encoder (``by`` "head"), or the probability that the decoder gives to
    ``sentences`` (``by`` "sentences", see ``no_change.sentences_probability``). ``scale`` and ``shift`` were
    fitted on validation data. ``how`` describes the fit. ``p >= threshold`` means that nothing changed.

    ``sentences`` are the sentences that say that nothing changed. Whether a description counts as changed
    depends on its sentence, not on the probability.
    """

    threshold: float
    scale: float
    shift: float
    how: str
    sentences: tuple[str, ...]
    by: Literal["head", "sentences"] = "head"

    def calibrated(self, probability: float) -> float:
        """Return the model's probability on the calibrated scale."""
        p = min(max(probability, 1e-7), 1 - 1e-7)
        logit = self.scale * math.log(p / (1 - p)) + self.shift
        return 1 / (1 + math.exp(-min(max(logit, -700.0), 700.0)))


@dataclass(frozen=True)
class InDistribution:
    """The largest distance from the training pictures at which a picture is in distribution.

    The encoder computes the distance. A picture above ``threshold`` is out of distribution, and so is one
    with a colour statistic outside ``colors`` (``captioner.colors``). ``how`` describes how the distance, the
    threshold and the ranges were found.
    """

    threshold: float
    how: str
    colors: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Name -> the least and the largest value in distribution; {} where colours are not checked."""


@dataclass(frozen=True)
class Card:
    """All data needed to run a model and to interpret its output."""

    name: str
    version: str
    method: str
    world: str
    preset: str
    """The preset: one reading of the method."""
    input: Input
    attention: GridAttention
    """How the model's attention maps cover the pictures."""
    vocabulary: Vocabulary
    max_length: int
    """The largest number of token ids of a sentence, BOS included."""
    no_change: NoChange
    provenance: Mapping[str, Any]
    """The origin of the weights: recipe, checkpoint, machine."""
    in_distribution: InDistribution | None = None
    """The in-distribution threshold; None where the encoder computes no distance."""
    folded_norms: bool = False
    """Whether the backbone's batch norms were folded into its convolutions. Such a backbone can no longer be
    trained.
    """
