"""Exports a training run as a bundle: graphs, weights, a card, a README.

The settings of the run's vision name the function that writes the bundle (``VisionSettings.exporter``).
"""

from pathlib import Path

from whatchanged.captioner.bundle import MANIFEST, Bundle, open_bundle
from whatchanged.errors import OutputError
from whatchanged.plugins import imported
from whatchanged.training.export.trained_model import open_trained_model


def export_run(
    run: Path,
    output: Path,
    name: str,
    data: Path | None = None,
    fp16: bool = False,
    checkpoint: str = "auto",
    force: bool = False,
    weights: Path | None = None,
    in_distribution: Path | None = None,
    unfinished: bool = False,
) -> Bundle:
    """Write the run's model as a bundle folder. If anything fails, nothing is left at ``output``.

    data: a data set folder whose validation pairs calibrate the no-change probability and test the graphs; by
    default the run's own. fp16 stores large weights in half the bytes; the graphs still compute in fp32.
    checkpoint: as in ``checkpoint_file``. weights: of the backbone that a model of stored features needs to
    read pictures, if no package carries them. If the backbone is not known, the model reads features
    (``of_features``).
    in_distribution: a pool of drawn pictures of the model's size. The bundle then reports how far a picture
    is from them (``in_distribution.py``).
    unfinished: also export a run that has not finished; the model's card says how far it came.

    Raises RecipeError for a run that cannot be exported, or that is not finished; OutputError where
    ``output`` is not a folder, exists without ``force``, or holds anything but a model; BundleError where a
    graph and torch disagree.
    """
    _check_output(output, force)
    model = open_trained_model(run, checkpoint, name, fp16, weights, unfinished)
    imported(model.recipe.vision.exporter)(model, output, data, in_distribution)
    bundle = open_bundle(output.absolute())
    bundle.check()
    return bundle


def _check_output(output: Path, force: bool) -> None:
    """Raise OutputError where the bundle must not be written."""
    if output.is_symlink() or (output.exists() and not output.is_dir()):
        raise OutputError(f"{output}: is a file or a link, and a model is a folder. Choose another place.")
    if output.exists() and not force:
        raise OutputError(f"{output}: exists already. Pass --force to replace it, or choose another folder.")
    if output.exists() and any(output.iterdir()) and not (output / MANIFEST).is_file():
        raise OutputError(f"{output}: holds other files than a model's, so it stays. Choose another folder.")
