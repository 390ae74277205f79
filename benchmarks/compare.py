"""The methods side by side: the same data, the same budget, several seeds, one table.

    whatchanged synth clevr-pool POOL --scenes 10300 --seed 81 --size 240x160
    whatchanged train clevr-see --data POOL --output SEE
    whatchanged features POOL TOKENS --run SEE --variants 2
    whatchanged train clevr-pcl --data POOL --features TOKENS --init SEE --output MATCHED \
      --set stages.match.steps=1000 --set stages.pretrain.steps=1 --set stages.caption.steps=1
    whatchanged synth clevr-change TWIN --scenes 2000 --seed 9200 --size 240x160
    python -m benchmarks.compare TWIN OUT --vision-run MATCHED --pool POOL --tokens TOKENS --pairs 12800 \
      --rate 3e-3

Every run captions TWIN's test split with its last weights. Nothing is chosen by a score on that split.
OUT/TABLE.md and OUT/TABLE.json are written after each seed. The command can be interrupted at any time: the
same command goes on with the runs that have no result in OUT yet, and more --seeds add to it.

``--rows`` names the tables:

comparison   all methods on the tokens of the run MATCHED (``compare_tokens``), matched between the two
             pictures. The trained vision is frozen and the same for all methods, which train on POOL through
             its stored TOKENS.
table4       the six rows of PCL's Table 4 on such tokens.
plain        as ``comparison``, without the matching.
grids        methods on TWIN's train split, with less to begin from. "features": those of MATCHED's backbone,
             averaged to --grid cells. "pixels": PCL and SCORER + CBR with a backbone of their own. "patches":
             CLIP4IDC and its baselines, with CLIP's layers random.

The budget of a run is --seconds of training, or --pairs to train on. On a CPU the seconds are processor time,
which other programs disturb least; a trial of each row tells how many steps they pay for. The stages of a
recipe get equal parts. A step of FDA counts as a batch, although it reads a seventh as many pairs, each with
six false captions. Opening the data, finding PCL's false captions, and what MATCHED learned before are in
nobody's budget.

Rows are published recipes: tasks, losses and switches are theirs. Sizes, batch, optimiser and rate are one
small set for all (``compare_rows.common``), because the published ones belong to another scale. A row marked
"ours" has a switch that its paper does not know. The floor is one sentence for all pairs: of the 200 most
frequent sentences of the train split the one with the best CIDEr-D on the val split.
"""

import argparse
import json
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from benchmarks.captioning import captioned, write_predictions
from benchmarks.compare_rows import GROUPS, PCL, TABLES, TOKENS, Plan, Row, published_data, recipe_of
from benchmarks.compare_tables import as_markdown, row_of
from benchmarks.compare_tokens import SharedVision, open_shared
from benchmarks.record import add_record_option, write_result
from whatchanged.cli.console import note, progress
from whatchanged.datasets import open_dataset
from whatchanged.errors import OutputError, RecipeError, WhatchangedError
from whatchanged.evaluation.io.predictions import Prediction, read_predictions
from whatchanged.evaluation.metrics.cider import cider_d
from whatchanged.evaluation.metrics.ngrams import count
from whatchanged.evaluation.metrics.truth import read_truths
from whatchanged.files import whole, write_output
from whatchanged.recipes.reader import dump_recipe, load_recipe
from whatchanged.recipes.schema import Recipe
from whatchanged.records import PairRecord
from whatchanged.training.batches import Example, PictureReader, StageInput, draws
from whatchanged.training.build import make_method
from whatchanged.training.checkpoint import State
from whatchanged.training.data.pictures import picture_reader
from whatchanged.training.data.sources import Sources, open_sources
from whatchanged.training.device import choose_device
from whatchanged.training.loop import take_step, train
from whatchanged.training.methods import Method, build_method, captioning
from whatchanged.training.run import seed_everything
from whatchanged.training.run_folder import environment, open_run
from whatchanged.training.schedule import make_optimizer
from whatchanged.training.vision.base import has_backbone

TRIED, SKIPPED = 10, 2
"""Steps of a trial that are timed, and steps before them that are not."""
BATCH = 50
FREQUENT = 200
FLOOR = "one sentence for all"


@lru_cache(maxsize=1)
def shared_vision(plan: Plan) -> SharedVision:
    """What all rows on tokens share, opened once."""
    if plan.vision_run is None or plan.pool is None or plan.tokens is None:
        raise RecipeError(
            "Rows on tokens need --vision-run RUN, --pool POOL and --tokens TOKENS; see --help."
        )
    with_false_captions = recipe_of(Row("PCL", "plain", PCL), plan, 0, (1, 1))
    return open_shared(plan.vision_run, with_false_captions, plan.out / "pool", plan.device)


def open_row(row: Row, recipe: Recipe, folder: Path, plan: Plan) -> tuple[Sources, Method]:
    """What a row trains on, and its method, freshly initialised."""
    if row.vision in TOKENS:
        shared = shared_vision(plan)
        sources, vision = shared.sources(published_data(row)), shared.tokens(row.vision == "matched")
        seed_everything(recipe.seed)
        method = build_method(recipe.method, vision, sources.vocabulary, sources.longest_caption)
    else:
        sources = open_sources(recipe, folder)
        seed_everything(recipe.seed)
        made = make_method(recipe, sources.vocabulary, sources.longest_caption)
        method = captioning(made, recipe.name)
    method.to(plan.device)
    return sources, method


def steps_of(row: Row, plan: Plan) -> tuple[int, ...]:
    """Steps of each stage that the budget pays, in equal parts; a trial's times are kept in OUT."""
    stages = len(load_recipe(row.recipe).stages)
    if plan.pairs is not None:
        return (max(1, round(plan.pairs / stages / plan.batch)),) * stages
    if plan.seconds is None:
        raise RecipeError("A run needs a budget: --seconds or --pairs.")
    kept = plan.out / "speeds.json"
    speeds = json.loads(kept.read_text()) if kept.exists() else {}
    if row.key not in speeds:
        speeds[row.key] = seconds_a_step(row, recipe_of(row, plan, 0, (SKIPPED + TRIED,) * stages), plan)
        write_output(kept, json.dumps(speeds, indent=1))
    return tuple(max(1, round(plan.seconds / stages / each)) for each in speeds[row.key])


def seconds_a_step(row: Row, recipe: Recipe, plan: Plan) -> list[float]:
    """Time of one step of each stage, the first steps left out."""
    trial = plan.out / f".trial.{os.getpid()}"
    times = []
    try:
        sources, method = open_row(row, recipe, trial, plan)
        for number, stage in enumerate(recipe.stages):
            given = StageInput(
                stage,
                sources.of(stage, recipe),
                recipe.tasks,
                (0, number),
                method.batch_size,
                method.collate,
            )
            optimizer, began = make_optimizer(method, stage), 0.0
            for step, draw in enumerate(draws(given, 0, {})):
                if step == SKIPPED:
                    began = plan.clock()
                take_step(method, optimizer, draw, recipe, State(stage=number, step=step), plan.device)
            times.append((plan.clock() - began) / TRIED)
    finally:
        shutil.rmtree(trial, ignore_errors=True)
    return times


@torch.inference_mode()
def store_grids(plan: Plan) -> None:
    """FEATURES/NAME.png.npy, (F, rows, columns) float16, of every picture of the twin that has none yet."""
    if plan.vision_run is None:
        raise RecipeError("Rows on stored grids need --vision-run RUN: a clevr-see run, see its recipe.")
    recipe, method, _ = open_run(plan.vision_run, "last")
    vision = method.vision
    if not has_backbone(vision):
        raise RecipeError(
            f"{plan.vision_run}: {recipe.name} has no backbone. Name a run that reads pictures."
        )
    vision.to(plan.device).eval()
    read = picture_reader(recipe.vision, "", plan.twin)
    plan.features.mkdir(parents=True, exist_ok=True)
    names = {
        path
        for record in open_dataset(plan.twin).records
        for path in (record.before, record.after)
        if path is not None
    }
    left = sorted(path for path in names if not (plan.features / f"{path.name}.npy").exists())
    with progress("grids", len(left)) as advance:
        for first in range(0, len(left), BATCH):
            paths = left[first : first + BATCH]
            pictures = torch.from_numpy(np.stack([read(path) for path in paths])).to(plan.device)
            found = vision.features(vision.normalise(pictures))  # (B, F, h, w)
            grids = F.adaptive_avg_pool2d(found, plan.grid).cpu().numpy().astype(np.float16)
            for path, grid in zip(paths, grids, strict=True):
                with whole(plan.features / f"{path.name}.npy") as draft, draft.open("wb") as file:
                    np.save(file, grid)
            advance(len(paths))


def run_row(row: Row, seed: int, plan: Plan, records: Sequence[PairRecord]) -> dict[str, Any]:
    """Train, caption the test pairs, write both down; a run that was broken off starts over."""
    folder = plan.out / "runs" / f"{row.key}-{seed}"
    shutil.rmtree(folder, ignore_errors=True)
    steps = steps_of(row, plan)
    recipe = recipe_of(row, plan, seed, steps)
    folder.mkdir(parents=True)
    write_output(folder / "recipe.toml", dump_recipe(recipe))
    sources, method = open_row(row, recipe, folder, plan)
    began = plan.clock()
    train(recipe, method, sources, folder, plan.device, quiet=True)
    trained = plan.clock() - began
    read = read_pictures(row, recipe, plan)
    examples = [
        Example(record, record.captions[0], read(record.before), read(record.after))
        for record in records
        if record.after is not None
    ]
    began = plan.clock()
    captions = captioned(method, examples, plan.device)
    taken = plan.clock() - began
    write_predictions(folder / "predictions.jsonl", records, captions)
    pairs = sum(steps) * plan.batch
    result = {
        "row": row.key,
        "seed": seed,
        "steps": steps,
        "pairs": pairs,
        "parameters": sum(parameter.numel() for parameter in method.parameters()),
        "train_seconds": round(trained, 3),
        "train_seconds_per_pair": trained / pairs,
        "caption_seconds_per_pair": taken / len(records),
    }
    write_output(folder / "result.json", json.dumps(result, indent=1))
    return result


def read_pictures(row: Row, recipe: Recipe, plan: Plan) -> PictureReader:
    """How a row's method reads the pictures of the twin."""
    if row.vision in TOKENS:
        return shared_vision(plan).read
    return picture_reader(recipe.vision, recipe.data.stored, Path(recipe.data.path))


def best_sentence(train: Sequence[PairRecord], val: Sequence[PairRecord]) -> str:
    """Of the most frequent training sentences the one that, said of every val pair, has the best CIDEr-D."""
    frequent = Counter(caption for record in train for caption in record.captions).most_common(FREQUENT)
    references = [record.captions for record in val]
    scores = {s: float(cider_d(count([s] * len(val), references)).mean()) for s, _ in frequent}
    return max(scores, key=lambda sentence: scores[sentence])


def results_of(row: Row, plan: Plan) -> Iterator[tuple[dict[str, Any], tuple[Prediction, ...]]]:
    """What lies in OUT of a row: each finished run's result and predictions, seed by seed."""
    for seed in range(1, plan.seeds + 1):
        folder = plan.out / "runs" / f"{row.key}-{seed}"
        if (folder / "result.json").exists():
            result = json.loads((folder / "result.json").read_text())
            yield result, read_predictions(folder / "predictions.jsonl")


def floor(plan: Plan, records: Sequence[PairRecord]) -> list[tuple[dict[str, Any], tuple[Prediction, ...]]]:
    """The constant sentence as a system of one seed, which nobody trained."""
    train, val = (open_dataset(plan.twin, split=split, pictures=False).records for split in ("train", "val"))
    sentence = best_sentence(train, val)
    return [({"sentence": sentence}, tuple(Prediction(r.pair_id, sentence) for r in records))]


def write_table(table: str, plan: Plan, records: Sequence[PairRecord], resamples: int) -> None:
    """OUT/TABLE.json with everything and OUT/TABLE.md to read, from the runs that are finished."""
    truths, rows = read_truths(plan.twin, records), []
    for group in TABLES[table]:
        for row in GROUPS[group]:
            own = list(results_of(row, plan))
            if own:
                rows.append({"group": group, **row_of(row.name, own, records, truths, resamples)})
    rows.append({"group": "floor", **row_of(FLOOR, floor(plan, records), records, truths, resamples)})
    settings = {**fixed(plan), "test_pairs": len(records), "environment": environment(plan.device)}
    settings["environment"].pop("command")
    document = {"table": table, "settings": settings, "resamples": resamples, "rows": rows}
    write_output(plan.out / f"{table}.json", json.dumps(document, indent=1, allow_nan=False) + "\n")
    head = (
        f"Each run: {budget(plan)} of training, batches of {plan.batch} pairs, width {plan.width}, rate"
        f" {plan.rate:g}. {len(records)} test pairs. Mean ± sd over seeds; x 100, from 'type right' on in %."
    )
    write_output(plan.out / f"{table}.md", as_markdown(table, head, rows))


def budget(plan: Plan) -> str:
    """The budget in words."""
    time_of = "core time" if plan.device.type == "cpu" else "GPU time"
    return f"{plan.pairs} pairs" if plan.seconds is None else f"{plan.seconds:g} s of {time_of}"


def fixed(plan: Plan) -> dict[str, Any]:
    """What every run in OUT shares."""
    shared = {name: getattr(plan, name) for name in ("width", "batch", "rate", "dropout")}
    paths = {
        "twin": plan.twin,
        "vision_run": plan.vision_run,
        "pool": plan.pool,
        "tokens": plan.tokens,
    }
    shared |= {name: None if path is None else path.name for name, path in paths.items()}
    shared |= {"seconds": plan.seconds, "pairs_trained": plan.pairs, "device": plan.device.type}
    return {**shared, "grid": list(plan.grid), "picture": list(plan.picture)}


def settle(plan: Plan) -> None:
    """Raises OutputError where OUT holds runs of other settings."""
    plan.out.mkdir(parents=True, exist_ok=True)
    kept = plan.out / "settings.json"
    if kept.exists() and json.loads(kept.read_text()) != fixed(plan):
        raise OutputError(f"{plan.out}: holds runs of other settings ({kept.name}). Choose another folder.")
    write_output(kept, json.dumps(fixed(plan), indent=1))


def compare(plan: Plan, tables: Sequence[str], resamples: int) -> None:
    """All runs that have no result yet, seed by seed, and the tables after each seed."""
    settle(plan)
    records = open_dataset(plan.twin, split="test", pictures=False).records
    groups = [group for table in tables for group in TABLES[table]]
    rows = list({row.key: row for group in groups for row in GROUPS[group]}.values())
    if any(row.vision == "features" for row in rows):
        store_grids(plan)
    for seed in range(1, plan.seeds + 1):
        for number, row in enumerate(rows, 1):
            if (plan.out / "runs" / f"{row.key}-{seed}" / "result.json").exists():
                continue
            result = run_row(row, seed, plan, records)
            where = f"seed {seed} of {plan.seeds}, row {number} of {len(rows)}"
            note(f"{where}: {row.key}: {result['pairs']:,} pairs in {result['train_seconds']:.1f} s")
        for table in tables:
            write_table(table, plan, records, resamples)


def sizes(text: str) -> tuple[int, int]:
    """AxB as two numbers."""
    first, _, second = text.partition("x")
    return int(first), int(second)


def main() -> None:
    """Read the command line and compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("twin", type=Path, help="a folder drawn by: whatchanged synth clevr-change")
    parser.add_argument("out", type=Path)
    parser.add_argument(
        "--vision-run", type=Path, help="a run whose tokens or backbone the methods read with"
    )
    parser.add_argument("--pool", type=Path, help="drawn triples to train on")
    parser.add_argument("--tokens", type=Path, help="their tokens, made by the run of --vision-run")
    either = parser.add_mutually_exclusive_group(required=True)
    either.add_argument("--seconds", type=float, help="of training, each run")
    either.add_argument("--pairs", type=int, help="to train on, each run")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rows", default="comparison", help=f"some of {','.join(TABLES)}")
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--grid", type=sizes, default=(5, 8), help="ROWSxCOLUMNS of the stored grids")
    parser.add_argument("--picture", type=sizes, default=(72, 48), help="WIDTHxHEIGHT that the others read")
    parser.add_argument("--device", default="auto")
    add_record_option(parser, "compare")
    options = parser.parse_args()
    plan = Plan(
        twin=options.twin,
        out=options.out,
        vision_run=options.vision_run,
        pool=options.pool,
        tokens=options.tokens,
        seconds=options.seconds,
        pairs=options.pairs,
        seeds=options.seeds,
        width=options.width,
        batch=options.batch,
        rate=options.rate,
        dropout=options.dropout,
        grid=options.grid,
        picture=options.picture,
        device=choose_device(options.device),
    )
    tables = options.rows.split(",")
    if unknown := [table for table in tables if table not in TABLES]:
        parser.error(f"--rows {unknown[0]}: choose among {', '.join(TABLES)}")
    compare(plan, tables, options.resamples)
    for table in tables:
        print((plan.out / f"{table}.md").read_text(encoding="utf-8"))
        if options.record:
            document = json.loads((plan.out / f"{table}.json").read_text(encoding="utf-8"))
            document["settings"].pop("environment")  # the result has its own account of the machine
            seeds = {f"run {number}": number for number in range(1, plan.seeds + 1)}
            write_result(f"{options.record}-{table}", "comparison", document, seeds=seeds)


if __name__ == "__main__":
    try:
        main()
    except WhatchangedError as error:
        sys.exit(f"Error: {error}")
