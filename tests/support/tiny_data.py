"""Recipes at toy size, and tiny data of every kind that they read, drawn when it is first asked for."""

from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from unittest import mock

import numpy as np

from benchmarks.same_numbers import write_list
from benchmarks.same_numbers_tree import recipe_table
from benchmarks.shrink import shrink
from whatchanged.recipes import DatasetConfig, FeaturesConfig, PoolConfig
from whatchanged.recipes.schema import Recipe
from whatchanged.synth.birds.twin import write_birds
from whatchanged.synth.clevr.twin import write_twin
from whatchanged.training.build import build_vision
from whatchanged.training.objects import pool

STEPS = 60
"""Steps of a stage: more than one pass over the tiny data."""
SCENES, SHARD, SHARDS, BIRDS = 24, 10, 2, 10
PICTURE = (96, 64)
SEEDS = {"own": 5, "other": 6}
"""The data that a recipe reads, and data that a changed path names."""
MERGES = ("t h", "th e</w>", "c u", "a n", "b a", "cu b", "cub e</w>", "i s</w>")


@cache
def small(name: str) -> list[str]:
    """The settings that make a recipe of the package small.

    Its batches do not share out the examples evenly, so that it shows what becomes of the rest. A backbone
    sees a data set's pictures smaller; a pool's have the size that they were drawn in.
    """
    table = recipe_table(name)
    settings = [setting.replace(".batch=6", ".batch=7") for setting in shrink(table, STEPS)]
    if table["data"]["source"] == "dataset" and table["vision"]["kind"] in ("backbone", "objects"):
        settings += ["vision.image_width=48", "vision.image_height=32"]
    return settings


@dataclass
class TinyData:
    """``which`` is "own" or "other" everywhere."""

    root: Path
    _made: dict[str, Path] = field(default_factory=dict)

    def _once(self, name, make):
        if name not in self._made:
            folder = self.root / name
            make(folder)
            self._made[name] = folder
        return self._made[name]

    def twin(self, which="own"):
        """Pairs of drawn CLEVR scenes, and the list of them."""

        def make(folder):
            write_twin(folder, SCENES, seed=SEEDS[which], size=PICTURE)
            write_list(folder)

        return self._once(f"twin-{which}", make)

    def birds(self, which="own"):
        """The three sets of drawn birds."""
        return self._once(f"birds-{which}", lambda folder: write_birds(folder, BIRDS, SEEDS[which], 64))

    def pool(self, size=PICTURE, which="own"):
        """Drawn triples of this size."""

        def make(folder):
            with mock.patch.object(pool, "SHARD", SHARD):
                pool.write_description(folder, SEEDS[which], *size)
                for number in range(SHARDS):
                    pool.draw_shard(folder, SEEDS[which], size, number)

        return self._once(f"pool-{which}-{size[0]}x{size[1]}", make)

    def features(self, rows, columns, width, which="own"):
        """Random grids of all pictures that there are."""

        def make(folder):
            folder.mkdir()
            rng = np.random.default_rng(SEEDS[which])
            folders = [self.twin(), self.twin("other"), self.birds(), self.birds("other")]
            for name in sorted({p.name for root in folders for p in root.rglob("*.[jp][pn]g")}):
                np.save(folder / f"{name}.npy", rng.random((width, rows * columns), dtype=np.float32))

        return self._once(f"features-{which}-{rows}x{columns}x{width}", make)

    def tokens(self, vision):
        """Stored tokens of the pool, not of any picture, as many and as wide as a vision makes them."""
        built = build_vision(vision)
        sizes = (built.patches, getattr(built, "stored_width", 1))

        def make(folder):
            folder.mkdir()
            rng = np.random.default_rng(0)
            for number in range(SHARDS):
                found = rng.random((SHARD, 2, 3, *sizes), dtype=np.float32).astype(np.float16)
                found[..., -1] = np.arange(sizes[0])  # the cells
                np.save(folder / f"{number:05d}.tokens.npy", found)

        return self._once(f"tokens-{sizes[0]}x{sizes[1]}", make)

    @cached_property
    def merges(self):
        """A merges file as CLIP's, with few merges."""
        path = self.root / "merges.txt"
        path.write_text("#version: 0.2\n" + "\n".join(MERGES) + "\n")
        return path

    def placed(self, recipe: Recipe) -> Recipe:
        """The recipe with the folders that it needs and does not name."""
        if isinstance(recipe.data, PoolConfig):
            size = (recipe.vision.image_width, recipe.vision.image_height)
            path = recipe.data.path or str(self.pool(size))
            return replace(recipe, data=replace(recipe.data, path=path))
        return replace(recipe, data=self._places(recipe, recipe.data))

    def _places(self, recipe: Recipe, data: DatasetConfig) -> DatasetConfig:
        vision = recipe.vision
        results = {"path": data.path or str(self.twin())}
        if isinstance(vision, FeaturesConfig):
            grid = (vision.rows, vision.columns, vision.feature_width)
            results["features"] = data.features or str(self.features(*grid))
        if any(stage.data == "single" for stage in recipe.stages):
            results["single"] = data.single or str(self.birds() / "cub")
        if any("fgvc" in stage.tasks for stage in recipe.stages):
            results["labelled"] = data.labelled or str(self.birds() / "nabirds")
        return replace(data, **results)
