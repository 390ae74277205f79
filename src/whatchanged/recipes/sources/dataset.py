"""Settings of a data set on disk as a recipe's data, and checks that a stage or the vision uses each
setting.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from whatchanged.recipes.checks import require, require_not_negative, require_used
from whatchanged.recipes.schema import Examples, Recipe, StageConfig
from whatchanged.recipes.sources import DataSettings
from whatchanged.recipes.visions import kinds_that

PreparationName = Literal[
    "none",
    "rcc-clevr-change",
    "scorer-clevr-change",
    "rcc-clevr-dc",
    "rcc-spot-the-diff",
    "card-spot-the-diff",
    "pcl-clevr-change",
    "pcl-birds",
    "pcl-cub",
    "cub-attngan",
    "ier",
    "nct-image-editing-request",
    "levir",
]
"""The names in ``datasets.preparation.PREPARATIONS``."""


@dataclass(frozen=True)
class DatasetConfig(DataSettings):
    """A data set on disk. ``--data`` and ``--features`` on the command line set ``path`` and ``features``."""

    opener: ClassVar[str] = "whatchanged.training.data.dataset_source:open_dataset_sources"
    planned_words: ClassVar[str] = "whatchanged.training.data.dataset_source:planned_words"

    on_disk: ClassVar[bool] = True

    source: Literal["dataset"] = "dataset"
    path: str = ""
    """The data set's folder, or a list of pairs."""
    features: str = ""
    """The folder that ``whatchanged features`` wrote, or a folder with one ``.npy`` file a picture."""
    single: str = ""
    """Folder of single pictures with captions (CUB), for stages with ``data`` "single"."""
    single_preparation: PreparationName = "none"
    """The preparation that turns captions of single pictures into words. The vocabulary holds the words of
    the pairs and of the single pictures.
    """
    labelled: str = ""
    """Folder of pictures with class labels (NABirds), for the task fgvc."""
    merges: str = ""
    """CLIP's merges file (bpe_simple_vocab_16e6.txt.gz or merges.txt), which splits captions into subwords.
    With "", captions are split into words.
    """
    wording: str = "captions"
    """The choice of training captions. "captions": the captions on disk. Any other value is the name of a
    fixed wording of the world whose ground truth lies beside the set. Each pair then gets the one sentence of
    this wording.
    """
    preparation: PreparationName = "none"
    """The preparation that turns captions into words. ``datasets/preparation.py`` explains each name."""
    examples: Examples = "captions"
    """The kind of training example. "captions": each caption of each pair is an example. "pairs": each pair
    is an example, with a caption drawn at each visit. "scenes": each scene is an example, whose changed and
    unchanged pair are in the same batch.
    """
    exchange: bool = False
    """With "scenes": in a random half of the visits, the unchanged view replaces the picture before."""
    shift: int = 0
    """Largest shift in pixels of a training pair along each axis. Both pictures are shifted by the same
    random amount, drawn at each visit.
    """
    mirror_unless: tuple[str, ...] = ()
    """Words that prevent mirroring, because mirroring would make a caption with such a word false. All other
    training pairs are mirrored left to right in half of the visits. An empty list mirrors no pair.
    """
    validation: int = 400
    """Number of validation pairs on which the metric is measured, spread over the split. 0: all validation
    pairs.
    """

    @property
    def stored(self) -> str:
        """The folder of grid features that were computed from the pictures beforehand."""
        return self.features

    def with_folders(self, path: str, stored: str) -> "DatasetConfig":
        """Return these settings with other folders."""
        return replace(self, path=path, features=stored)

    def without_folders(self) -> "DatasetConfig":
        """Return these settings without the folders and CLIP's merges file."""
        return replace(self.with_folders("", ""), merges="")

    def as_pictures(self) -> "DatasetConfig":
        """Return settings that read the same pairs without stored features. Each pair is a separate
        example.
        """
        return replace(self, features="", merges="", examples="captions", exchange=False)

    def of_folder(self, path: str) -> "DatasetConfig":
        """Return settings that read another data set and prepare its pairs like the pairs of these
        settings.
        """
        return replace(self.as_pictures(), path=path, wording="captions")

    def check(self, recipe: Recipe, where: str) -> None:
        """Checks that a stage, or the vision, uses each key."""
        require_not_negative(where, "data.", self, "validation", "shift")
        by = f"vision.kind = {kinds_that(lambda kind: kind.stored)}"
        require_used(where, "data.", self, recipe.vision.stored, by, "features")
        self._check_variation(recipe, where)
        single = any(stage.data == "single" for stage in recipe.stages)
        by = 'a stage with data = "single"'
        require_used(where, "data.", self, single, by, "single", "single_preparation")
        tasks = [recipe.tasks[name] for stage in recipe.stages for name in stage.tasks]
        labelled = any(task.reads == "labelled" for task in tasks)
        require_used(where, "data.", self, labelled, "a task that reads labelled pictures", "labelled")
        common = any(_reads_common_examples(recipe, stage) for stage in recipe.stages)
        by = "a stage that reads captioned pairs and has no examples of its own"
        require_used(where, "data.", self, common, by, "examples", "exchange")
        scenes = not self.exchange or self.examples == "scenes"
        require(where, "data.exchange", self.exchange, scenes, 'false, unless data.examples = "scenes"')
        for stage in recipe.stages:
            self._check_examples(stage, where)

    def _check_variation(self, recipe: Recipe, where: str) -> None:
        """Checks that pictures are varied only where each pass reads the pixels of pictures. Checks that
        shifts leave a part of the frame.
        """
        unchanging = recipe.vision.learns and not any(stage.learns_vision for stage in recipe.stages)
        used = not recipe.vision.stored and not unchanging
        by = (
            "pixels that are read anew in each pass (stored features, or a vision that no stage trains, are"
            " not)"
        )
        require_used(where, "data.", self, used, by, "shift", "mirror_unless")
        if recipe.vision.picture_size is not None:
            side = min(recipe.vision.picture_size)
            wanted = f"less than half of {side} pixels, the pictures' shorter side"
            require(where, "data.shift", self.shift, 2 * self.shift < side, wanted)
        words = all(len(word.split()) == 1 for word in self.mirror_unless)
        wanted = "single words as captions have them, without blanks"
        require(where, "data.mirror_unless", self.mirror_unless, words, wanted)

    def _check_examples(self, stage: StageConfig, where: str) -> None:
        """Checks the settings ``examples`` and ``exchange`` of a stage."""
        prefix, own = f"stage.{stage.name}.", stage.examples
        by = f'{prefix}data = "pairs"'
        require_used(where, prefix, stage, stage.data == "pairs", by, "examples", "changed_only")
        views = not stage.exchange or own == "scenes" or (own == "captions" and stage.changed_only)
        wanted = f'false, unless {prefix}examples is "scenes", or is "captions" with {prefix}changed_only'
        require(where, prefix + "exchange", stage.exchange, views, wanted)
        mixed = not stage.changed_only or (own or self.examples) != "scenes"
        wanted = 'false with examples = "scenes", which hold both pairs of a scene'
        require(where, prefix + "changed_only", stage.changed_only, mixed, wanted)


def _reads_common_examples(recipe: Recipe, stage: StageConfig) -> bool:
    captioned = any(recipe.tasks[name].reads == "pairs" for name in stage.tasks)
    return captioned and not stage.examples and stage.data == "pairs"
