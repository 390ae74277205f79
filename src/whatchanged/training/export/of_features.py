"""Writes the bundle of a model that reads stored features instead of pictures.

The bundle need not name the backbone of the features; published features often do not. Whoever captions with
the bundle must provide features of the same kind.
"""

from dataclasses import replace
from pathlib import Path

from whatchanged.captioner.card import FeatureInput
from whatchanged.errors import RecipeError
from whatchanged.recipes.visions.features import FeaturesConfig
from whatchanged.training.build import open_sources
from whatchanged.training.data.pictures import made_by
from whatchanged.training.export.pictures import fixture_pairs, picture_data, write_model
from whatchanged.training.export.trained_model import TrainedModel


def export_features(
    model: TrainedModel, output: Path, data: Path | None, in_distribution: Path | None
) -> None:
    """Write the bundle; arguments and errors are those of ``export_run``.

    The features of ``data``, too, are read from the run's folder of features.
    """
    recipe, vision = model.recipe, model.recipe.vision
    if not isinstance(vision, FeaturesConfig):
        raise RecipeError(f"{model.run}: this model reads no grid features.")
    if in_distribution is not None:
        raise RecipeError(
            f"{model.run}: this model reads stored features, and drawn pictures have none: leave --familiar"
            " out."
        )
    folder = Path(recipe.data.stored)
    data_settings = picture_data(recipe.data, data)
    data_settings = data_settings.with_folders(data_settings.path, str(folder))
    sources = open_sources(replace(recipe, data=data_settings, stages=()), model.run)  # nothing to train on
    pairs = fixture_pairs(sources.validation)
    declared = FeatureInput(vision.rows, vision.columns, vision.feature_width, made_by(folder))
    write_model(model, output, sources, data_settings.path, declared, pairs)
