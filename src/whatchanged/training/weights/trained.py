"""Opens a trained method from a run's folder or from an exported model."""

from pathlib import Path

from whatchanged.captioner.bundle import MANIFEST, names_model, open_bundle
from whatchanged.recipes.schema import Recipe
from whatchanged.training.methods import Method
from whatchanged.training.run_folder import open_run
from whatchanged.training.weights.bundle_weights import read_bundle


def is_model(source: Path) -> bool:
    """Return whether this is the name of a shipped model (present or earlier) or the folder of a model, and
    not a run.
    """
    return names_model(source) or (source / MANIFEST).is_file()


def open_trained(source: Path) -> tuple[Recipe, Method, frozenset[str]]:
    """Return the recipe, the method in evaluation mode, and the names of its tensors that were never stored.

    source: a run's folder, whose last weights are read, or a model's name or folder. A run stores all its
    tensors. A model may lack tensors that only training uses; these keep random values. Raises RecipeError or
    BundleError where the source cannot be read.
    """
    if is_model(source):
        return read_bundle(open_bundle(str(source)))
    recipe, method, _ = open_run(source, "last")
    return recipe, method, frozenset()
