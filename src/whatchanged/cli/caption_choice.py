"""``caption --run`` and ``--features``: which captioner they select, and which options they exclude.

This file uses the training package; the package ``captions`` does not import it.
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
    """A run that captions, and its settings."""

    refusal: ClassVar[str] = "a run (--run) works without {}; export the run to a model to use that"

    run: Path
    features: Path | None
    checkpoint: str
    launch: Launch

    @property
    def reads_pictures(self) -> bool:
        """Whether the run reads the pictures themselves, or else stored features."""
        try:
            from whatchanged.training.run_folder import read_recipe
        except ModuleNotFoundError as error:
            raise _needs_torch(error) from error
        return not read_recipe(self.run).vision.stored

    def open(self, root: Path, beams: int, maps: bool) -> PairCaptioner:
        """Open the run's captioner for the data set at ``root``. maps: whether each word comes with its
        attention.
        """
        try:
            from whatchanged.training.caption import open_run_captioner
        except ModuleNotFoundError as error:
            raise _needs_torch(error) from error
        return open_run_captioner(self.run, root, self.features, self.checkpoint, self.launch, beams, maps)


@dataclass(frozen=True)
class FeaturesChoice:
    """A model of stored features that captions, and the folder of the features."""

    refusal: ClassVar[str] = "captions from --features go without {}"
    reads_pictures: ClassVar[bool] = False

    model: str
    features: Path

    def open(self, root: Path, beams: int, maps: bool) -> PairCaptioner:
        """Open the model's captioner for the data set at ``root``; each word always comes with its attention.

        Raises BundleError where the model reads something else, DatasetError where these features are not of
        the kind that it reads.
        """
        from whatchanged.captioner.bundle import open_bundle
        from whatchanged.captioner.features import FeatureCaptioner, declared_features
        from whatchanged.training.data.feature_folders import check_made_by, features_reader

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
    """Return what ``--run`` and its options select, or ``--model`` with ``--features``.

    None without them: the pairs are then captioned one by one. Raises BadParameter for an option that only
    works with a run.
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
    """Refuse options that these captioners do not support. used: option -> whether it is used."""
    for option, asked in used.items():
        if asked and choice is not None:
            raise typer.BadParameter(choice.refusal.format(option))
