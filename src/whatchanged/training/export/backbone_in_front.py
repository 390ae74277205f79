"""Puts a backbone in front of a model that was trained on stored features, so that it reads pictures."""

from dataclasses import dataclass, replace
from pathlib import Path

from whatchanged.errors import RecipeError
from whatchanged.recipes.schema import Recipe
from whatchanged.recipes.visions import VisionSettings
from whatchanged.training.data.grid_files import GridFiles, is_grid_folder
from whatchanged.training.features.backbones import (
    BACKBONES,
    FeaturesOnTheFly,
    FrozenBackbone,
    is_opened_by_others,
    open_backbone,
)
from whatchanged.training.methods import Method


@dataclass(frozen=True)
class PicturesInFront(VisionSettings):
    """The vision of a method with a backbone in front of it: it reads pictures. No recipe names this
    vision.
    """

    image_width: int
    image_height: int

    @property
    def picture_size(self) -> tuple[int, int]:
        """The picture size of the backbone."""
        return self.image_width, self.image_height

    def check(self, where: str) -> None:
        """Check nothing: these settings come from the backbone."""


def put_backbone_in_front(
    run: Path, recipe: Recipe, method: Method, weights: Path | None
) -> tuple[Recipe, FrozenBackbone | None]:
    """Make the backbone of its features the vision of ``method``; returns the recipe that reads pictures.

    If the features do not name their backbone, as published ones do not, nothing changes: the model reads
    features (``of_features``). weights: the backbone's, if no package carries them: a file, or the folder of
    the run whose backbone it is. Raises RecipeError where weights are given and the features do not name
    their backbone, or were computed with other weights.
    """
    folder = Path(recipe.data.stored)
    if not is_grid_folder(folder):
        if weights is None and recipe.data.stored and folder.is_dir():
            return recipe, None
        raise RecipeError(
            f"{run}: this model reads precomputed features, and {folder} does not name the backbone that"
            " made them, so the model cannot read pictures. Leave --weights out to export a model that reads"
            " such features, or make them with `whatchanged features` and train on these."
        )
    about = dict(GridFiles(folder).about)
    about.pop("precision", None)  # in front of a model it computes in 32 bit
    known = about["backbone"] in BACKBONES or is_opened_by_others(about["backbone"])
    if not known and weights is None:
        raise RecipeError(
            f"{run}: its features were made by the backbone of a run ({about['backbone']}). Name that run:"
            " --weights RUN"
        )
    backbone = open_backbone(about["backbone"], weights) if known else open_backbone(str(weights))
    if backbone.about() != about:
        raise RecipeError(
            f"{run}: its features were made by {about['backbone']} with weights {about['sha256'][:12]}; these"
            f" are {backbone.name}'s {backbone.sha256[:12]}. Name the weights that made them: --weights FILE"
        )
    method.vision = FeaturesOnTheFly(backbone).eval()
    return replace(recipe, vision=PicturesInFront("pictures", *backbone.size)), backbone
