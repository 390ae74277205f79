"""Builds what a recipe names: the sources of its examples, and its vision and method with new weights."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from whatchanged.bpe import read_merges
from whatchanged.errors import RecipeError
from whatchanged.plugins import imported
from whatchanged.recipes.methods import MethodSettings
from whatchanged.recipes.schema import Recipe
from whatchanged.recipes.visions import VisionSettings
from whatchanged.training.data.sources import Sources
from whatchanged.training.methods import Method, PadsCaptions
from whatchanged.training.vision.base import Vision
from whatchanged.vocabulary import Vocabulary


def open_sources(recipe: Recipe, run: Path) -> Sources:
    """Open the sources of the kind ``data.source``. False captions take long to make, so they are saved in
    the run folder.

    With ``data.merges``, the vocabulary consists of CLIP's byte pairs instead of the words of the data.
    Raises RecipeError or DatasetError where the data does not fit the recipe.
    """
    sources: Sources = imported(recipe.data.opener)(recipe, run)
    if recipe.data.merges:
        sources = replace(sources, vocabulary=read_merges(Path(recipe.data.merges)), longest_caption=0)
    return sources


def build_vision(config: VisionSettings) -> Vision:
    """Return the vision that a recipe specifies."""
    vision: Vision = imported(config.implementation)(config)
    return vision


COPIES = 4
"""The number of arrays per weight during training: the weight, its gradient, and the optimiser's two moments.
"""


def check_memory(recipe: Recipe, vocabulary: Vocabulary) -> None:
    """Raises RecipeError where this machine has too little memory to train the method."""
    needed = COPIES * sum(parameter.nbytes for parameter in on_meta(recipe, vocabulary).parameters())
    there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if needed > there:
        raise RecipeError(
            f"{recipe.name}: with these settings the method needs {needed / 1e9:,.1f} GB of memory to learn,"
            f" and this machine has {there / 1e9:,.1f} GB. Choose smaller widths or fewer layers."
        )


def check_weights(recipe: Recipe, vocabulary: Vocabulary, tensors: Mapping[str, Tensor], where: str) -> None:
    """Raises RecipeError where the recipe's method has more weights than these tensors hold.

    Call this function before the method is built: an untrusted recipe may describe a method larger than any
    memory.
    """
    wanted = sum(parameter.numel() for parameter in on_meta(recipe, vocabulary).parameters())
    there = sum(tensor.numel() for tensor in tensors.values())
    if wanted > there:
        raise RecipeError(
            f"{where}: it holds {there:,} weights, and the method of its recipe has {wanted:,}. Use the"
            " recipe that the run was started with."
        )


def on_meta(recipe: Recipe, vocabulary: Vocabulary) -> Method:
    """Return the recipe's method on torch's "meta" device, where tensors have shapes but no values."""
    with torch.device("meta"):
        return make_method(recipe, vocabulary)


def make_method(recipe: Recipe, vocabulary: Vocabulary, longest_caption: int = 0) -> Method:
    """Return the recipe's method with its vision. longest_caption: see ``build_method``."""
    return build_method(recipe.method, build_vision(recipe.vision), vocabulary, longest_caption)


def build_method(
    config: MethodSettings, vision: Vision, vocabulary: Vocabulary, longest_caption: int = 0
) -> Method:
    """Return the method with these settings.

    longest_caption: how many ids the longest caption of the training data has. Some methods pad all captions
    to this length (``PadsCaptions``). 0: the length is unknown.
    """
    method: Method = imported(config.implementation)(config, vision, vocabulary)
    if isinstance(method, PadsCaptions) and longest_caption:
        method.pad_captions(longest_caption)
    return method
