"""A data set on disk as a recipe's data: its keys, and which stages and visions use them."""

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
"""Names of ``datasets.preparation.PREPARATIONS``."""


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
    """What ``whatchanged features`` wrote; or a folder with an ``.npy`` a picture."""
    single: str = ""
    """Folder of single pictures with captions (CUB), for stages with ``data`` "single"."""
    single_preparation: PreparationName = "none"
    """How their captions become words. The vocabulary holds the words of both sets."""
    labelled: str = ""
    """Folder of pictures with class labels (NABirds), for the task fgvc."""
    merges: str = ""
    """CLIP's merges file (bpe_simple_vocab_16e6.txt.gz or merges.txt): captions become its subwords. "":
    words."""
    wording: str = "captions"
    """Training captions. "captions": those on disk. Any other: one fixed sentence a pair, in this wording
    of the world whose truth lies beside the set."""
    preparation: PreparationName = "none"
    """How captions become words; ``datasets/preparation.py`` says what each name does."""
    examples: Examples = "captions"
    """What one training example is. "captions": each caption of each pair. "pairs": each pair, its caption
    drawn anew at each visit. "scenes": each scene, its changed and its unchanged pair in the same batch."""
    exchange: bool = False
    """With "scenes": in half of the visits, drawn anew, the unchanged view stands for the picture before."""
    shift: int = 0
    """Pixels by which the pictures of a training pair are shifted at most along each axis, both alike, drawn
    anew at each visit."""
    mirror_unless: tuple[str, ...] = ()
    """Half of the visits show a training pair mirrored, left to right, unless its caption holds one of these
    words, which would no longer be true. Empty: nothing is mirrored."""
    validation: int = 400
    """Validation pairs that the metric is measured on, spread over the split. 0: all."""

    @property
    def stored(self) -> str:
        """The folder of what was computed from the pictures beforehand: grid features."""
        return self.features

    def with_folders(self, path: str, stored: str) -> "DatasetConfig":
        """The same data in other folders."""
        return replace(self, path=path, features=stored)

    def without_folders(self) -> "DatasetConfig":
        """The same data without its folders and CLIP's merges file."""
        return replace(self.with_folders("", ""), merges="")

    def as_pictures(self) -> "DatasetConfig":
        """The same pairs, each by itself, without stored features."""
        return replace(self, features="", merges="", examples="captions", exchange=False)

    def of_folder(self, path: str) -> "DatasetConfig":
        """The pairs of another data set, prepared as these."""
        return replace(self.as_pictures(), path=path, wording="captions")

    def check(self, recipe: Recipe, where: str) -> None:
        """Keys that some stage, or the vision, reads."""
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
        """Pictures are varied where each pass reads their pixels, and something is left in the frame."""
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
        """What a stage may say of its own examples."""
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
