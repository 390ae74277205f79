"""A run of a tiny recipe whose weights are as they start."""

import torch

from support.tiny_pool import HEIGHT, WIDTH
from whatchanged.recipes.reader import load_recipe
from whatchanged.recipes.values import dump_recipe
from whatchanged.training.build import make_method
from whatchanged.training.checkpoint import State, save_checkpoint
from whatchanged.vocabulary import Vocabulary

BACKBONE = [
    f"vision.image_width={WIDTH}",
    f"vision.image_height={HEIGHT}",
    "vision.channels=[4, 6, 8]",
    "vision.blocks=1",
]
"""Settings of a tiny backbone, for pictures as large as the tiny pool's."""
SMALL_PICTURES = ["vision.image_width=48", "vision.image_height=32"]
"""Half that size."""
TINY = [*BACKBONE, "vision.keep=6", "method.width=16", "method.heads=2", "method.ffn=16"]
"""Settings that make a recipe of object tokens tiny."""


def make_run(folder, name, overrides):
    """A run folder whose weights are as they start."""
    recipe, vocabulary = load_recipe(name, overrides), Vocabulary.from_captions(["the cube"])
    torch.manual_seed(0)
    method = make_method(recipe, vocabulary)
    save_checkpoint(folder / "checkpoints" / "last.safetensors", State(finished=True), method, None)
    (folder / "recipe.toml").write_text(dump_recipe(recipe))
    (folder / "vocabulary.json").write_text('["' + '", "'.join(vocabulary.entries) + '"]')
    return folder
