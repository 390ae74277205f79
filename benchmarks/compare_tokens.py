"""The tokens of a trained run as a way of seeing that learns nothing, the same for every method.

Each picture is its run's most object-like cells (``PixelVision.to_tokens``), in reading order. A token's
number is
then a rank and not a place; where it lies in the picture and on the ground stands among its features, since
methods know the places of a whole grid only. "plain" hands the two pictures over apart; "matched" tells each
token what it was matched with in the other picture, as the shipped model does. All features have mean 0 and
deviation 1 over a sample of tokens: without that, the few that tell a changed token from others are too small
beside the rest to be noticed within some hundred steps.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from whatchanged.errors import RecipeError
from whatchanged.recipes.schema import DataConfig, Recipe
from whatchanged.training.batches import Example, Reader
from whatchanged.training.data.pictures import reader
from whatchanged.training.data.sources import Sources
from whatchanged.training.data.token_cache import cached_tokens
from whatchanged.training.objects.pool_source import PoolSource, open_pool
from whatchanged.training.objects.tokens import ObjectVision
from whatchanged.training.run_folder import open_run
from whatchanged.training.vision.base import Batch, Grids, Hidden, hide

LEAST, MOST = 0.01, 5.0
"""The least deviation that is divided by, and the most deviations that a matched feature is off."""
PLACED = 5
"""What a plain token is told beside its features: row, column, place on the ground (2), salience."""


class Tokens(nn.Module):
    """Stored tokens (B, N, F + 4) as the grids of a method: 1 x N cells; see the head of this file.

    sample: such tokens of a few hundred pairs, before and after, for the means and deviations. The trained
    module stands in a tuple, so that its parameters are nobody's: not trained, counted or saved.
    """

    def __init__(self, seeing: ObjectVision, matched: bool, sample: tuple[Tensor, Tensor]) -> None:
        super().__init__()
        self._seeing, self.matched = (seeing,), matched
        self.rows, self.columns, self.patches = 1, seeing.patches, seeing.patches
        self.raw_width = seeing.raw_width + (0 if matched else PLACED)
        self.width = seeing.width if matched else self.raw_width
        self.mean: Tensor
        self.deviation: Tensor
        device = seeing.mean.device
        self.register_buffer("mean", torch.zeros(self.width, device=device), persistent=False)
        self.register_buffer("deviation", torch.ones(self.width, device=device), persistent=False)
        related = self.add_match_features(self.grids(*(side.to(device) for side in sample)))
        tokens = torch.cat([related.before, related.after]).flatten(0, 1)
        self.mean, self.deviation = tokens.mean(0), tokens.std(0).clamp_min(LEAST)
        self.tasks: Mapping[str, Callable[[Batch], dict[str, Tensor]]] = {}

    def parameters_without_gradient(self, tasks: Collection[str]) -> frozenset[str]:
        """It has no parameters."""
        return frozenset()

    def collate_truth(self, truths: Sequence[Any]) -> None:
        """Nothing is learned from the truth."""

    def pointing(self, grids: Grids, truth: Any, looked: Tensor, asked: Tensor) -> Tensor:
        """Raises RecipeError: no row of a comparison may ask the truth."""
        raise RecipeError("method.guided_attention needs scene truth, which no row of a comparison sees.")

    @torch.no_grad()
    def grids(self, before: Tensor, after: Tensor) -> Grids:
        """Packed tokens as raw grids, sizes and places as read from all of a picture; cells are ranks."""
        grids = self._seeing[0].grids(_in_reading_order(before), _in_reading_order(after))
        own, other = grids.before, grids.after
        if not self.matched:
            own = self._told(own, grids.cells_before, grids.places_before, grids.salience_before)
            other = self._told(other, grids.cells_after, grids.places_after, grids.salience_after)
        mean, deviation = self.mean[: self.raw_width], self.deviation[: self.raw_width]
        grids = grids.replace_features((own - mean) / deviation, (other - mean) / deviation)
        ranks = torch.arange(self.patches, device=before.device).expand(len(before), -1)
        return replace(grids, cells_before=ranks, cells_after=ranks)

    @torch.no_grad()
    def add_match_features(self, grids: Grids, hidden: Hidden = (None, None)) -> Grids:
        """Features (B, N, width); hidden tokens are blank, before they are matched."""
        if not self.matched:
            return grids.replace_features(hide(grids.before, hidden[0]), hide(grids.after, hidden[1]))
        mean, deviation = self.mean[: self.raw_width], self.deviation[: self.raw_width]
        seen = grids.replace_features(grids.before * deviation + mean, grids.after * deviation + mean)
        related = self._seeing[0].add_match_features(seen, hidden)
        found = [(side - self.mean) / self.deviation for side in (related.before, related.after)]
        for side in found:  # what the matching found of a changed token can be a hundred deviations off
            side[..., self.raw_width :].clamp_(-MOST, MOST)
        return grids.replace_features(found[0], found[1])

    def _told(
        self, features: Tensor, cells: Tensor, places: Tensor | None, salience: Tensor | None
    ) -> Tensor:
        (seeing,) = self._seeing
        assert places is not None and salience is not None
        row, column = cells // seeing.columns, cells % seeing.columns
        lies = torch.stack([2 * row / seeing.rows - 1, 2 * column / seeing.columns - 1], dim=-1)
        return torch.cat([features, lies, places, salience[..., None]], dim=-1)


def _in_reading_order(packed: Tensor) -> Tensor:
    order = packed[..., -1].argsort(dim=1)
    return packed.gather(1, order[..., None].expand_as(packed))


@dataclass(frozen=True)
class Scenes:
    """Both official pairs of a triple in one batch.

    ``exchange``: half of the time the unchanged view stands for the picture before, in both; captions stay.
    """

    pairs: PoolSource
    exchange: bool

    def __len__(self) -> int:
        return len(self.pairs) // 2

    def count(self, task: str) -> int:
        """Every task can use every scene."""
        return len(self)

    def example(self, index: int, rng: np.random.Generator) -> Example:
        """The changed pair of scene ``index``, the unchanged one as its partner."""
        changed, same = self.pairs.example(2 * index, rng), self.pairs.example(2 * index + 1, rng)
        if self.exchange and rng.random() < 0.5:
            changed = replace(changed, before=same.after)
            same = replace(same, before=same.after, after=same.before)
        return replace(changed, partner=same)


@dataclass(frozen=True)
class Seen:
    """What all rows on tokens share: the trained vision, the pool, and how a picture's tokens are read."""

    vision: ObjectVision
    pool: Sources
    read: Reader

    def sources(self, data: DataConfig) -> Sources:
        """The pool's pairs, or its scenes where ``data.examples`` says so."""
        if data.examples != "scenes":
            return self.pool
        return replace(self.pool, train=Scenes(cast(PoolSource, self.pool.train), data.exchange))

    def tokens(self, matched: bool) -> Tokens:
        """The way of seeing of one run; the sample is the official pairs of the pool's first shard."""
        stored = np.asarray(cast(PoolSource, self.pool.train).tokens[0][:, 0], np.float32)
        first, *others = torch.from_numpy(stored).unbind(1)
        return Tokens(self.vision, matched, (first.repeat(2, 1, 1), torch.cat(others)))


def open_seen(run: Path, recipe: Recipe, kept: Path, device: torch.device) -> Seen:
    """The vision of ``run``, and the pool of a recipe with FDA, whose false captions are kept in ``kept``.

    Raises RecipeError where the run matches no tokens.
    """
    seeing, method, _ = open_run(run, "last")
    vision = method.vision
    if not isinstance(vision, ObjectVision) or vision.matching is None or not seeing.vision.keep:
        raise RecipeError(f"{run}: {seeing.name} matches no tokens. Name a run of clevr-pcl.")
    vision = vision.to(device).eval()
    read = cached_tokens(reader(seeing.vision, "", kept), vision, {})
    return Seen(vision, open_pool(recipe, kept), read)
