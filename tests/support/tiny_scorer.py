"""A SCORER of toy size, and random pairs for it."""

import torch

from support.tiny_pcl import VOCABULARY, random_ids
from whatchanged.recipes.methods.scorer import ScorerConfig
from whatchanged.training.batches import Batch
from whatchanged.training.methods.scorer import SCORER
from whatchanged.training.vision.features import StoredFeatures

GRID = (2, 3)
READINGS = {
    "paper": {"preset": "paper"},
    "authors": {"preset": "authors"},
    "repaired": {"preset": "authors", "repaired": ("train_reasoning", "mean_sentence")},
}


def tiny(reading, seed=0, feature_width=10, grid=GRID, **overrides):
    """A model in evaluation mode whose random weights make its words follow the pictures."""
    settings = (
        {
            "width": 16,
            "word_width": 6,
            "heads": 4,
            "max_length": 10,
            "view_weight": 0.5,
            "reason_weight": 0.25,
        }
        | READINGS[reading]
        | overrides
    )
    torch.manual_seed(seed)
    model = SCORER(ScorerConfig(**settings), StoredFeatures(*grid, feature_width), VOCABULARY)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.add_((0.3 if parameter.ndim == 2 else 0.1) * torch.randn_like(parameter))
            if name in ("decoder.output.weight", "decoder.words.weight"):
                parameter.mul_(4)
    return model.eval()


def stirred(reading):
    """A tiny model whose sentences have several words and differ from pair to pair."""
    model = tiny(reading, seed=9)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.startswith(("decoder.layers", "decoder.widen")) and parameter.ndim == 2:
                parameter.add_(0.3 * torch.randn_like(parameter))
    return model


def random_batch(model, pairs=4, seed=1, length=None):
    """Random features and captions; every other pair has changed."""
    generator = torch.Generator().manual_seed(seed)
    shape = (pairs, model.vision.patches, model.vision.raw_width)
    dtype = model.fuse.weight.dtype
    before, after = (torch.randn(shape, generator=generator).to(dtype) for _ in range(2))
    ids = random_ids(generator, pairs, length=length or model.max_length)
    return Batch(before, after, ids, changed=torch.arange(pairs) % 2)
