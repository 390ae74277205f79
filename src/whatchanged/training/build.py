"""From a recipe to its vision and its method, freshly initialised."""

from whatchanged.recipes.schema import (
    BackboneConfig,
    FeaturesConfig,
    ObjectsConfig,
    PatchesConfig,
    Recipe,
    VisionConfig,
)
from whatchanged.training.methods import Method, build_method
from whatchanged.training.objects.tokens import ObjectVision
from whatchanged.training.vision.backbone import BackboneVision
from whatchanged.training.vision.base import Vision
from whatchanged.training.vision.features import StoredFeatures
from whatchanged.training.vision.patches import PatchVision
from whatchanged.vocabulary import Vocabulary


def build_vision(config: VisionConfig) -> Vision:
    """The vision that a recipe asks for."""
    match config:
        case FeaturesConfig():
            return StoredFeatures(config.rows, config.columns, config.feature_width)
        case PatchesConfig():
            return PatchVision(config)
        case BackboneConfig():
            return BackboneVision(config)
        case ObjectsConfig():
            return ObjectVision(config)


def make_method(recipe: Recipe, vocabulary: Vocabulary, longest_caption: int = 0) -> Method:
    """The recipe's method with its vision. longest_caption: see ``build_method``."""
    return build_method(recipe.method, build_vision(recipe.vision), vocabulary, longest_caption)
