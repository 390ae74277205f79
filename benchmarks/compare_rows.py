"""What ``compare.py`` compares: the rows, and the one small set of sizes and rates that they share."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from whatchanged.recipes.reader import load_recipe
from whatchanged.recipes.schema import CLIP4IDCConfig, PCLConfig, Recipe, ScorerConfig, VisionConfig
from whatchanged.training.run_folder import read_recipe


@dataclass(frozen=True)
class Row:
    """One row of a table: a recipe on one way of seeing (``TOKENS``, "features", "pixels" or "patches")."""

    name: str
    seeing: str
    recipe: str
    settings: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """What its runs are called on disk."""
        return "-".join(
            [self.seeing, self.recipe, *(s.partition("=")[0].split(".")[-1] for s in self.settings)]
        )


TOKENS = ("plain", "matched")
"""Ways of seeing that are the tokens of a trained run, see ``compare_tokens``."""
PCL, SCORER = "pcl-table4-4-mlm-mvcl-fda", "scorer-table6-5-scorer-cbr"


def all_methods(seeing: str) -> tuple[Row, ...]:
    """The methods and their baselines on one way of seeing."""
    return (
        Row("PCL", seeing, PCL),
        Row("PCL, every word (ours)", seeing, PCL, ("method.every_word=true",)),
        Row("SCORER: Subtraction", seeing, "scorer-table6-1-subtraction"),
        Row("SCORER: RR", seeing, "scorer-table6-2-rr"),
        Row("SCORER + CBR", seeing, SCORER),
        Row("CLIP4IDC: FT1", seeing, "clip4idc-tiny-ft1"),
        Row("CLIP4IDC: FT2", seeing, "clip4idc-tiny-ft2"),
        Row("CLIP4IDC", seeing, "clip4idc-tiny"),
    )


GROUPS: Mapping[str, tuple[Row, ...]] = {
    "plain": all_methods("plain"),
    "matched": all_methods("matched"),
    "table4": (
        Row("1 fine-tuning only", "matched", "pcl-table4-1-none"),
        Row("2 MLM", "matched", "pcl-table4-2-mlm"),
        Row("3 MLM, MVCL", "matched", "pcl-table4-3-mlm-mvcl"),
        Row("4 MLM, MVCL, FDA: PCL", "matched", PCL),
        Row("5 as 4, no difference encoder", "matched", "pcl-table4-5-no-difference-encoder"),
        Row("6 as 4, no distractor judging", "matched", "pcl-table4-6-no-distractor-judging"),
    ),
    "features": all_methods("features"),
    "pixels": (Row("PCL", "pixels", PCL), Row("SCORER + CBR", "pixels", SCORER)),
    "patches": (
        Row("CLIP4IDC: FT1", "patches", "clip4idc-tiny-ft1"),
        Row("CLIP4IDC: FT2", "patches", "clip4idc-tiny-ft2"),
        Row("CLIP4IDC", "patches", "clip4idc-tiny"),
    ),
}  # fmt: skip
TABLES: Mapping[str, tuple[str, ...]] = {
    "comparison": ("matched",),
    "table4": ("table4",),
    "plain": ("plain",),
    "grids": ("features", "pixels", "patches"),
}


@dataclass(frozen=True)
class Plan:
    """What all runs share; ``settings.json`` in OUT keeps what must not change between two sittings."""

    twin: Path
    out: Path
    seen: Path | None
    pool: Path | None
    tokens: Path | None
    seconds: float | None
    pairs: int | None
    seeds: int
    width: int
    batch: int
    rate: float
    dropout: float
    grid: tuple[int, int]
    picture: tuple[int, int]
    device: torch.device

    @property
    def features(self) -> Path:
        return self.out / "features"

    def clock(self) -> float:
        """Seconds of the processor, all threads together; with a GPU those on the wall."""
        return time.process_time() if self.device.type == "cpu" else time.perf_counter()


HEAD_WIDTH, LONGEST = 32, 28
"""Width of an attention head, and the most ids of a caption."""


def common(recipe: Recipe, row: Row, plan: Plan) -> Recipe:
    """The recipe with the sizes, data and optimiser that all rows share; tasks and switches stay its own.

    Batches are of pairs: where an example is a scene with both its pairs, half as many.
    """
    method, width = recipe.method, plan.width
    heads, ffn = max(1, width // HEAD_WIDTH), 2 * width
    shared: dict[str, Any] = {"width": width, "heads": heads, "dropout": plan.dropout, "max_length": LONGEST}
    if isinstance(method, PCLConfig):
        method = replace(method, **shared, ffn=ffn)
    elif isinstance(method, ScorerConfig):
        method = replace(method, **shared, word_width=width)
    elif isinstance(method, CLIP4IDCConfig):
        words: dict[str, Any] = {"decoder_width": width, "decoder_heads": heads, "decoder_ffn": ffn}
        text: dict[str, Any] = {
            "text_width": width,
            "text_heads": heads,
            "text_ffn": ffn,
            "joint_width": width,
        }
        layers: dict[str, Any] = {"intra_layers": 3, "inter_layers": 1, "decoder_layers": 3}
        method = replace(method, **shared, ffn=ffn, **words, **text, **layers, max_words=LONGEST - 1)
    data = replace(recipe.data, path=str(plan.twin), wording="captions", validation=1)
    if row.seeing in TOKENS:
        pool: dict[str, Any] = {"source": "pool", "path": str(plan.pool), "features": str(plan.tokens)}
        data = replace(data, **pool, wording="full", ordered_pairs="official", preparation="none")
    if row.seeing == "features":
        data = replace(data, features=str(plan.features))
    pairs = plan.batch // 2 if data.examples == "scenes" else plan.batch
    stages = tuple(
        replace(
            stage, batch=pairs, lr=plan.rate, schedule="cosine", optimizer="adam", weight_decay=0.0, rates={},
            clip=1.0, evaluate_every=0, patience=0, save_every=10**6, log_every=20,
        )
        for stage in recipe.stages
    )  # fmt: skip
    return replace(recipe, method=method, vision=vision(row.seeing, plan), data=data, stages=stages)


def vision(seeing: str, plan: Plan) -> VisionConfig:
    """How the rows of one group see."""
    width, height = plan.picture
    if seeing == "features":
        rows, columns = plan.grid
        stored = np.load(next(plan.features.glob("*.npy")), mmap_mode="r").shape[0]
        return VisionConfig(kind="features", rows=rows, columns=columns, feature_width=stored)
    if seeing in TOKENS and plan.seen is not None:
        return read_recipe(plan.seen).vision
    if seeing == "pixels":
        return VisionConfig(
            kind="backbone", image_width=width, image_height=height, channels=(16, 32, 48), blocks=2, keep=0
        )
    return VisionConfig(kind="patches", image_width=width, image_height=height, patch=8)


def recipe_of(row: Row, plan: Plan, seed: int, steps: Sequence[int]) -> Recipe:
    """A row's recipe at the common size with this many steps a stage; a tenth of them warms up."""
    recipe = replace(common(load_recipe(row.recipe, row.settings), row, plan), seed=seed)
    stages = [
        replace(stage, steps=n, warmup=max(1, n // 10)) for stage, n in zip(recipe.stages, steps, strict=True)
    ]
    return replace(recipe, stages=tuple(stages))
