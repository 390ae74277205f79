"""``caption --run`` and ``--features``: who captions many pairs together, and what does not go with that.

This knows the training wing, which captions know nothing of.
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
    """A run that is to caption, and how."""

    refusal: ClassVar[str] = "a run (--run) goes without {}; for that, export it to a model"

    run: Path
    features: Path | None
    checkpoint: str
    launch: Launch

    @property
    def reads_pictures(self) -> bool:
        """Whether the run reads the pictures themselves, not what was stored of them."""
        try:
            from whatchanged.training.run_folder import read_recipe
        except ModuleNotFoundError as error:
            raise _needs_torch(error) from error
        return not read_recipe(self.run).vision.stored

    def open(self, root: Path, beams: int, maps: bool) -> PairCaptioner:
        """The run's captioner for the data set at ``root``. maps: whether words come with their attention."""
        try:
            from whatchanged.training.caption import open_run_captioner
        except ModuleNotFoundError as error:
            raise _needs_torch(error) from error
        return open_run_captioner(self.run, root, self.features, self.checkpoint, self.launch, beams, maps)


@dataclass(frozen=True)
class FeaturesChoice:
    """A model of stored features that is to caption, and where these lie."""

    refusal: ClassVar[str] = "captions from --features go without {}"
    reads_pictures: ClassVar[bool] = False

    model: str
    features: Path

    def open(self, root: Path, beams: int, maps: bool) -> PairCaptioner:
        """The model's captioner for the data set at ``root``; words always come with their attention.

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
    """What ``--run`` and the options that go with it say, or ``--model`` with ``--features``.

    None without them, for pictures that are answered for one by one. Refuses what is for a run without one.
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
    """Refuse options that such sentences cannot have. used: option -> whether it is used."""
    for option, asked in used.items():
        if asked and choice is not None:
            raise typer.BadParameter(choice.refusal.format(option))
