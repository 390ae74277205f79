"""Times, on a GPU, training steps and captioning of recipes at published sizes, and the features they read.

    python -m benchmarks.speed.gpu [--device cuda] [--recipes NAME,...] [--steps 20] [--features NAME,...]

A step is that of the training loop (``loop.take_step``): the batch is copied to the device, and loss,
gradient and update are computed. The data are random, of the recipe's shapes, its batch and 7 to 11 words a
caption; reading examples is not timed. Captioning encodes pairs and decodes them greedily and with three
beams. Features are those of pictures that lie in memory, by a backbone of random weights. Each is computed in
both precisions, in turn, after three rounds that are not counted. "planned" memory and operations are those
of ``train --plan``; "peak" is the most that torch held.
"""

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.record import Watch, add_record_option, write_result
from whatchanged.launch import Precision
from whatchanged.plugins import imported
from whatchanged.recipes.reader import load_recipe
from whatchanged.recipes.schema import Recipe, StageConfig
from whatchanged.records import PairRecord
from whatchanged.training.batches import Batch, Draw, Example
from whatchanged.training.build import make_method
from whatchanged.training.checkpoint import State
from whatchanged.training.device import in_precision
from whatchanged.training.estimate import estimate, expected_vocabulary
from whatchanged.training.features.backbones import BACKBONES, SIDE
from whatchanged.training.loop import take_step
from whatchanged.training.methods import Method
from whatchanged.training.schedule import make_optimizer
from whatchanged.training.validation import decode_memory

RECIPES = (
    "pcl-clevr-authors",
    "pcl-clevr-paper",
    "scorer-clevr-authors",
    "scorer-clevr-paper",
    "clip4idc-clevr-authors",
    "duda-clevr-paper",
    "dirl-clevr-paper",
)
PRECISIONS: tuple[Precision, ...] = ("fp32", "bf16")
WORDS = (7, 11)
"""The least and the most of a caption."""
WARM = 3
"""Rounds that are not counted."""
CAPTIONED = 256
"""Pairs that are captioned together."""
PICTURES = 128
"""Pictures of which a backbone computes the features together."""
PLACE = Path("random.png")
APART = "losses differ by, %"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--recipes", default=",".join(RECIPES))
    parser.add_argument("--features", default="resnet101-layer3,efficientnet-lite0-stride16")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--pairs", type=int, default=CAPTIONED, help="captioned together")
    add_record_option(parser, "gpu")
    options = parser.parse_args()
    device = torch.device(options.device)
    rows = []
    with Watch() as watch:
        for name in options.recipes.split(","):
            for row in recipe_rows(load_recipe(name), device, options.steps, options.pairs):
                rows.append({"recipe": name, **row})
                print(json.dumps(rows[-1]), flush=True)
        for name in options.features.split(","):
            rows.append({"recipe": name, "what": "features", **features_row(name, device, options.steps)})
            print(json.dumps(rows[-1]), flush=True)
    if options.record:
        card = torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu"
        decimals = {name: 1 for row in rows for name, value in row.items() if isinstance(value, float)}
        decimals |= {name: 2 for name in decimals if "GB" in name} | {APART: 3}
        figures = {"rows": rows, "decimals": decimals, "device": card}
        write_result(options.record, "rows", figures, watch=watch, seeds={"torch": 0})


def recipe_rows(recipe: Recipe, device: torch.device, steps: int, pairs: int) -> list[dict[str, Any]]:
    """A row for each task of each stage, and rows of captioning."""
    torch.manual_seed(0)
    vocabulary, _ = expected_vocabulary(recipe)
    method = make_method(recipe, vocabulary).to(device)
    planned = {stage.name: stage for stage in estimate(recipe, vocabulary, 1, 1)}
    rows = []
    for number, stage in enumerate(recipe.stages):
        for task in stage.tasks:
            row = step_row(recipe, method, number, task, device, steps)
            about = planned[stage.name]
            if len(stage.tasks) == 1:
                row["planned GB"] = about.memory / 1e9
                row["T operations a second, bf16"] = about.operations / 1e9 / row["ms, bf16"]
            rows.append(row)
    return rows + captioning_rows(recipe, method, pairs, device)


def step_row(
    recipe: Recipe, method: Method, number: int, task: str, device: torch.device, steps: int
) -> dict[str, Any]:
    """Milliseconds of a step and peak memory in both precisions, and how much the losses before it differ."""
    stage = recipe.stages[number]
    batch = random_batch(recipe, stage, method, task)
    rows = len(batch.ids)
    draw = Draw(task, batch.pin_memory() if device.type == "cuda" else batch, {}, rows)
    row: dict[str, Any] = {"what": f"{stage.name}: {task}", "pairs": rows}
    fp32, bf16 = (loss_without_dropout(method, task, batch, precision, device) for precision in PRECISIONS)
    for precision in PRECISIONS:
        stages = tuple(replace(one, precision=precision) for one in recipe.stages)
        of_precision = replace(recipe, stages=stages)
        optimizer = make_optimizer(method, stage)
        state = State(stage=number, step=stage.warmup + 1)

        def step(
            optimizer: torch.optim.Optimizer = optimizer, of: Recipe = of_precision, state: State = state
        ) -> None:
            take_step(method, optimizer, draw, of, state, device)

        row[f"ms, {precision}"], row[f"peak GB, {precision}"] = timed(step, steps, device)
    row[APART] = 100 * abs(1 - bf16 / fp32)
    return row


@torch.no_grad()
def loss_without_dropout(
    method: Method, task: str, batch: Batch, precision: Precision, device: torch.device
) -> float:
    """The loss, its random draws from seed 1."""
    method.eval()
    torch.manual_seed(1)
    with in_precision(precision, device):
        terms = method.loss(task, batch.to(device))
    return float(torch.stack([term.float() for term in terms.values()]).sum())


def captioning_rows(recipe: Recipe, method: Method, pairs: int, device: torch.device) -> list[dict[str, Any]]:
    """Milliseconds for so many pairs, greedily and with three beams, in both precisions."""
    method.eval()
    shape, kind = shape_of(recipe)
    before, after = (
        torch.from_numpy(np.stack([random_picture(shape, kind) for _ in range(pairs)])).to(device)
        for _ in range(2)
    )
    rows = []
    for beams in (1, 3):
        row: dict[str, Any] = {"what": f"captions, {beams} beam{'s'[: beams > 1]}", "pairs": pairs}
        for precision in PRECISIONS:

            @torch.inference_mode()
            def caption(precision: Precision = precision, beams: int = beams) -> None:
                with in_precision(precision, device):
                    memory = method.encode(before, after)
                    decode_memory(method, memory, pairs, device, beams, False)

            row[f"ms, {precision}"], row[f"peak GB, {precision}"] = timed(caption, 3, device)
        rows.append(row)
    return rows


def features_row(name: str, device: torch.device, steps: int) -> dict[str, Any]:
    """Milliseconds for ``PICTURES`` pictures in both precisions."""
    torch.manual_seed(0)
    network = BACKBONES[name].build().eval().to(device)
    pictures = torch.rand(PICTURES, 3, SIDE, SIDE, device=device).contiguous(
        memory_format=torch.channels_last
    )
    row: dict[str, Any] = {"pairs": PICTURES}
    for precision in PRECISIONS:

        @torch.inference_mode()
        def compute(precision: Precision = precision) -> None:
            with in_precision(precision, device):
                network(pictures)

        row[f"ms, {precision}"], row[f"peak GB, {precision}"] = timed(compute, steps, device)
    return row


def timed(action: Callable[[], None], times: int, device: torch.device) -> tuple[float, float]:
    """Mean milliseconds of an action, and the most gigabytes that torch held meanwhile."""
    for _ in range(WARM):
        action()
    on_gpu = device.type == "cuda"
    if on_gpu:
        torch.cuda.synchronize(device)
        torch.cuda.reset_peak_memory_stats(device)
    began = time.perf_counter()
    for _ in range(times):
        action()
    if on_gpu:
        torch.cuda.synchronize(device)
    seconds = time.perf_counter() - began
    peak = torch.cuda.max_memory_allocated(device) / 1e9 if on_gpu else 0.0
    return 1000 * seconds / times, peak


def random_batch(recipe: Recipe, stage: StageConfig, method: Method, task: str) -> Batch:
    """A batch of the stage with random pictures and captions; every other pair is changed."""
    numbers = np.random.default_rng(0)
    examples = stage.examples or recipe.data.examples
    scenes = stage.data == "pairs" and examples == "scenes"
    shape, kind = shape_of(recipe)
    false = recipe.tasks[task].false_captions

    def caption() -> str:
        return " ".join(
            f"word{n}" for n in numbers.integers(0, 1000, numbers.integers(WORDS[0], WORDS[1] + 1))
        )

    def example(changed: bool) -> Example:
        said = caption()
        record = PairRecord(
            "random", "0", "0", "train", "pair_caption", PLACE, PLACE, (said,), changed=changed, labels=(0, 0)
        )
        pictures = [random_picture(shape, kind) for _ in range(2)]
        return Example(record, said, pictures[0], pictures[1], tuple(caption() for _ in range(false)))

    count = max(1, method.batch_size(task, stage.batch))
    made = [example(stage.changed_only or bool(number % 2)) for number in range(count)]
    if scenes:
        made += [example(False) for _ in made]
    return method.collate(made)


def shape_of(recipe: Recipe) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and type of a picture as the recipe's vision reads it."""
    picture, _ = imported(recipe.vision.planned)(recipe.vision)
    return picture.shape, picture.dtype


def random_picture(shape: tuple[int, ...], kind: np.dtype[Any]) -> NDArray[Any]:
    """Random pixels or features."""
    random = torch.rand(shape).numpy()
    return (255 * random).astype(kind) if kind == np.uint8 else random.astype(kind)


if __name__ == "__main__":
    main()
