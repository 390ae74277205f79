"""What a recipe says: frozen dataclasses whose fields are the keys of the TOML files."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Task = Literal["seeing", "matching", "mlm", "mvcl", "fda", "retrieval", "caption", "fgvc"]


@dataclass(frozen=True)
class PCLConfig:
    """PCL's sizes and switches (spec names: d, h, F, the three encoders' depths, L, t1, t2, K)."""

    name: str = "pcl"
    preset: Literal["paper", "authors"] = "paper"
    width: int = 512
    heads: int = 8
    ffn: int = 2048
    single_layers: int = 1
    pair_layers: int = 1
    cross_layers: int = 3
    dropout: float = 0.2
    max_length: int = 40
    mvcl_temperature: float = 1.0
    fda_temperature: float = 1.0
    negatives: int = 6
    difference_encoder: bool = True
    distractor_judging: bool = True
    guided_attention: bool = False
    """Words also learn to look at what they tell of (with every_word, vision.scene_truth). Not published."""
    every_word: bool = False
    """Captioning learns every word of a caption in each pass instead of a masked 15 %. Not published."""


@dataclass(frozen=True)
class PCLCrossTaskConfig(PCLConfig):
    """PCL with its cross-task data: what single captioned pictures and labelled pictures need beside."""

    name: str = "pcl-birds"
    classes: int = 0
    """Classes of the labelled pictures (task fgvc); 0 builds no classifier."""
    margin: float = 0.4
    """Cosine up to which two pictures of different classes cost nothing (task fgvc)."""
    single_length: int = 40
    """``max_length`` of single pictures' captions; only preset ``authors`` sees it, as padding."""


@dataclass(frozen=True)
class CLIP4IDCConfig:
    """CLIP4IDC's sizes and switches; the defaults are CLIP ViT-B/32 under the authors' captioner.

    ``width``, ``heads`` and ``ffn`` are those of the picture blocks.
    """

    name: str = "clip4idc"
    preset: Literal["paper", "authors"] = "authors"
    variant: Literal["clip4idc", "ft1", "ft2"] = "clip4idc"
    """The method, or one of its two baselines, which have no inter blocks and no retrieval stage."""
    width: int = 768
    heads: int = 12
    ffn: int = 3072
    intra_layers: int = 9
    inter_layers: int = 3
    text_width: int = 512
    text_heads: int = 8
    text_ffn: int = 2048
    text_layers: int = 12
    context: int = 77
    joint_width: int = 512
    decoder_width: int = 512
    decoder_heads: int = 8
    decoder_ffn: int = 2048
    decoder_layers: int = 3
    dropout: float = 0.1
    activation: Literal["quick_gelu", "gelu"] = "quick_gelu"
    """CLIP's: quick for OpenAI's and LAION-400M's weights, exact for LAION-2B's and DataComp's."""
    max_words: int = 32
    """Text length in training, [start] or [end] included."""
    max_length: int = 33
    """Most ids of a decoded caption, BOS included: one more than the decoding steps."""
    freeze: bool = True
    """Preset ``authors`` keeps CLIP's tables and first layers as they are; false where CLIP starts random."""
    train_words: bool = False
    """Captioning trains the word table all the same (the authors: on Spot-the-Diff only)."""


@dataclass(frozen=True)
class ScorerConfig:
    """SCORER's sizes and switches; a contrastive loss whose weight is 0 is not computed."""

    name: str = "scorer"
    preset: Literal["paper", "authors"] = "paper"
    repaired: tuple[Literal["train_reasoning", "mean_sentence"], ...] = ()
    """Mistakes of ``authors`` to mend: CBR does not learn, its sentence vector is no true mean."""
    difference: Literal["reconstruct", "subtract"] = "reconstruct"
    width: int = 512
    word_width: int = 300
    heads: int = 8
    layers: int = 2
    """Cross-attention layers between the pictures."""
    decoder_layers: int = 2
    dropout: float = 0.1
    max_length: int = 24
    view_weight: float = 0.1
    """lambda_v, of the view-alignment loss."""
    reason_weight: float = 0.001
    """lambda_m, of the cross-modal backward reasoning."""
    temperature: float = 1.0
    """What ``paper`` divides matching scores by; ``authors`` learns a factor instead and takes no other."""


MethodConfig = PCLConfig | ScorerConfig | CLIP4IDCConfig
METHOD_CONFIGS: Mapping[str, type[MethodConfig]] = {
    "pcl": PCLConfig,
    "pcl-birds": PCLCrossTaskConfig,
    "scorer": ScorerConfig,
    "clip4idc": CLIP4IDCConfig,
}
"""``method.name`` -> the settings of that method; a recipe that names none means PCL."""


@dataclass(frozen=True)
class VisionConfig:
    """What turns a picture into a grid of tokens: stored features, a convolutional backbone on pixels, or the
    pixels themselves in square patches.

    ``matching`` (features matched between the grids), ``scene_context`` (sizes and places read from all
    things of a
    picture together, before they are matched) and ``scene_truth`` (losses on the world's truth) go beyond the
    published method; all are off in its presets.
    """

    kind: Literal["features", "backbone", "patches"] = "features"
    rows: int = 7
    columns: int = 7
    feature_width: int = 2048
    image_width: int = 240
    image_height: int = 160
    channels: tuple[int, ...] = (32, 64, 96)
    blocks: int = 4
    keep: int = 24
    """Tokens kept per picture, the most object-like; 0 keeps all. Backbones only."""
    patch: int = 32
    """Side of a patch in pixels (kind "patches" only)."""
    matching: bool = False
    scene_context: bool = False
    scene_truth: bool = False


Preparation = Literal[
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
class DataConfig:
    """Where examples come from; ``--data PATH`` on the command line replaces ``path``."""

    source: Literal["dataset", "pool"] = "dataset"
    path: str = ""
    features: str = ""
    """Folder of grid features: what ``whatchanged features`` wrote, or an ``.npy`` a picture."""
    single: str = ""
    """Folder of single pictures with captions (CUB), for stages with ``data`` "single"."""
    single_preparation: Preparation = "none"
    """How their captions become words; the vocabulary is of both sets' words."""
    labelled: str = ""
    """Folder of pictures with class labels (NABirds), for the task fgvc."""
    merges: str = ""
    """CLIP's merges file (bpe_simple_vocab_16e6.txt.gz, merges.txt): captions in its pieces; "": in words."""
    wording: Literal["captions", "short", "full", "clear", "relational"] = "captions"
    preparation: Preparation = "none"
    """How captions become words (data sets on disk); ``datasets/preparation.py`` says what each name does."""
    ordered_pairs: Literal["official", "all", "balanced"] = "official"
    """Pairs of a pool's triple: the two official ones, all six, or all with the unchanged ones twice."""
    augment: Literal["examples", "batches"] = "examples"
    """Where a pool's pictures are varied anew (``seeing.variation``): as each is read (the CPU's work), or
    whole batches of them on the device that trains; a GPU wants the latter. Other numbers are drawn then."""
    examples: Literal["captions", "pairs", "scenes"] = "captions"
    """What one training example of a data set is: each caption of each pair; each pair, with a caption drawn
    anew at every visit; each scene, whose changed and unchanged pair then stand in the same batch."""
    exchange: bool = False
    """Scenes: half the time, drawn anew, the unchanged view takes the place of the picture before."""
    validation: int = 400
    """Validation pairs that the recipe's metric is measured on (spread over the split); 0 takes all."""


@dataclass(frozen=True)
class StageConfig:
    """One stage: a weighted mix of tasks, an optimiser, a schedule, a stopping rule."""

    name: str
    tasks: Mapping[str, float]
    """Task -> weight; each step draws one task with probability weight / sum of weights."""
    steps: int
    batch: int
    lr: float
    schedule: Literal[
        "constant", "inverse_sqrt", "halving", "cosine", "stairs", "warmup_linear", "warmup_cosine"
    ] = "constant"
    warmup: int = 0
    stair: int = 0
    """Steps after which schedule stairs divides the rate by ten, again and again."""
    optimizer: Literal["adam", "adamw", "bert_adam"] = "adam"
    beta2: float = 0.999
    weight_decay: float = 0.0
    rates: Mapping[str, float] = field(default_factory=dict)
    """Parameter group -> what ``lr`` is multiplied by there; 0 leaves the group as it is."""
    data: Literal["pairs", "single"] = "pairs"
    """What captioned tasks read: the data set's pairs, or ``data.single``'s pictures, the second empty."""
    evaluate_every: int = 0
    evaluate_from: int = 0
    """Evaluations before this step count as no new best, whatever they bring."""
    patience: int = 0
    """Evaluations without a new best before the stage stops; 0 never stops early."""
    metric: Literal["CIDEr-D", "ROUGE-L", "R@1"] = "CIDEr-D"
    train_vision: bool = True
    log_every: int = 50
    save_every: int = 1000
    """Steps between checkpoints; what a killed run loses at most."""
    clip: float = 0.0
    """Largest gradient norm; 0 does not clip."""
    precision: Literal["fp32", "bf16"] = "fp32"
    examples: Literal["", "captions", "pairs", "scenes"] = ""
    """This stage's own ``data.examples``, with its own ``exchange``; "": both as in ``data``."""
    exchange: bool = False
    """As ``data.exchange``; also with captions and ``changed_only``: the unchanged view of a pair's scene."""
    changed_only: bool = False
    """Only pairs that are not known as unchanged."""
    drop_last: bool = False
    """A pass over the examples ends with its last whole batch."""

    @property
    def learns_vision(self) -> bool:
        """Whether the way of seeing learns, too, by ``train_vision`` and ``rates``."""
        return self.train_vision and self.rates.get("vision", 1.0) > 0


@dataclass(frozen=True)
class Recipe:
    """A whole run: one method, one way of seeing, one data source, stages in order, one seed."""

    name: str
    description: str
    stages: tuple[StageConfig, ...]
    seed: int = 1234
    method: MethodConfig = field(default_factory=PCLConfig)
    vision: VisionConfig = field(default_factory=VisionConfig)
    data: DataConfig = field(default_factory=DataConfig)
