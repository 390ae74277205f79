"""A PCL of toy size, random pairs for it, and the plainest decoding loop."""

import torch

from whatchanged.recipes.methods.pcl import PCLConfig
from whatchanged.training.batches import Batch
from whatchanged.training.methods.pcl import PCL
from whatchanged.training.vision.features import StoredFeatures
from whatchanged.vocabulary import BOS, EOS, PAD, SPECIALS, Vocabulary, padded

VOCABULARY = Vocabulary(SPECIALS + tuple(f"w{i:02d}" for i in range(14)))
WORDS = range(len(SPECIALS), len(VOCABULARY))


def caption_ids(text, length):
    """A caption as PCL reads it: BOS words EOS PAD, cut so that one PAD remains."""
    return padded([VOCABULARY.sentence(text, length - 3)], length)[0]


def tiny(preset, seed=0, rows=2, columns=3, feature_width=10, **overrides):
    """A model in evaluation mode whose random weights make no two rows alike."""
    settings = {
        "width": 16,
        "heads": 4,
        "ffn": 24,
        "cross_layers": 2,
        "max_length": 12,
        "negatives": 2,
    } | overrides
    torch.manual_seed(seed)
    config = PCLConfig(preset=preset, **settings)
    model = PCL(config, StoredFeatures(rows, columns, feature_width), VOCABULARY)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return model.eval()


def stirred(preset, **overrides):
    """A tiny model with weights so large that its words follow the pictures and one another."""
    model = tiny(preset, **overrides)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if (".blocks." in name and parameter.ndim == 2) or name == "embed.project.weight":
                parameter.mul_(5)
    return model


def random_ids(generator, *shape, length):
    """Captions of two to length - 4 words, BOS words EOS PAD."""
    ids = torch.randint(WORDS.start, WORDS.stop, (*shape, length), generator=generator)
    flat = ids.view(-1, length)
    for row, count in enumerate(torch.randint(2, length - 3, (len(flat),), generator=generator).tolist()):
        flat[row, 0], flat[row, count + 1], flat[row, count + 2 :] = BOS, EOS, PAD
    return ids


def random_batch(model, pairs=3, seed=1, length=None, draw=2):
    """Random features and captions; corruption is drawn from seed ``draw``."""
    generator = torch.Generator().manual_seed(seed)
    vision, length = model.vision, length or model.max_length
    dtype = model.embed.words.weight.dtype
    shape = (pairs, vision.patches, vision.raw_width)
    before, after = (torch.rand(shape, generator=generator).to(dtype) for _ in range(2))
    ids = random_ids(generator, pairs, length=length)
    false = random_ids(generator, pairs, model.config.negatives, length=length)
    changed = torch.randint(2, (pairs,), generator=generator)
    return Batch(before, after, ids, false, changed, torch.Generator().manual_seed(draw))


@torch.no_grad()
def greedy_ids(model, before, after, steps=None):
    """Cached greedy decoding of every step, (B, steps + 1), BOS first."""
    memory = model.encode(before, after)
    cache, ids = model.first_cache(memory), [torch.full((len(before),), BOS)]
    for position in range(1, (steps or model.max_length - 1) + 1):
        scores, _, cache = model.step(memory, ids[-1], position, cache)
        ids.append(scores.argmax(1))
    return torch.stack(ids, dim=1)
