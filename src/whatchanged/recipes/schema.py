"""What a recipe says: frozen dataclasses whose fields are the keys of the TOML files.

``[method]``, ``[vision]`` and ``[data]`` are each one of several tables, which lie in ``recipes.methods``,
``recipes.visions`` and ``recipes.sources``, one file each with only the keys that it uses.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from whatchanged.launch import Precision
from whatchanged.recipes.methods import MethodSettings, Task
from whatchanged.recipes.sources import DataSettings, default_source
from whatchanged.recipes.visions import VisionSettings, default_vision

Examples = Literal["captions", "pairs", "scenes"]


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
    first_stair: int = 0
    """With schedule "stairs": how many steps the first stair has, where they are fewer than ``stair``."""
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
    method: MethodSettings
    seed: int = 1234
    """Everything that is drawn at random follows from it."""
    vision: VisionSettings = field(default_factory=default_vision)
    data: DataSettings = field(default_factory=default_source)

    @property
    def tasks(self) -> Mapping[str, Task]:
        """All tasks that a stage may mix: the method's own and those of its vision."""
        return {**self.method.tasks, **self.vision.tasks}

    def false_captions(self, data: str) -> int:
        """False captions that each pair needs in the stages with this ``data`` ("pairs" or "single"); 0 for
        none."""
        tasks = [self.tasks[name] for stage in self.stages if stage.data == data for name in stage.tasks]
        return max((task.false_captions for task in tasks), default=0)

    @property
    def tokens_stay(self) -> bool:
        """Whether the tokens of a picture stay the same in all of a run: no stage trains a vision that could
        learn, and pictures are read from a data set as they are; a pool's are augmented anew each time.
        """
        frozen = all(not stage.learns_vision for stage in self.stages)
        return self.data.on_disk and frozen and self.vision.learns
