"""A DUDA of toy size, and random pairs for it."""

import torch

from support.tiny_pcl import VOCABULARY, random_ids
from whatchanged.recipes.methods.duda import DudaConfig
from whatchanged.training.batches import Batch
from whatchanged.training.methods.duda import DUDA
from whatchanged.training.vision.features import StoredFeatures

GRID = (2, 3)
SIZES = {"attention_width": 8, "view_width": 7, "hidden_width": 6, "word_width": 5, "max_length": 10}
READINGS = {"paper": {"preset": "paper"}, "authors": {"preset": "authors", "norm_groups": 4}}


def tiny(reading, seed=0, feature_width=4, grid=GRID, vocabulary=VOCABULARY, **overrides):
    """A model in evaluation mode whose random weights make its words follow the pictures."""
    torch.manual_seed(seed)
    settings = {**SIZES, **READINGS[reading], **overrides}
    model = DUDA(DudaConfig(**settings), StoredFeatures(*grid, feature_width), vocabulary)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.5 * torch.randn_like(parameter))
        model.speaker.output.weight.mul_(6)
    return model.eval()


def random_batch(model, pairs=4, seed=1, scenes=True):
    """Random features and captions; of whole scenes every other pair has changed."""
    generator = torch.Generator().manual_seed(seed)
    shape = (pairs, model.vision.patches, model.vision.raw_width)
    dtype = model.attend.mix.weight.dtype
    before, after = (torch.randn(shape, generator=generator).to(dtype) for _ in range(2))
    ids = random_ids(generator, pairs, length=model.max_length)
    return Batch(before, after, ids, changed=torch.arange(pairs) % 2 if scenes else None)
