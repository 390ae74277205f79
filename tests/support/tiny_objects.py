"""A tiny vision of object tokens, and pictures for it."""

from dataclasses import replace

import numpy as np
import torch

from support.tiny_pool import VISION
from whatchanged.training.objects.pool import open_shards, pairing
from whatchanged.training.objects.supervision import ATTRIBUTES
from whatchanged.training.objects.tokens import ObjectVision

WIDTH = 8 + sum(ATTRIBUTES.values())
"""F of the tiny vision: 8 channels and 15 answers."""


def build(**settings):
    """The tiny vision with other settings, its weights shaken, in evaluation mode."""
    torch.manual_seed(0)
    vision = ObjectVision(replace(VISION, **settings))
    with torch.no_grad():
        for parameter in vision.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return vision.eval()


def pictures(batch=2, seed=0, height=64, width=96):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, 256, (batch, height, width, 3), generator=generator).byte()


def pair_of(vision, batch=2):
    """The tokens of two batches of random pictures."""
    return vision.tokens(pictures(batch, 1), pictures(batch, 2))


def known(tiny_pool, count=3):
    """Pictures of a pool and all that is known of them, as one batch."""
    shard = open_shards(tiny_pool)[0]
    before, after = (torch.from_numpy(np.array(shard.pictures[:count, k])) for k in (0, 1))
    return before, after, [pairing(shard, i, 0, 1, shard.change(i)) for i in range(count)]
