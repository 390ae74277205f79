"""What a recipe says: frozen dataclasses whose fields are the keys of the TOML files.

``[vision]`` is one of several kinds and ``[data]`` one of several sources, each with only the keys that it
uses.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

from whatchanged.recipes.checks import check_multiples, require, require_not_negative, require_positive
from whatchanged.recipes.methods import LearnerSettings, Reads, Task

CELL = 8
"""Pixels of a side of a backbone's cell."""
Examples = Literal["captions", "pairs", "scenes"]
Precision = Literal["fp32", "bf16"]


@dataclass(frozen=True)
class VisionSettings:
    """What all kinds of ``[vision]`` have. A subclass adds fields: its keys."""

    learns: ClassVar[bool] = False
    """Whether the vision has weights of its own."""
    stored: ClassVar[bool] = False
    """Whether it reads what was computed from a data set's pictures beforehand, ``data.features``."""
    gives_tokens: ClassVar[bool] = True
    """Whether it turns pictures into tokens."""

    @property
    def tasks(self) -> Mapping[str, Task]:
        """Tasks that the vision itself adds, by name."""
        return {}

    @property
    def keeps_every_cell(self) -> bool:
        """Whether a picture's tokens are all cells of a grid, in order."""
        return True

    @property
    def tokens_correspond(self) -> bool:
        """Whether token n of both pictures belongs together."""
        return self.keeps_every_cell

    @property
    def picture_size(self) -> tuple[int, int] | None:
        """Width and height that pictures are resized to; None where it reads none."""
        return None


@dataclass(frozen=True)
class FeaturesConfig(VisionSettings):
    """Grid features stored on disk, ``rows`` x ``columns`` cells a picture."""

    stored: ClassVar[bool] = True

    kind: Literal["features"] = "features"
    rows: int = 7
    """Rows of the grid of features of a picture."""
    columns: int = 7
    """Its columns."""
    feature_width: int = 2048
    """Numbers in each cell."""

    def check(self, where: str) -> None:
        """The sizes of a grid."""
        require_positive(where, "vision.", self, "rows", "columns", "feature_width")


@dataclass(frozen=True)
class PatchesConfig(VisionSettings):
    """The pixels themselves, in square patches of ``patch`` pixels a side."""

    kind: Literal["patches"] = "patches"
    image_width: int = 224
    """Pixels that pictures are resized to."""
    image_height: int = 224
    """Likewise."""
    patch: int = 32
    """Pixels of a side of a patch: one token."""

    @property
    def picture_size(self) -> tuple[int, int]:
        """Width and height that pictures are resized to."""
        return self.image_width, self.image_height

    def check(self, where: str) -> None:
        """Whole patches fill the picture."""
        require_positive(where, "vision.", self, "patch")
        check_multiples(where, "vision.", self, ("image_width", "image_height"), self.patch, "vision.patch")


@dataclass(frozen=True)
class BackboneConfig(VisionSettings):
    """A convolutional backbone, trained from nothing with the tasks; every cell of its map is a token."""

    learns: ClassVar[bool] = True

    kind: Literal["backbone"] = "backbone"
    image_width: int = 240
    """Pixels that pictures are resized to."""
    image_height: int = 160
    """Likewise."""
    channels: tuple[int, ...] = (32, 64, 96)
    """One a convolution that halves the picture: three make cells of 8 pixels a side, four of 16."""
    blocks: int = 4
    """Residual blocks at the size of the cells."""
    same_cell: bool = False
    """Each cell is also told what the other picture shows in the same cell, and how the two differ. Meant for
    pictures from one place."""

    @property
    def picture_size(self) -> tuple[int, int]:
        """Width and height that pictures are resized to."""
        return self.image_width, self.image_height

    @property
    def cell(self) -> int:
        """Pixels of a side of a cell."""
        return int(2 ** len(self.channels))

    def check(self, where: str) -> None:
        """What the convolutions need."""
        fits = len(self.channels) in (3, 4) and min(self.channels) > 0
        wanted = "three or four numbers above 0, one a convolution"
        require(where, "vision.channels", self.channels, fits, wanted)
        _check_backbone(self, where)


@dataclass(frozen=True)
class ObjectsConfig(VisionSettings):
    """Object tokens of CLEVR's world: a backbone, its answers about each cell, the ``keep`` best cells.

    Not published. Its own tasks learn from the truth of drawn scenes. ``detection``: what each cell shows.
    ``matching``: which tokens are the same object, and how it changed.
    """

    learns: ClassVar[bool] = True

    kind: Literal["objects"] = "objects"
    image_width: int = 240
    """Pixels that pictures are resized to."""
    image_height: int = 160
    """Likewise."""
    channels: tuple[int, ...] = (32, 64, 96)
    """One a convolution that halves the picture: three, so that a cell has 8 pixels a side."""
    blocks: int = 4
    """As of a backbone."""
    keep: int = 24
    """Tokens of a picture: the cells most like the middle of an object. 0 keeps all cells."""
    matching: bool = False
    """Tokens are matched between the pictures; each is told what matches it."""
    scene_context: bool = False
    """Sizes and positions are read from all objects of a picture together, before they are matched."""
    occlusion: bool = False
    """Each token is told how much of it other objects hide: here, and at its place in the other picture."""
    landmarks: bool = False
    """Each token is told on which of its sides the changed object stands and a duplicate of that does not."""
    guided_attention: bool = False
    """Each word learns to look at the objects that it mentions."""
    frozen: bool = False
    """The vision comes from another model (``--init``), and nothing in it learns any more. Its tokens are
    standardised: each number has mean 0 and deviation 1 over pairs to train on."""
    aligned: bool = False
    """The tokens after stand in the order of their matches before. Needs the matching to be finished:
    ``frozen``."""

    cell: ClassVar[int] = CELL
    """Pixels of a side of a cell."""

    @property
    def picture_size(self) -> tuple[int, int]:
        """Width and height that pictures are resized to."""
        return self.image_width, self.image_height

    @property
    def cells(self) -> int:
        """Cells of a picture."""
        return self.image_width // CELL * (self.image_height // CELL)

    @property
    def tasks(self) -> Mapping[str, Task]:
        """What the truth of scenes can teach."""
        if self.frozen:
            return {}
        detection = {"detection": Task(1, truth=True, vision_only=True)}
        return {**detection, "matching": Task(6, truth=True)} if self.matching else detection

    @property
    def keeps_every_cell(self) -> bool:
        """Whether a picture's tokens are all its cells."""
        return self.keep in (0, self.cells)

    @property
    def tokens_correspond(self) -> bool:
        """Cells do by their places, kept ones where they are aligned."""
        return self.keeps_every_cell or self.aligned

    def check(self, where: str) -> None:
        """What the convolutions need, as many tokens as a picture has, and switches that need each other."""
        fits = len(self.channels) == 3 and min(self.channels) > 0
        wanted = "three numbers above 0, one a convolution"
        require(where, "vision.channels", self.channels, fits, wanted)
        _check_backbone(self, where)
        fits = 0 <= self.keep <= self.cells
        require(where, "vision.keep", self.keep, fits, f"0 (all) to {self.cells}, the cells of a picture")
        fits = self.matching or not self.scene_context
        wanted = "false without vision.matching = true, which uses the positions"
        require(where, "vision.scene_context", self.scene_context, fits, wanted)
        wanted = "false without vision.matching = true, which compares the pictures"
        require(where, "vision.occlusion", self.occlusion, self.matching or not self.occlusion, wanted)
        require(where, "vision.landmarks", self.landmarks, self.matching or not self.landmarks, wanted)
        fits = not self.aligned or (self.matching and self.frozen and not self.keeps_every_cell)
        wanted = (
            "false without vision.matching and vision.frozen, or where all cells are kept in their places"
        )
        require(where, "vision.aligned", self.aligned, fits, wanted)


@dataclass(frozen=True)
class NoVision(VisionSettings):
    """None, for a method that reads no tokens: what it reads of a pair is its own."""

    gives_tokens: ClassVar[bool] = False

    kind: Literal["none"] = "none"

    def check(self, where: str) -> None:
        """There is nothing to check."""


VisionConfig = FeaturesConfig | PatchesConfig | BackboneConfig | ObjectsConfig | NoVision
"""``[vision]``: what turns a picture into tokens, by ``kind``."""

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
class DatasetConfig:
    """A data set on disk. ``--data`` and ``--features`` on the command line set ``path`` and ``features``."""

    holds: ClassVar[frozenset[Reads]] = frozenset({"pairs", "labelled"})
    has_truth: ClassVar[bool] = False

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

    def without_places(self) -> "DatasetConfig":
        """The same without folders and files, which say more of a machine than of a model."""
        return replace(self.with_folders("", ""), merges="")


@dataclass(frozen=True)
class PoolConfig:
    """Drawn triples of pictures whose truth is known. Each ordered pair of a triple is an example.

    ``--data`` and ``--features`` on the command line set ``path`` and ``tokens``.
    """

    holds: ClassVar[frozenset[Reads]] = frozenset({"pairs"})
    has_truth: ClassVar[bool] = True

    source: Literal["pool"] = "pool"
    path: str = ""
    """The pool's folder (``whatchanged synth clevr-pool``)."""
    tokens: str = ""
    """Folder of stored tokens (``whatchanged features POOL OUT --run RUN``). "": pictures are read."""
    merges: str = ""
    """As in ``DatasetConfig``."""
    wording: str = "captions"
    """"captions": drawn anew at each visit. Any other: one fixed sentence a pair, in this wording of the
    world."""
    ordered_pairs: Literal["official", "all", "balanced"] = "official"
    """Pairs of a triple: the two official ones, all six, or all six with the unchanged ones twice."""
    augment: Literal["examples", "batches"] = "examples"
    """Where pictures are augmented. "examples": on the CPU, as each is read. "batches": whole batches on the
    device that trains, which is faster with a GPU; other random numbers are drawn then."""
    validation: int = 400
    """Validation pairs that the metric is measured on, of the first tenth of the triples. 0: all of that."""

    @property
    def stored(self) -> str:
        """The folder of what was computed from the pictures beforehand: tokens."""
        return self.tokens

    def with_folders(self, path: str, stored: str) -> "PoolConfig":
        """The same data in other folders."""
        return replace(self, path=path, tokens=stored)

    def without_places(self) -> "PoolConfig":
        """As of a data set."""
        return replace(self.with_folders("", ""), merges="")


@dataclass(frozen=True)
class RegionPairsConfig:
    """The stored regions of drawn pairs whose truth is known.

    ``--data`` and ``--features`` on the command line set ``path`` and ``features``.
    """

    holds: ClassVar[frozenset[Reads]] = frozenset({"regions"})
    has_truth: ClassVar[bool] = True
    merges: ClassVar[str] = ""
    """It holds no captions that would be cut into subwords."""

    source: Literal["regions"] = "regions"
    path: str = ""
    """The drawn pairs (``whatchanged synth screens``), their truth beside them."""
    features: str = ""
    """What ``whatchanged features --backbone regions`` wrote of them."""

    @property
    def stored(self) -> str:
        """The folder of what was computed from the pictures beforehand: regions."""
        return self.features

    def with_folders(self, path: str, stored: str) -> "RegionPairsConfig":
        """The same data in other folders."""
        return replace(self, path=path, features=stored)

    def without_places(self) -> "RegionPairsConfig":
        """As of a data set."""
        return self.with_folders("", "")


DataConfig = DatasetConfig | PoolConfig | RegionPairsConfig
"""``[data]``: where examples come from, by ``source``."""


@dataclass(frozen=True)
class StageConfig:
    """One stage: a weighted mix of tasks, an optimiser, a schedule, a stopping rule."""

    name: str
    """By which ``--set stage.NAME.KEY`` and the files of checkpoints name the stage."""
    tasks: Mapping[str, float]
    """Task -> weight. Each step draws one task with probability weight / sum of weights."""
    steps: int
    """Updates of the weights, at most."""
    batch: int
    """Examples a step."""
    lr: float
    """The learning rate that ``schedule`` starts from, or rises to."""
    schedule: Literal[
        "constant", "inverse_sqrt", "halving", "cosine", "stairs", "warmup_linear", "warmup_cosine"
    ] = "constant"
    """How the rate goes on; ``training/schedule.py`` has the formulas."""
    warmup: int = 0
    """Steps in which the rate rises."""
    stair: int = 0
    """With schedule "stairs": the rate is divided by ten each time that this many steps are done."""
    optimizer: Literal["adam", "adamw", "bert_adam"] = "adam"
    """Adam with L2 decay, AdamW, or CLIP4IDC's BertAdam."""
    beta2: float = 0.999
    """Adam's second decay rate; the first is 0.9."""
    weight_decay: float = 0.0
    """Its strength; 0: none."""
    rates: Mapping[str, float] = field(default_factory=dict)
    """Group of parameters -> what ``lr`` is multiplied by there. 0: the group does not learn."""
    data: Literal["pairs", "single"] = "pairs"
    """What tasks with captions read: the data set's pairs, or single pictures (``data.single``)."""
    evaluate_every: int = 0
    """Steps between evaluations on validation pairs. 0: none."""
    evaluate_from: int = 0
    """Evaluations before this step never count as a new best."""
    patience: int = 0
    """The stage stops after this many evaluations without a new best. 0: never early."""
    metric: Literal["CIDEr-D", "ROUGE-L", "R@1"] = "CIDEr-D"
    """What makes an evaluation the best."""
    train_vision: bool = True
    """Whether a vision with weights of its own learns, too."""
    log_every: int = 50
    """Steps between lines of ``metrics.jsonl``."""
    save_every: int = 1000
    """Steps between checkpoints: what a killed run loses at most."""
    max_grad_norm: float = 0.0
    """Larger gradient norms are scaled down to this. 0: never."""
    precision: Precision = "fp32"
    """Of the arithmetic. bf16: matrix products in 16 bit, weights in 32."""
    examples: Literal["", "captions", "pairs", "scenes"] = ""
    """This stage's own ``data.examples``, with its own ``exchange``. "": both as in ``data``."""
    exchange: bool = False
    """As ``data.exchange``, for the stage's own examples: "scenes", or "captions" with ``changed_only``."""
    changed_only: bool = False
    """Only pairs that are not known as unchanged."""
    drop_last: bool = False
    """A pass over the examples ends with its last whole batch; what is left over is not read."""

    @property
    def learns_vision(self) -> bool:
        """Whether ``train_vision`` and ``rates`` let the vision learn."""
        return self.train_vision and self.rates.get("vision", 1.0) > 0


@dataclass(frozen=True)
class Recipe:
    """A whole run: one method, one vision, one data source, stages in order, one seed."""

    name: str
    """By which messages and bundles name the recipe."""
    description: str
    """One line for ``whatchanged recipes``."""
    stages: tuple[StageConfig, ...]
    method: LearnerSettings
    seed: int = 1234
    """Everything that is drawn at random follows from it."""
    vision: VisionConfig = field(default_factory=FeaturesConfig)
    data: DataConfig = field(default_factory=DatasetConfig)

    @property
    def tasks(self) -> Mapping[str, Task]:
        """All tasks that a stage may mix: the method's own and those of its vision."""
        return {**self.method.tasks, **self.vision.tasks}


def _check_backbone(config: BackboneConfig | ObjectsConfig, where: str) -> None:
    name = f"{config.cell}, the side of a cell"
    check_multiples(where, "vision.", config, ("image_width", "image_height"), config.cell, name)
    require_not_negative(where, "vision.", config, "blocks")
