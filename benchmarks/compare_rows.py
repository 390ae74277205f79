"""What ``compare.py`` compares: the rows, and the one small set of sizes and rates that they share."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from whatchanged.errors import RecipeError
from whatchanged.recipes import BackboneConfig, DatasetConfig, FeaturesConfig, PatchesConfig, PoolConfig
from whatchanged.recipes.methods import LearnerSettings
from whatchanged.recipes.methods.clip4idc import CLIP4IDCConfig
from whatchanged.recipes.methods.pcl import PCLConfig
from whatchanged.recipes.methods.scorer import ScorerConfig
from whatchanged.recipes.reader import load_recipe
from whatchanged.recipes.schema import Recipe, StageConfig
from whatchanged.recipes.sources import DataSettings
from whatchanged.recipes.visions import VisionSettings
from whatchanged.training.run_folder import read_recipe


@dataclass(frozen=True)
class Row:
    """One row of a table: a recipe on one vision (one of ``TOKENS``, "features", "pixels" or "patches")."""

    name: str
    vision: str
    recipe: str
    settings: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """What its runs are called on disk."""
        changed = [setting.partition("=")[0].split(".")[-1] for setting in self.settings]
        return "-".join([self.vision, self.recipe, *changed])


TOKENS = ("plain", "matched")
"""Visions that are the frozen tokens of a trained run, see ``compare_tokens``."""
PCL, SCORER = "pcl-table4-4-mlm-mvcl-fda", "scorer-table6-5-scorer-cbr"


def all_methods(vision: str) -> tuple[Row, ...]:
    """The methods and their baselines on one vision."""
    return (
        Row("PCL", vision, PCL),
        Row("PCL, every word (ours)", vision, PCL, ("method.every_word=true",)),
        Row("SCORER: Subtraction", vision, "scorer-table6-1-subtraction"),
        Row("SCORER: RR", vision, "scorer-table6-2-rr"),
        Row("SCORER + CBR", vision, SCORER),
        Row("CLIP4IDC: FT1", vision, "clip4idc-tiny-ft1"),
        Row("CLIP4IDC: FT2", vision, "clip4idc-tiny-ft2"),
        Row("CLIP4IDC", vision, "clip4idc-tiny"),
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
}
TABLES: Mapping[str, tuple[str, ...]] = {
    "comparison": ("matched",),
    "table4": ("table4",),
    "plain": ("plain",),
    "grids": ("features", "pixels", "patches"),
}


@dataclass(frozen=True)
class Plan:
    """What all runs share; ``settings.json`` in OUT keeps what must not change between two launches.

    twin: the data set that is captioned. out: the folder of the runs and tables. vision_run, pool, tokens: a
    trained run, drawn triples, and the triples' tokens as that run sees them. seconds or pairs: the budget of
    a run. grid: rows and columns of stored features. picture: width and height that the others read.
    """

    twin: Path
    out: Path
    vision_run: Path | None
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
        """Where stored features of the twin's pictures lie."""
        return self.out / "features"

    def clock(self) -> float:
        """Seconds of the processor, all threads together; with a GPU those on the wall."""
        return time.process_time() if self.device.type == "cpu" else time.perf_counter()


HEAD_WIDTH, LONGEST = 32, 28
"""Width of an attention head, and the most ids of a caption."""


def recipe_of(row: Row, plan: Plan, seed: int, steps: Sequence[int]) -> Recipe:
    """A row's recipe at the common size with this many steps a stage; a tenth of them warms up."""
    recipe = replace(common(load_recipe(row.recipe, row.settings), row, plan), seed=seed)
    stages = [
        replace(stage, steps=count, warmup=max(1, count // 10))
        for stage, count in zip(recipe.stages, steps, strict=True)
    ]
    return replace(recipe, stages=tuple(stages))


def common(recipe: Recipe, row: Row, plan: Plan) -> Recipe:
    """The recipe with the sizes, data and optimiser that all rows share; tasks and switches stay its own."""
    return replace(
        recipe,
        method=common_method(recipe.method, plan),
        vision=common_vision(row, plan),
        data=common_data(row, plan),
        stages=tuple(common_stage(stage, row, plan) for stage in recipe.stages),
    )


def common_method(method: LearnerSettings, plan: Plan) -> LearnerSettings:
    """The method's settings at the common size."""
    width = plan.width
    heads = max(1, width // HEAD_WIDTH)
    shared: dict[str, Any] = {"width": width, "heads": heads, "dropout": plan.dropout, "max_length": LONGEST}
    match method:
        case PCLConfig():
            return replace(method, **shared, ffn=2 * width)
        case ScorerConfig():
            return replace(method, **shared, word_width=width)
        case CLIP4IDCConfig():
            return replace(
                method,
                **shared,
                ffn=2 * width,
                decoder_width=width,
                decoder_heads=heads,
                decoder_ffn=2 * width,
                text_width=width,
                text_heads=heads,
                text_ffn=2 * width,
                joint_width=width,
                intra_layers=3,
                inter_layers=1,
                decoder_layers=3,
                max_words=LONGEST - 1,
            )
    return method


def published_data(row: Row) -> DatasetConfig:
    """The ``[data]`` of the row's recipe. Raises RecipeError for a recipe that is not of a data set."""
    data = load_recipe(row.recipe).data
    if not isinstance(data, DatasetConfig):
        raise RecipeError(f"{row.recipe}: its data are no data set, so it cannot be a row.")
    return data


def common_data(row: Row, plan: Plan) -> DataSettings:
    """The pool for rows on tokens, the twin for all others."""
    if row.vision in TOKENS:
        return PoolConfig(path=str(plan.pool), tokens=str(plan.tokens), wording="full", validation=1)
    data = replace(published_data(row), path=str(plan.twin), wording="captions", validation=1)
    return replace(data, features=str(plan.features)) if row.vision == "features" else data


def common_stage(stage: StageConfig, row: Row, plan: Plan) -> StageConfig:
    """The stage with the common optimiser and batch.

    Batches are of pairs: where an example is a scene with both its pairs, half as many.
    """
    scenes = published_data(row).examples == "scenes"
    return replace(
        stage,
        batch=plan.batch // 2 if scenes else plan.batch,
        lr=plan.rate,
        schedule="cosine",
        optimizer="adam",
        weight_decay=0.0,
        rates={},
        max_grad_norm=1.0,
        evaluate_every=0,
        patience=0,
        save_every=10**6,
        log_every=20,
    )


def common_vision(row: Row, plan: Plan) -> VisionSettings:
    """The vision that the rows of one group share.

    Raises RecipeError for tokens without ``--vision-run``, and where no features are stored.
    """
    width, height = plan.picture
    if row.vision in TOKENS:
        if plan.vision_run is None:
            raise RecipeError(f"{row.name}: rows on tokens need --vision-run RUN; see --help.")
        return read_recipe(plan.vision_run).vision
    if row.vision == "features":
        rows, columns = plan.grid
        grids = next(plan.features.glob("*.npy"), None)
        if grids is None:
            raise RecipeError(
                f"{plan.features}: no features are stored here. Run: python -m benchmarks.compare {plan.twin}"
                f" {plan.out} --rows grids --vision-run RUN --pairs N, which stores them first."
            )
        stored = np.load(grids, mmap_mode="r").shape[0]
        return FeaturesConfig(rows=rows, columns=columns, feature_width=stored)
    if row.vision == "pixels":
        return BackboneConfig(image_width=width, image_height=height, channels=(16, 32, 48), blocks=2)
    return PatchesConfig(image_width=width, image_height=height, patch=8)
