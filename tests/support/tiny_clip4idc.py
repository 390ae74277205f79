"""A CLIP4IDC of toy size on 2 x 3 patches, in words or in pieces, and random pairs for it."""

import torch

from whatchanged.bpe import from_merges
from whatchanged.recipes import PatchesConfig
from whatchanged.recipes.methods.clip4idc import CLIP4IDCConfig
from whatchanged.training.batches import Batch
from whatchanged.training.methods.clip4idc import CLIP4IDC
from whatchanged.training.vision.patches import PatchVision
from whatchanged.vocabulary import BOS, EOS, PAD, SPECIALS, Vocabulary

WORDS = Vocabulary(SPECIALS + tuple(f"w{i:02d}" for i in range(14)))
PIECES = from_merges(["t h", "th e</w>", "n o</w>"])
VISION = PatchesConfig(image_width=24, image_height=16, patch=8)
SIZES = {
    "width": 24,
    "heads": 3,
    "ffn": 32,
    "intra_layers": 2,
    "inter_layers": 1,
    "text_width": 16,
    "text_heads": 4,
    "text_ffn": 32,
    "text_layers": 2,
    "context": 18,
    "joint_width": 12,
    "decoder_width": 16,
    "decoder_heads": 4,
    "decoder_ffn": 20,
    "decoder_layers": 2,
    "max_words": 13,
    "max_length": 14,
}


def tiny(preset="authors", variant="clip4idc", vocabulary=WORDS, seed=0, shake=0.2, **overrides):
    """A model in evaluation mode whose random weights make no two rows alike."""
    torch.manual_seed(seed)
    config = CLIP4IDCConfig(preset=preset, variant=variant, **{**SIZES, **overrides})
    model = CLIP4IDC(config, PatchVision(VISION), vocabulary)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(shake * torch.randn_like(parameter))
    return model.eval()


def pictures(pairs=3, seed=1, dtype=torch.float32):
    generator = torch.Generator().manual_seed(seed)
    return tuple(torch.randn(pairs, 3, 16, 24, generator=generator).to(dtype) for _ in range(2))


def random_batch(model, pairs=4, seed=1, changed=(1, 0, 1, 1)):
    """Random pictures and captions of two to eight words."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.full((pairs, model.max_length), PAD)
    for row in ids:
        count = int(torch.randint(2, 9, (), generator=generator))
        row[0], row[count + 1] = BOS, EOS
        row[1 : count + 1] = torch.randint(6, len(model.vocabulary), (count,), generator=generator)
    before, after = pictures(pairs, seed, model.captioner.bias.dtype)
    return Batch(before, after, ids, changed=None if changed is None else torch.tensor(changed))


@torch.no_grad()
def greedy_ids(model, before, after, steps=9):
    """Cached greedy decoding, (B, steps), nothing stopped."""
    memory = model.encode(before, after)
    cache, word, ids = model.first_cache(memory), torch.full((len(before),), BOS), []
    for position in range(1, steps + 1):
        scores, _, cache = model.step(memory, word, position, cache)
        word = scores.argmax(1)
        ids.append(word)
    return torch.stack(ids, dim=1)
