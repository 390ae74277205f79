"""Trains Table 5's four PCL rows on drawn birds: do captioned and labelled single pictures help?

    python -m benchmarks.learning.birds WORK [--minutes 60] [--seeds 0 1 2] [--pairs 200] [--tested 280]
        [--learning 800] [--steps 1200] [--device cpu]

Draws WORK/twin, stores the features of its pictures by EfficientNet-Lite0 (WORK/grids; needs the extra
``photo``), trains WORK/ROW-SEED, captions the test pairs into WORK/ROW-SEED/test.jsonl, and prints a table of
the rows that all seeds have finished. The same command resumes an interrupted one, and several processes may
share WORK.

All rows have the same ``--learning`` steps of pre-training and then the same ``--steps`` of captioning, so no
row gains by more steps. In rows with single pictures, half of the pre-training steps read them. ``SETTINGS``
and ``STAGES`` hold every setting that differs from the recipe: features of a frozen network as in the paper,
averaged over 3 x 3 parts of its 7 x 7 grid; a small model; captioning that predicts every word
(``method.every_word``); the last weights, because so few validation pairs cannot select better ones.

Columns: ROUGE-L and CIDEr-D on prepared words, then the share of sentences, and of complete paragraphs, that
are true of their birds. The 95 % intervals resample seeds and test pairs 2,000 times, alike for all seeds and
rows. The first rows need no picture. "one for all" gives every pair the same training paragraph, of 400 the
best on the validation pairs. "a writer" is a human's paragraph, which is removed from the references.
"""

import argparse
import fcntl
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import adaptive_avg_pool2d

from benchmarks.learning.captioning import captioned, write_predictions
from benchmarks.markdown import table
from benchmarks.record import add_record_option, write_result
from whatchanged.datasets import open_dataset
from whatchanged.datasets.preparation import preparation
from whatchanged.evaluation.metrics.cider import cider_d
from whatchanged.evaluation.metrics.ngrams import count
from whatchanged.evaluation.metrics.rouge import rouge_l
from whatchanged.images import open_image, resize
from whatchanged.recipes.reader import load_recipe
from whatchanged.recipes.schema import Recipe
from whatchanged.records import PairRecord
from whatchanged.synth.birds.twin import write_birds
from whatchanged.training.batches import Example
from whatchanged.training.data.pictures import picture_reader
from whatchanged.training.features.backbones import open_backbone
from whatchanged.training.run import run_recipe
from whatchanged.training.run_folder import open_run
from whatchanged.worlds.birds.bird import Bird
from whatchanged.worlds.birds.language import is_true
from whatchanged.worlds.birds.truth import read_truth

ROWS = (
    "pcl-table5-1-b2w",
    "pcl-table5-2-b2w-cub",
    "pcl-table5-3-b2w-nabirds",
    "pcl-table5-4-b2w-cub-nabirds",
)
SIDE, SPECIES = 128, 12
"""Of the drawn pictures."""
PARTS = 3
"""Parts of a picture's side that features are averaged over."""
DRAWS, CONSTANTS = 2000, 400
"""Resamples of the intervals, and paragraphs that are tried as the one for all pairs."""
SIDE_BY_SIDE = 8
"""Pictures that the backbone reads at once; more are slower on a CPU."""
SETS = ("birds_to_words", "cub", "nabirds")
BACKBONE = "efficientnet-lite0-stride32"
LEAST = 0.1
"""Least deviation that a feature is divided by."""
SETTINGS = (
    *("method.width=64", "method.heads=2", "method.ffn=192", "method.dropout=0", "method.every_word=true"),
    *(f"vision.rows={PARTS}", f"vision.columns={PARTS}", "vision.feature_width=1280"),
)
STAGE: dict[str, object] = {"warmup": 50, "lr": 2e-3, "log_every": 100, "save_every": 250}
STAGES: dict[str, dict[str, object]] = {
    "single": {**STAGE, "batch": 32},
    "pretrain": {**STAGE, "batch": 32},
    "caption": {
        **STAGE,
        "batch": 16,
        "schedule": "cosine",
        "weight_decay": 0,
        "evaluate_every": 0,
        "evaluate_from": 0,
        "patience": 0,
        "metric": "CIDEr-D",
    },
}
MEASURES = ("ROUGE-L", "CIDEr-D", "sentences true", "paragraphs true")
Scores = NDArray[np.float64]
"""(measures, test pairs)."""


def recipe_of(row: str, seed: int, work: Path, learning: int, steps: int) -> Recipe:
    """The row's recipe at this size; ``learning`` steps are shared by all stages before captioning."""
    plain = load_recipe(row)
    twin, before = work / "twin", len(plain.stages) - 1
    settings = [*SETTINGS, f"seed={seed}", f"data.path={twin / SETS[0]}", f"data.features={work / 'grids'}"]
    if any(stage.data == "single" for stage in plain.stages):
        settings.append(f"data.single={twin / 'cub'}")
    if any("fgvc" in stage.tasks for stage in plain.stages):
        settings += [f"data.labelled={twin / 'nabirds'}", f"method.classes={SPECIES}"]
    for stage in plain.stages:
        own = {"steps": steps if stage.name == "caption" else learning // before, **STAGES[stage.name]}
        settings += [f"stage.{stage.name}.{key}={value}" for key, value in own.items()]
    return load_recipe(row, settings)


def make_data(work: Path, pairs: int, tested: int, device: str) -> None:
    """Draw the birds and store their features, where they are missing; one process at a time, others wait."""
    work.mkdir(parents=True, exist_ok=True)
    twin, grids = work / "twin", work / "grids"
    with (work / ".data.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if not twin.exists():
            write_birds(twin, pairs, 5, SIDE, tested=tested, most=SPECIES)
        if not grids.exists():
            store_grids(twin, grids, device)


def store_grids(twin: Path, out: Path, device: str) -> None:
    """The backbone's features of every picture of the three sets, an .npy (PARTS², F) each, all or none.

    Each number has mean 0 and deviation 1 over the pairs' training pictures. Numbers that hardly vary there
    have a smaller deviation.
    """
    backbone = open_backbone(BACKBONE)
    backbone.network.to(device)
    records = [record for name in SETS for record in open_dataset(twin / name).records]
    pictures = sorted({p for record in records for p in (record.before, record.after) if p is not None})
    grids = np.empty((len(pictures), PARTS**2, backbone.width), np.float32)
    for start in range(0, len(pictures), SIDE_BY_SIDE):
        pixels = [resize(open_image(path), backbone.size) for path in pictures[start : start + SIDE_BY_SIDE]]
        with torch.inference_mode():
            seen = backbone.grid_features(torch.from_numpy(np.stack(pixels)).to(device))
        square = seen.transpose(1, 2).reshape(len(pixels), -1, backbone.rows, backbone.columns)
        means = adaptive_avg_pool2d(square, PARTS).flatten(2).transpose(1, 2)
        grids[start : start + SIDE_BY_SIDE] = means.cpu().numpy()
    train = {p for record in split_of(twin / SETS[0], "train") for p in (record.before, record.after)}
    known = grids[[path in train for path in pictures]].reshape(-1, backbone.width)
    grids = (grids - known.mean(0)) / known.std(0).clip(min=LEAST)
    draft = out.with_name(f".{out.name}.{os.getpid()}")
    draft.mkdir()
    for path, grid in zip(pictures, grids.astype(np.float16), strict=True):
        np.save(draft / f"{path.name}.npy", grid)
    draft.rename(out)


@contextmanager
def mine(run: Path) -> Iterator[bool]:
    """Whether this process alone works on the run; while the block lasts, no other one can."""
    with run.with_name(f".{run.name}.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield True


def train_row(recipe: Recipe, run: Path, seconds: float, device: str) -> None:
    """Train as long as there is time; caption the test pairs when it is done."""
    state = run_recipe(recipe, run, True, seconds, device, quiet=True)
    if state.finished:
        caption_test(run, Path(recipe.data.path), device)


def caption_test(run: Path, pairs: Path, device: str) -> None:
    """Write the captions of the test pairs."""
    recipe, trained, _ = open_run(run)
    method = trained.to(torch.device(device))
    read = picture_reader(recipe.vision, recipe.data.stored, pairs)
    records = split_of(pairs, "test")
    both = [(record, record.after) for record in records if record.after is not None]
    examples = [Example(record, "", read(record.before), read(after)) for record, after in both]
    write_predictions(run / "test.jsonl", records, captioned(method, examples, torch.device(device)))


def split_of(pairs: Path, split: str) -> list[PairRecord]:
    """The captioned pairs of a split."""
    return list(open_dataset(pairs, split=split).records)


def references(record: PairRecord) -> tuple[str, ...]:
    """A pair's paragraphs in prepared words."""
    return tuple(" ".join(preparation("pcl-birds").words(caption)) for caption in record.captions)


def scores(
    said: Sequence[str], records: Sequence[PairRecord], wanted: Sequence[Sequence[str]], pairs: Path
) -> Scores:
    """``MEASURES`` of each caption, x100; CIDEr-D counts its words' documents among these records."""
    corpus, birds = count(said, wanted), read_truth(pairs)
    true = [
        judge(caption, *(birds[path.name] for path in (record.before, record.after) if path))
        for caption, record in zip(said, records, strict=True)
    ]
    return 100 * np.stack([rouge_l(corpus), cider_d(corpus), *np.array(true, float).T]).astype(np.float64)


def judge(caption: str, *birds: Bird) -> tuple[float, bool]:
    """Share of the sentences that are true, and whether the whole caption is; what cannot be read is not."""
    sentences = [sentence for sentence in caption.split(".") if sentence.strip()]
    true = sum(is_true(sentence, *birds) is True for sentence in sentences)
    return true / max(len(sentences), 1), is_true(caption, *birds) is True


def without_pictures(pairs: Path) -> dict[str, Scores]:
    """Rows of what one paragraph reaches for all test pairs, and of what a writer does."""
    test, validation = split_of(pairs, "test"), split_of(pairs, "val")
    known = sorted({text for record in split_of(pairs, "train") for text in references(record)})
    tried = [known[i] for i in np.random.default_rng(0).permutation(len(known))[:CONSTANTS]]
    wanted, seen = [references(record) for record in validation], [references(record) for record in test]
    means = np.stack([scores([t] * len(validation), validation, wanted, pairs).mean(1) for t in tried])
    rows = {}
    for measure in (0, 1, 3):
        best = tried[int(means[:, measure].argmax())]
        print(f"best {MEASURES[measure]} on validation: {best}", file=sys.stderr, flush=True)
        rows[f"one for all: best {MEASURES[measure]}"] = scores([best] * len(test), test, seen, pairs)
    rows["a writer"] = scores([own[0] for own in seen], test, [own[1:] for own in seen], pairs)
    return rows


def rows_of(
    found: dict[tuple[str, int], Scores], fixed: dict[str, Scores], seeds: Sequence[int]
) -> list[dict[str, Any]]:
    """A row per row without pictures, and per recipe whose seeds are all finished: means with their ends."""
    rows = {name: own[None] for name, own in fixed.items()}
    for row in ROWS:
        if all((row, seed) in found for seed in seeds):
            rows[row] = np.stack([found[row, seed] for seed in seeds])  # (seeds, measures, pairs)
    rng = np.random.default_rng(0)
    pairs = next(iter(rows.values())).shape[2]
    drawn_seeds = rng.integers(len(seeds), size=(DRAWS, len(seeds)))
    drawn_pairs = rng.integers(pairs, size=(DRAWS, pairs))
    draws, listed = {}, []
    for name, own in rows.items():
        some = drawn_seeds % len(own)
        draws[name] = np.stack([own[s].mean(0)[:, p].mean(1) for s, p in zip(some, drawn_pairs, strict=True)])
        point = own.mean((0, 2))
        cells = {measure: _cell(point[k], draws[name][:, k]) for k, measure in enumerate(MEASURES)}
        if name in ROWS[1:] and ROWS[0] in rows:
            gain, more = point - rows[ROWS[0]].mean((0, 2)), draws[name] - draws[ROWS[0]]
            cells |= {
                f"{measure} over row 1": _cell(gain[k], more[:, k]) for k, measure in enumerate(MEASURES)
            }
        listed.append({"row": name, **cells})
    return listed


def table_of(rows: Sequence[dict[str, Any]]) -> str:
    """Markdown of ``rows_of``."""
    heads = [*MEASURES, *(f"{name} over row 1" for name in MEASURES)]
    body = (
        [row["row"], *(_text(row.get(head), signed=head.endswith("over row 1")) for head in heads)]
        for row in rows
    )
    return table(["row", *heads], *body)


def _cell(value: float, draws: NDArray[np.float64]) -> dict[str, float]:
    low, high = np.percentile(draws, [2.5, 97.5])
    return {"mean": float(value), "low": float(low), "high": float(high)}


def _text(cell: dict[str, float] | None, signed: bool) -> str:
    if cell is None:
        return ""
    mean = f"{cell['mean']:+.1f}" if signed else f"{cell['mean']:.1f}"
    return f"{mean} [{cell['low']:.1f}, {cell['high']:.1f}]"


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("work", type=Path)
    asked.add_argument("--minutes", type=float, default=60.0)
    asked.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    asked.add_argument("--pairs", type=int, default=200)
    asked.add_argument("--tested", type=int, default=280)
    asked.add_argument("--learning", type=int, default=800)
    asked.add_argument("--steps", type=int, default=1200)
    asked.add_argument("--device", default="cpu")
    add_record_option(asked, "birds")
    options = asked.parse_args()
    torch.set_num_threads(1)
    end = time.monotonic() + 60 * options.minutes
    make_data(options.work, options.pairs, options.tested, options.device)
    pairs, results = options.work / "twin" / SETS[0], {}
    test = split_of(pairs, "test")
    wanted = [references(record) for record in test]
    for seed in options.seeds:
        for row in ROWS:
            run = options.work / f"{row}-{seed}"
            with mine(run) as free:
                left = end - time.monotonic()
                if free and left > 0 and not (run / "test.jsonl").exists():
                    recipe = recipe_of(row, seed, options.work, options.learning, options.steps)
                    train_row(recipe, run, left, options.device)
            if (run / "test.jsonl").exists():
                said = [json.loads(line)["caption"] for line in (run / "test.jsonl").read_text().splitlines()]
                results[row, seed] = scores(said, test, wanted, pairs)
                each = ", ".join(f"{value:.1f}" for value in results[row, seed].mean(1))
                print(f"{row} seed {seed}: {', '.join(MEASURES)}: {each}", file=sys.stderr, flush=True)
    rows = rows_of(results, without_pictures(pairs), options.seeds)
    print(table_of(rows))
    if options.record:
        seeds = {f"run {number}": seed for number, seed in enumerate(options.seeds, 1)}
        write_result(options.record, "rows", {"rows": rows}, seeds={**seeds, "birds": 5})


if __name__ == "__main__":
    main()
