"""Measures how far a picture is from the model's training pictures, in features of the model's backbone.

    s(x) = [mean over cells, deviation over cells] of the backbone's last features          (2F,)
    d(x) = sqrt((s - m)ᵀ C⁻¹ (s - m) / 2F)

m and C are the mean and the covariance of s over drawn pictures. These are augmented ``REACH`` times as
strongly as in training (``augmentation.augment``), because another renderer or camera may take pictures of
the same scenes. Before C is estimated, every number is scaled to unit deviation. C is then shrunk after
Ledoit and Wolf (A well-conditioned estimator for large-dimensional covariance matrices, 2004). The threshold
is the ``QUANTILE`` of d over other drawn pictures, augmented as strongly; it needs no out-of-distribution
picture. d is a Mahalanobis distance in a network's features, after Lee et al. (2018, A simple unified
framework for detecting out-of-distribution samples and adversarial attacks), with a single class.

Some colours hardly change these features, so colours have ranges of their own (``captioner.colors``). The
ranges hold the numbers of drawn pictures, augmented as strongly, without the outermost share that
``QUANTILE`` leaves out. The range of vividness comes only from pictures with some colour: a few drawn scenes
have only grey objects, and a range with these would accept every greyscale picture as familiar.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.covariance import ledoit_wolf
from torch import Tensor, nn

from whatchanged.captioner.card import InDistribution
from whatchanged.captioner.colors import NAMES, NO_COLOR, Ranges, color_numbers
from whatchanged.errors import DatasetError, RecipeError
from whatchanged.training.methods import Method
from whatchanged.training.objects.pool import Shard, check_size, open_shards
from whatchanged.training.vision.augmentation import augment_pixels
from whatchanged.training.vision.base import PictureVision, Vision, has_backbone, picture_size

PICTURES = 2000
"""Pictures at most to fit m and C, and as many others to find the threshold; about a minute on one core."""
LEAST_TRIPLES = 10
QUANTILE = 0.999
REACH = 1.5
LEAST_DEVIATION = 0.01
"""Least deviation of a number, as a share of the median deviation: numbers that hardly vary among the
pictures would otherwise decide the distance."""
BATCH = 32

PoolPicture = tuple[Shard, int, int]
"""A picture of a pool: its shard, its triple there, and which of the triple's three it is."""


class OODDistance(nn.Module):
    """d(x) of a batch of features. ``whiten`` (2F, 2F) is a square root of C⁻¹ / 2F, ``mean`` is m."""

    def __init__(self, mean: Tensor, whiten: Tensor) -> None:
        super().__init__()
        self.mean: Tensor
        self.whiten: Tensor
        self.register_buffer("mean", mean)
        self.register_buffer("whiten", whiten)

    def forward(self, features: Tensor) -> Tensor:
        """(B, F, h, w) -> (B,)."""
        return ((statistics(features) - self.mean) @ self.whiten).square().sum(1).sqrt()


def statistics(features: Tensor) -> Tensor:
    """Mean and deviation over the cells: (B, F, h, w) -> (B, 2F)."""
    cells = features.flatten(2)
    mean = cells.mean(2)
    return torch.cat([mean, (cells - mean[:, :, None]).square().mean(2).sqrt()], dim=1)


def fit_in_distribution(vision: Vision, pool: Path) -> tuple[OODDistance, InDistribution]:
    """Return the distance, fitted to one half of a pool's triples, and its threshold, from the other.
    Deterministic.

    Raises RecipeError for a vision without a backbone of its own, DatasetError where there is no pool, the
    pool is too small, or its pictures have another size.
    """
    if not has_backbone(vision):
        raise RecipeError(
            "--familiar: this model has no backbone whose features could tell unfamiliar pictures apart"
            ' (models with vision.kind = "backbone" or "objects" have). Export without --familiar.'
        )
    shards = open_shards(pool)
    triples = sum(len(shard) for shard in shards)
    if triples < LEAST_TRIPLES:
        raise DatasetError(
            f"{pool}: {triples} triples are too few to fit the distance of unfamiliar pictures: at least"
            f" {LEAST_TRIPLES} are needed. Draw more."
        )
    check_size(pool, shards, *picture_size(vision))
    places = [(shard, i, k) for shard in shards for i in range(len(shard)) for k in range(3)]
    middle = 3 * (triples // 2)  # both pictures of a scene are on one side
    generator = torch.Generator().manual_seed(0)
    distance = fit(_statistics(vision, _some(places[:middle]), generator))
    held = _some(places[middle:])
    with torch.inference_mode():
        found = torch.cat([distance(f) for f in _features(vision, held, generator)])
    threshold = float(np.quantile(found.double().numpy(), QUANTILE))
    how = (
        f"distance of pooled features from {min(PICTURES, middle):,} drawn pictures, augmented {REACH:g}"
        f" times as strongly as in training; the threshold is the {100 * QUANTILE:g} % quantile of"
        f" {len(held):,} others"
    )
    colors, of_colours = fit_colors(shards)
    return distance, InDistribution(threshold, f"{how}; {of_colours}", colors)


def fit_colors(shards: Sequence[Shard]) -> tuple[Ranges, str]:
    """Return the ranges of the numbers about colours over these pools' pictures, and how they were found."""
    places = _some([(shard, i, k) for shard in shards for i in range(len(shard)) for k in range(3)])
    generator = torch.Generator().manual_seed(0)
    rows = [color_numbers(augmented.numpy()) for augmented in _augmented(places, generator, REACH)]
    numbers = np.concatenate(rows)  # (pictures, 5)
    ranges = {name: _range(column) for name, column in zip(NAMES, numbers.T, strict=True)}
    vividness = numbers[:, NAMES.index("vividness")]
    if (vividness > NO_COLOR).any():
        ranges["vividness"] = _range(vividness[vividness > NO_COLOR])
    return ranges, f"colours within the range of {100 * QUANTILE:g} % of {len(places):,} drawn pictures"


def _range(numbers: NDArray[np.float64]) -> tuple[float, float]:
    """Return the range of most of the numbers. The range is never empty."""
    outside = (1 - QUANTILE) / 2
    low, high = np.quantile(numbers, [outside, 1 - outside])
    return float(low), float(max(high, low + 1e-6))


def encode_and_judge(
    method: Method, before: Tensor, after: Tensor, distance: OODDistance | None
) -> tuple[Any, Tensor | None]:
    """Return the memory, and the pictures' ``distance`` (B, 2), from the features that encoding computes
    anyway.

    Without a distance, the second result is None. Raises RecipeError for a vision without a backbone of its
    own.
    """
    if distance is None:
        return method.encode(before, after), None
    features: list[Tensor] = []
    if not has_backbone(method.vision):
        raise RecipeError("Only a vision with a backbone of its own can tell how unfamiliar a picture is.")
    watch = method.vision.backbone.register_forward_hook(
        lambda _module, _pictures, found: features.append(found)
    )
    try:
        memory = method.encode(before, after)
    finally:
        watch.remove()
    return memory, distance(torch.cat(features)).reshape(2, -1).transpose(0, 1)


def fit(rows: NDArray[np.float64]) -> OODDistance:
    """m and the square root of C⁻¹ / 2F, from the statistics of n pictures, (n, 2F)."""
    mean, deviation = rows.mean(0), rows.std(0)
    scale = np.maximum(deviation, LEAST_DEVIATION * np.median(deviation) + 1e-6)
    covariance, _ = ledoit_wolf((rows - mean) / scale, assume_centered=True)
    root = np.linalg.cholesky(np.linalg.inv(covariance) / len(mean))
    whiten = root / scale[:, None]
    return OODDistance(torch.from_numpy(mean).float(), torch.from_numpy(whiten).float())


def _some(pictures: Sequence[PoolPicture]) -> list[PoolPicture]:
    """Return at most ``PICTURES`` of the pictures, drawn at random. Regular steps could choose the same
    picture of every triple.
    """
    chosen = np.random.default_rng(0).permutation(len(pictures))[:PICTURES]
    return [pictures[i] for i in np.sort(chosen)]


def _statistics(
    vision: PictureVision, pictures: Sequence[PoolPicture], generator: torch.Generator
) -> NDArray[np.float64]:
    with torch.inference_mode():
        rows = torch.cat([statistics(f) for f in _features(vision, pictures, generator)])
    return rows.double().numpy()


def _features(
    vision: PictureVision, pictures: Sequence[PoolPicture], generator: torch.Generator
) -> Iterator[Tensor]:
    """Yield the backbone's features of these augmented pictures, batch by batch."""
    for augmented in _augmented(pictures, generator, REACH):
        yield vision.features(vision.normalise(augmented))


def _augmented(pictures: Sequence[PoolPicture], generator: torch.Generator, reach: float) -> Iterator[Tensor]:
    """Yield these pictures, augmented, batch by batch: uint8 (B, H, W, 3)."""
    for start in range(0, len(pictures), BATCH):
        pixels = np.stack([shard.triples.read(i)[k] for shard, i, k in pictures[start : start + BATCH]])
        yield augment_pixels(torch.from_numpy(pixels), generator, reach)
