"""The tokens of a trained run as a vision that learns nothing, the same for every method.

A picture's tokens are its most object-like cells (``ObjectVision.to_tokens``), in reading order. The number
of a token's cell is then its rank and not a place in the picture, because methods know the positions of a
whole grid only. Where the token lies, in the picture and on the ground, is part of its features instead.

"plain" hands over each picture's tokens by themselves. "matched" adds to each token what it was matched with
in the other picture, as in the shipped model. All features have mean 0 and deviation 1 over a sample of
tokens. Without that, the few features that tell a changed token from others are too small beside the rest to
be noticed within some hundred steps.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from whatchanged.errors import RecipeError
from whatchanged.recipes import DatasetConfig, ObjectsConfig
from whatchanged.recipes.methods import Task
from whatchanged.recipes.schema import Recipe
from whatchanged.training.batches import Example, PictureReader
from whatchanged.training.data.pictures import picture_reader
from whatchanged.training.data.sources import Sources
from whatchanged.training.data.token_cache import cached_tokens
from whatchanged.training.objects.frozen_tokens import LARGEST, LEAST_DEVIATION
from whatchanged.training.objects.match_features import located
from whatchanged.training.objects.pool_source import PoolSource, open_pool
from whatchanged.training.objects.tokens import ObjectVision
from whatchanged.training.vision.base import Hidden, PlainVision, TokenPair, Tokens
from whatchanged.training.weights.trained import open_trained

LOCATION = 5
"""Numbers added to a plain token: row, column, ground position (2), salience."""


class FrozenObjectTokens(PlainVision):
    """Stored tokens (B, N, F + 4) as the tokens of any method, on a grid of 1 x N; see the module's head.

    trained: the vision that made the tokens. It stands in a tuple, so that its parameters belong to nobody:
    they are not trained, counted or saved. sample: such tokens of a few hundred pairs, before and after, for
    the means and deviations.
    """

    def __init__(self, trained: ObjectVision, matched: bool, sample: tuple[Tensor, Tensor]) -> None:
        super().__init__()
        self._trained = (trained,)
        self.matched = matched
        self.rows, self.columns, self.patches = 1, trained.patches, trained.patches
        self.raw_width = trained.raw_width + (0 if matched else LOCATION)
        self.width = trained.width if matched else self.raw_width
        self.mean: Tensor
        self.deviation: Tensor
        device = trained.mean.device
        self.register_buffer("mean", torch.zeros(self.width, device=device), persistent=False)
        self.register_buffer("deviation", torch.ones(self.width, device=device), persistent=False)
        before, after = sample
        pair = self.add_match_features(self.tokens(before.to(device), after.to(device)))
        tokens = torch.cat([pair.before.features, pair.after.features]).flatten(0, 1)
        self.mean = tokens.mean(0)
        self.deviation = tokens.std(0).clamp_min(LEAST_DEVIATION)

    @torch.no_grad()
    def tokens(self, before: Tensor, after: Tensor) -> TokenPair:
        """Stored tokens with normalised features of their own (B, N, raw_width); cells are ranks."""
        pair = self._trained[0].tokens(_in_reading_order(before), _in_reading_order(after))
        own = (pair.before.features, pair.after.features)
        if not self.matched:
            own = self._with_location(pair)
        mean, deviation = self.mean[: self.raw_width], self.deviation[: self.raw_width]
        ranks = torch.arange(self.patches, device=before.device).expand(len(before), -1)
        return TokenPair(
            replace(pair.before, features=(own[0] - mean) / deviation, cells=ranks),
            replace(pair.after, features=(own[1] - mean) / deviation, cells=ranks),
        )

    @torch.no_grad()
    def add_match_features(self, pair: TokenPair, hidden: Hidden = (None, None)) -> TokenPair:
        """Features (B, N, width); hidden tokens are blank before they are matched."""
        if not self.matched:
            return super().add_match_features(pair, hidden)
        mean, deviation = self.mean[: self.raw_width], self.deviation[: self.raw_width]
        raw = TokenPair(*(side.with_features(side.features * deviation + mean) for side in pair))
        matched = self._trained[0].add_match_features(raw, hidden)
        return TokenPair(self._normalised(matched.before), self._normalised(matched.after))

    def _normalised(self, side: Tokens) -> Tokens:
        features = (side.features - self.mean) / self.deviation
        # what the matching found of a changed token can be a hundred deviations off
        features[..., self.raw_width :].clamp_(-LARGEST, LARGEST)
        return side.with_features(features)

    def _with_location(self, pair: TokenPair) -> tuple[Tensor, Tensor]:
        """Features with ``LOCATION`` numbers behind them: (B, N, F + 5) of both pictures."""
        positions, salience = located(pair)
        results = []
        for side, position, own in zip(pair, positions, salience, strict=True):
            row, column = side.cells // self._trained[0].columns, side.cells % self._trained[0].columns
            row, column = 2 * row / self._trained[0].rows - 1, 2 * column / self._trained[0].columns - 1
            location = torch.stack([row, column], dim=-1)  # (B, N, 2)
            results.append(torch.cat([side.features, location, position, own], dim=-1))
        return results[0], results[1]


def _in_reading_order(stored: Tensor) -> Tensor:
    """Stored tokens (B, N, F + 4) by the number of their cell, which is the last of a token's numbers."""
    order = stored[..., -1].argsort(dim=1)
    return stored.gather(1, order[..., None].expand_as(stored))


@dataclass(frozen=True)
class Scenes:
    """Both official pairs of a triple in one batch.

    ``exchange``: half of the time the unchanged view stands for the picture before, in both; captions stay.
    """

    pairs: PoolSource
    exchange: bool

    def __len__(self) -> int:
        return len(self.pairs) // 2

    def count(self, task: Task) -> int:
        """Every task can use every scene."""
        return len(self)

    def example(self, index: int, rng: np.random.Generator) -> Example:
        """The changed pair of scene ``index``, the unchanged one as its partner."""
        changed = self.pairs.example(2 * index, rng)
        same = self.pairs.example(2 * index + 1, rng)
        if self.exchange and rng.random() < 0.5:
            changed = replace(changed, before=same.after)
            same = replace(same, before=same.after, after=same.before)
        return replace(changed, partner=same)


@dataclass(frozen=True)
class SharedVision:
    """What all rows on tokens share: the trained vision, the pool, and how a picture's tokens are read."""

    vision: ObjectVision
    pool: Sources
    pairs: PoolSource
    """The pool's pairs to train on, as in ``pool``."""
    read: PictureReader

    def sources(self, published: DatasetConfig) -> Sources:
        """The pool's pairs, or its scenes where the recipe's own data are made of scenes."""
        if published.examples != "scenes":
            return self.pool
        return replace(self.pool, train=Scenes(self.pairs, published.exchange))

    def tokens(self, matched: bool) -> FrozenObjectTokens:
        """The vision of one run; the sample is the official pairs of the pool's first shard."""
        stored = np.asarray(self.pairs.tokens[0].rows[:, 0], np.float32)
        first, *others = torch.from_numpy(stored).unbind(1)
        return FrozenObjectTokens(self.vision, matched, (first.repeat(2, 1, 1), torch.cat(others)))


def open_shared(run: Path, recipe: Recipe, kept: Path, device: torch.device) -> SharedVision:
    """The vision of ``run``, and the pool of a recipe with FDA, whose false captions are kept in ``kept``.

    Raises RecipeError where the run matches no tokens.
    """
    trained, method, _ = open_trained(run)
    vision, config = method.vision, trained.vision
    keeps = isinstance(config, ObjectsConfig) and config.keep > 0
    if not isinstance(vision, ObjectVision) or vision.matching is None or not keeps:
        raise RecipeError(f"{run}: {trained.name} matches no tokens. Name a run of clevr-pcl.")
    vision = vision.to(device).eval()
    pool = open_pool(recipe, kept)
    if not isinstance(pool.train, PoolSource):
        raise RecipeError(f"{recipe.name}: rows on tokens train on a pool.")
    read = cached_tokens(picture_reader(config, "", kept), vision, {})
    return SharedVision(vision, pool, pool.train, read)
