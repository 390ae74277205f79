"""The captioners of ``caption --run`` and ``caption --features``, and the options that these two options
exclude. This file imports the training package, so the package ``captions`` does not import this file.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import typer

from whatchanged.captions.at_once import PairCaptioner
from whatchanged.errors import MissingExtra
from whatchanged.launch import Launch


@dataclass(frozen=True)
class RunChoice:
    """A trained run as captioner, with its settings."""

    refusal: ClassVar[str] = "a run (--run) works without {}; export the run to a model to use that"

    run: Path
    features: Path | None
    checkpoint: str
    launch: Launch

    @property
    def reads_pictures(self) -> bool:
        """Whether the run reads the pictures themselves. Otherwise the run reads stored features."""
        try:
            from whatchanged.training.run_folder import read_recipe
        except ModuleNotFoundError as error:
            raise _needs_torch(error) from error
        return not read_recipe(self.run).vision.stored

    def open(self, root: Path, beams: int, maps: bool) -> PairCaptioner:
        """Open the run as captioner for the data set at ``root``.

        maps: whether each word comes with its attention map.
        """
        try:
            from whatchanged.training.caption import open_run_captioner
        except ModuleNotFoundError as error:
            raise _needs_torch(error) from error
        return open_run_captioner(self.run, root, self.features, self.checkpoint, self.launch, beams, maps)


@dataclass(frozen=True)
class FeaturesChoice:
    """A model that reads stored features as captioner, with the folder of the features."""

    refusal: ClassVar[str] = "captions from --features go without {}"
    reads_pictures: ClassVar[bool] = False

    model: str
    features: Path

    def open(self, root: Path, beams: int, maps: bool) -> PairCaptioner:
        """Open the model as captioner for the data set at ``root``.

        Each word always comes with its attention map. Raises BundleError if the model does not read features.
        Raises DatasetError if the model reads another kind of features.
        """
        from whatchanged.captioner.bundle import open_bundle
        from whatchanged.captioner.features import FeatureCaptioner, declared_features
        from whatchanged.training.data.pictures import check_made_by, features_reader

        bundle = open_bundle(self.model)
        declared = declared_features(bundle)
        check_made_by(self.features, declared.made_by)
        grid = (declared.rows, declared.columns, declared.width)
        return FeatureCaptioner(bundle, features_reader(grid, self.features, root), beams)


def _needs_torch(error: ModuleNotFoundError) -> MissingExtra:
    return MissingExtra("whatchanged caption --run", error.name or "torch", "train")


def chosen_run(
    run: Path | None,
    model: str | None,
    features: Path | None,
    checkpoint: str,
    launch: Launch,
) -> RunChoice | FeaturesChoice | None:
    """Return the captioner of ``--run``, or the captioner of ``--model`` with ``--features``.

    Without these options the result is None, and pairs are captioned one by one. Raises BadParameter for an
    option that requires ``--run``.
    """
    if run is not None:
        return RunChoice(run, features, checkpoint, launch)
    given = {
        "--features": features is not None and model is None,
        "--device": launch.device not in ("auto", "cpu"),
        "--checkpoint": checkpoint != "auto",
        "--precision": launch.precision != "fp32",
    }
    for option in (option for option, asked in given.items() if asked):
        raise typer.BadParameter(f"{option} is for a run's sentences; name the run (--run), or leave it out")
    return None if model is None or features is None else FeaturesChoice(model, features)


def refuse_others(choice: RunChoice | FeaturesChoice | None, used: dict[str, bool]) -> None:
    """Refuse options that a captioner of ``--run`` or ``--features`` does not support.

    used: a mapping from each option to whether the user passed the option.
    """
    for option, asked in used.items():
        if asked and choice is not None:
            raise typer.BadParameter(choice.refusal.format(option))
