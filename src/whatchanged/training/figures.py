"""Computes the data of figures about a run or a model, with torch: attention of words, alignments, attention
in blocks.

A method declares which of these data it can compute (``training.methods``). The attention of written words
can be drawn without torch, from a model (``Description.word_figure``).
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from whatchanged.captioner.attention import words_with_maps
from whatchanged.datasets.preparation import preparation
from whatchanged.errors import ImageError, RecipeError
from whatchanged.figures import Alignment
from whatchanged.figures.maps import TitledMaps
from whatchanged.recipes.schema import Recipe
from whatchanged.training.batches import PictureReader
from whatchanged.training.caption import RunCaptioner
from whatchanged.training.data.pictures import picture_reader
from whatchanged.training.device import choose_device
from whatchanged.training.methods import (
    AlignsPictures,
    Method,
    ReadsGivenCaptions,
    ShowsBlocks,
)
from whatchanged.training.run_folder import open_run
from whatchanged.training.weights.trained import is_model, open_trained
from whatchanged.vocabulary import UNK


@dataclass(frozen=True)
class FigureSource:
    """A trained method, together with the function that reads a picture from its path."""

    recipe: Recipe
    method: Method
    read: PictureReader
    device: torch.device
    where: str
    """The folder of the run or the model, for messages."""

    def words(self, before: Path, after: Path, beams: int = 1) -> TitledMaps:
        """Return the words of the caption that the method writes about a pair, each with its attention map.
        Raises ImageError.
        """
        captioner = RunCaptioner(
            self.recipe.name, self.method, self.read, self.device, beams=beams, maps=True
        )
        (said,) = captioner.describe([(before, after)], 1)
        if isinstance(said, ImageError):
            raise said
        return said.words

    @torch.inference_mode()
    def text_to_image(self, before: Path, after: Path, caption: str) -> TitledMaps:
        """Return the words of ``caption``, each with its attention to the patches of both pictures.

        Raises RecipeError where the method cannot read captions, or its vocabulary lacks a word.
        """
        method = self.method
        if not isinstance(method, ReadsGivenCaptions):
            raise self._cannot("text-to-image", "reads no given caption together with the pictures")
        prepared = preparation(self.recipe.data.preparation).text(caption)
        ids = method.vocabulary.sentence(prepared)
        if not prepared or len(ids) > method.max_length:
            raise RecipeError(
                f"{self.where}: the caption has {len(ids) - 2} words, and this model reads 1 to"
                f" {method.max_length - 2} of them."
            )
        if UNK in ids:
            unknown = [word for word in prepared.split() if UNK in method.vocabulary.word_ids(word)]
            raise RecipeError(f"{self.where}: its vocabulary lacks {', '.join(unknown)}. Use other words.")
        pictures, asked = self._pictures(before, after), torch.tensor([ids], device=self.device)
        maps = method.given_caption_attention(*pictures, asked)
        return words_with_maps(method.vocabulary.words(ids), _as_array(maps[0]))

    @torch.inference_mode()
    def alignment(self, before: Path, after: Path) -> Alignment:
        """Return, for each cell, the cells of the other picture from which the cell is reconstructed. Raises
        RecipeError for a method without such a reconstruction.
        """
        if not isinstance(self.method, AlignsPictures):
            raise self._cannot("alignment", "rebuilds no picture from the other")
        weights, cells = self.method.alignment(*self._pictures(before, after))
        vision = self.method.vision
        return Alignment(_as_array(weights[0]), cells[0].cpu().numpy(), (vision.rows, vision.columns))

    @torch.inference_mode()
    def blocks(self, before: Path, after: Path) -> TitledMaps:
        """Return the attention of the joint tokens in the last blocks. Raises RecipeError for a method
        without a joint token.
        """
        if not isinstance(self.method, ShowsBlocks):
            raise self._cannot("blocks", "has no joint token that reads the patches")
        found = self.method.block_attention(*self._pictures(before, after))
        return [(name, _as_array(maps[0])) for name, maps in found.items()]

    def _pictures(self, before: Path, after: Path) -> tuple[Tensor, Tensor]:
        first, second = (torch.from_numpy(self.read(path))[None].to(self.device) for path in (before, after))
        return first, second

    def _cannot(self, kind: str, why: str) -> RecipeError:
        return RecipeError(
            f"figure {kind}: {self.where} is of {self.method.architecture}, which {why}. `whatchanged figure"
            " --help` says which methods can."
        )


def open_source(
    origin: Path,
    checkpoint: str = "auto",
    features: Path | None = None,
    data: Path | None = None,
    device: str = "cpu",
) -> FigureSource:
    """Opens the run or the model from which figures are drawn. ``origin``: a run's folder, or a model's name
    or folder.

    checkpoint: the checkpoint of a run, as in ``checkpoint_file``. features: the folder of stored features,
    for a method that reads stored features. data: the data set's folder; the picture names in the features
    are paths below this folder; by default the data folder of the run. Raises RecipeError or BundleError
    where the run or the model cannot be read.
    """
    if is_model(origin):
        recipe, learner, _ = open_trained(origin)
    else:
        recipe, learner, _ = open_run(origin, checkpoint)
    where = choose_device(device)
    root = data or Path(recipe.data.path or ".")
    stored = recipe.data.stored if features is None else str(features.absolute())
    read = picture_reader(recipe.vision, stored, root.absolute())
    method = learner.to(where)
    method.eval()
    return FigureSource(recipe, method, read, where, str(origin))


def _as_array(maps: Tensor) -> NDArray[np.float32]:
    return maps.float().cpu().numpy()
