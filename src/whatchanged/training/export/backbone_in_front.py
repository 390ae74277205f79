"""A model that learned from stored features, made to read pictures: its backbone goes in front of it."""

from dataclasses import replace
from pathlib import Path

from whatchanged.errors import RecipeError
from whatchanged.recipes.schema import BackboneConfig, DatasetConfig, Recipe
from whatchanged.training.data.grid_files import GridFiles, is_grid_folder
from whatchanged.training.features.backbones import BACKBONES, Backbone, SeenOnTheFly, open_backbone
from whatchanged.training.methods import Method


def put_backbone_in_front(
    run: Path, recipe: Recipe, method: Method, weights: Path | None
) -> tuple[Recipe, Backbone]:
    """Give ``method`` the backbone of its features as its vision; returns the recipe that reads its pictures.

    weights: the backbone's, where they lie in no package: a file, or a run folder for a run's backbone.
    Raises RecipeError where the features do not say whose they are, or other weights saw them.
    """
    folder = Path(recipe.data.features) if isinstance(recipe.data, DatasetConfig) else Path()
    if not is_grid_folder(folder):
        raise RecipeError(
            f"{run}: this model reads precomputed features, and {folder} does not say which backbone saw"
            " them, so it cannot caption pictures by itself. Make them with `whatchanged features`, or train"
            " another vision.kind."
        )
    about = GridFiles(folder).about
    known = about["backbone"] in BACKBONES
    if not known and weights is None:
        raise RecipeError(
            f"{run}: its features were seen by the backbone of a run ({about['backbone']}). Name that run:"
            " --weights RUN"
        )
    backbone = open_backbone(about["backbone"], weights) if known else open_backbone(str(weights))
    if backbone.about() != about:
        raise RecipeError(
            f"{run}: its features were seen by {about['backbone']} with weights {about['sha256'][:12]}; these"
            f" are {backbone.name}'s {backbone.sha256[:12]}. Name those that saw the features: --weights"
        )
    method.vision = SeenOnTheFly(backbone).eval()
    width, height = backbone.size
    pictures = BackboneConfig(image_width=width, image_height=height)
    return replace(recipe, vision=pictures), backbone
