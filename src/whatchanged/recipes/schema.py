"""The settings of a recipe, as frozen dataclasses. Their fields are the keys of the TOML files.

``[method]``, ``[vision]`` and ``[data]`` each have several kinds. The packages ``recipes.methods``,
``recipes.visions`` and ``recipes.sources`` hold one file for each kind, with only the keys of this kind.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
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
    """Name of the stage, used by ``--set stage.NAME.KEY`` and by the files of checkpoints."""
    tasks: Mapping[str, float]
    """A mapping from task to weight. Each step draws one task with probability weight / sum of weights."""
    steps: int
    """Number of weight updates, at most."""
    batch: int
    """Examples in each step."""
    lr: float
    """The learning rate at which ``schedule`` starts, or to which it rises."""
    schedule: Literal[
        "constant", "inverse_sqrt", "halving", "cosine", "stairs", "warmup_linear", "warmup_cosine"
    ] = "constant"
    """How the learning rate changes with the steps. ``training/schedule.py`` has the formulas."""
    warmup: int = 0
    """Number of steps in which the learning rate rises."""
    stair: int = 0
    """With schedule "stairs": after each period of this many steps, the learning rate is divided by ten."""
    first_stair: int = 0
    """With schedule "stairs": steps in the first period, if fewer than ``stair``."""
    optimizer: Literal["adam", "adamw", "bert_adam"] = "adam"
    """Adam with L2 decay, AdamW, or CLIP4IDC's BertAdam."""
    beta2: float = 0.999
    """Adam's second decay rate; the first is 0.9."""
    weight_decay: float = 0.0
    """Strength of the weight decay. With 0 there is no weight decay."""
    rates: Mapping[str, float] = field(default_factory=dict)
    """A mapping from a parameter group to the factor on ``lr`` for this group. 0: the group does not learn.
    """
    data: Literal["pairs", "single"] = "pairs"
    """The data of tasks with captions: the data set's pairs, or single pictures (``data.single``)."""
    evaluate_every: int = 0
    """Steps between evaluations on validation pairs. 0: no evaluations."""
    evaluate_from: int = 0
    """The score of an evaluation before this step never counts as a new best score."""
    patience: int = 0
    """The stage stops after this many evaluations without a new best score. 0: the stage never stops early.
    """
    metric: Literal["CIDEr-D", "ROUGE-L", "R@1"] = "CIDEr-D"
    """The metric that decides which evaluation is the best."""
    train_vision: bool = True
    """Whether the stage also trains the vision, if the vision has weights."""
    log_every: int = 50
    """Number of steps between lines of ``metrics.jsonl``."""
    save_every: int = 1000
    """Number of steps between checkpoints. A killed run loses at most this many steps."""
    max_grad_norm: float = 0.0
    """A gradient with a larger norm is scaled down to this norm. 0: gradients are never scaled."""
    precision: Precision = "fp32"
    """Precision of the arithmetic. bf16: matrix products in 16 bit, weights in 32 bit."""
    examples: Literal["", "captions", "pairs", "scenes"] = ""
    """The value of ``data.examples`` for this stage, used with this stage's ``exchange``. "": the stage uses
    both values from ``data``.
    """
    exchange: bool = False
    """The value of ``data.exchange`` for this stage, if the stage sets ``examples`` to "scenes", or to
    "captions" with ``changed_only``.
    """
    changed_only: bool = False
    """Leave out pairs that are known to be unchanged."""
    drop_last: bool = False
    """Skip the last batch of a pass over the examples if it is not full."""

    @property
    def learns_vision(self) -> bool:
        """Whether ``train_vision`` and ``rates`` let the vision learn."""
        return self.train_vision and self.rates.get("vision", 1.0) > 0


@dataclass(frozen=True)
class Recipe:
    """The settings of a whole run: one method, one vision, one data source, stages in order, one seed."""

    name: str
    """Name of the recipe in messages and bundles."""
    description: str
    """One line that ``whatchanged recipes`` prints about the recipe."""
    stages: tuple[StageConfig, ...]
    method: MethodSettings
    seed: int = 1234
    """Seed of all random numbers."""
    vision: VisionSettings = field(default_factory=default_vision)
    data: DataSettings = field(default_factory=default_source)

    @cached_property
    def tasks(self) -> Mapping[str, Task]:
        """All tasks that a stage may mix: the tasks of the method and the tasks of the vision."""
        return {**self.method.tasks, **self.vision.tasks}

    def false_captions(self, data: str) -> int:
        """Return the number of false captions that each pair needs in the stages with this ``data`` ("pairs"
        or "single")."""
        tasks = [self.tasks[name] for stage in self.stages if stage.data == data for name in stage.tasks]
        return max((task.false_captions for task in tasks), default=0)

    @property
    def tokens_stay(self) -> bool:
        """Whether a picture has the same tokens during the whole run.

        Tokens stay the same if no stage trains the vision and the pictures come from a data set. A pool's
        pictures are augmented anew at each visit.
        """
        frozen = all(not stage.learns_vision for stage in self.stages)
        return self.data.on_disk and frozen and self.vision.learns
