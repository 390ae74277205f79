"""Table 5's four PCL rows on drawn birds, three seeds, small: do captioned and labelled pictures help?

    python benchmarks/birds.py WORK [--minutes 40] [--seeds 0 1 2] [--pairs 800] [--steps 4000] [--device cpu]

Draws WORK/twin once, trains WORK/ROW-SEED (which goes on where it was stopped), captions the test pairs into
WORK/ROW-SEED/test.jsonl, and prints a table of the rows that all seeds have finished: ROUGE-L and CIDEr-D on
prepared words, and the share of captions that are true of their birds. Drawn paragraphs are so much alike
that one sentence for every pair has a ROUGE-L of about 54 already: look at the others first. Intervals are
95 %, of 2,000 draws of seeds and of test pairs within these; a row's difference from row 1 is taken on the
same draw of both.

Settings are the recipes' but for size, steps, rate and pictures: see ``SETTINGS``. Raw pixels in patches take
the place of ResNet's features, and captioning learns every word (``method.every_word``), which makes so few
steps do.
"""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from whatchanged.datasets import open_dataset
from whatchanged.datasets.preparation import preparation
from whatchanged.evaluation.cider import cider_d
from whatchanged.evaluation.ngrams import count
from whatchanged.evaluation.rouge import rouge_l
from whatchanged.recipes.reader import load_recipe
from whatchanged.recipes.schema import Recipe
from whatchanged.training.batches import Example
from whatchanged.training.data.pictures import reader
from whatchanged.training.run import open_run, run_recipe
from whatchanged.training.validation import write_captions
from whatchanged.worlds.birds.language import is_true
from whatchanged.worlds.birds.twin import MOST_SPECIES, read_truth, write_birds

ROWS = (
    "pcl-table5-1-b2w",
    "pcl-table5-2-b2w-cub",
    "pcl-table5-3-b2w-nabirds",
    "pcl-table5-4-b2w-cub-nabirds",
)
SIDE, PATCH, DRAWS, BATCH = 64, 16, 2000, 40
SETTINGS = (
    *("method.width=64", "method.heads=4", "method.ffn=192", "method.dropout=0.1", "method.every_word=true"),
    *(
        "vision.kind=patches",
        f"vision.image_width={SIDE}",
        f"vision.image_height={SIDE}",
        f"vision.patch={PATCH}",
    ),
)
PRETRAIN: dict[str, object] = {"batch": 16, "lr": 1e-3, "warmup": 100, "log_every": 100, "save_every": 250}
STAGES: dict[str, dict[str, object]] = {
    "single": PRETRAIN,
    "pretrain": PRETRAIN,
    "caption": {
        **PRETRAIN,
        "schedule": "cosine",
        "weight_decay": 0,
        "evaluate_every": 500,
        "evaluate_from": 0,
    },
}


def recipe_of(row: str, seed: int, twin: Path, steps: int) -> Recipe:
    """The row's recipe at this size, every stage with as many steps."""
    plain = load_recipe(row)
    settings = [*SETTINGS, f"seed={seed}", f"data.path={twin / 'birds_to_words'}"]
    settings += [f"data.single={twin / 'cub'}", f"data.labelled={twin / 'nabirds'}"]
    settings += [f"method.classes={MOST_SPECIES}"] if "fgvc" in plain.stages[-2].tasks else []
    for stage in plain.stages:
        own = {"steps": steps, **STAGES[stage.name]}
        settings += [f"stage.{stage.name}.{key}={value}" for key, value in own.items()]
    return load_recipe(row, settings)


def caption_test(run: Path, twin: Path, device: str) -> None:
    """Write the captions of the test pairs, by the best weights on validation."""
    recipe, method, _ = open_run(run)
    cast(nn.Module, method).to(device)
    read, lines = reader(recipe.vision, "", twin), []
    records = open_dataset(twin / "birds_to_words", split="test").records
    for start in range(0, len(records), BATCH):
        part = records[start : start + BATCH]
        pairs = [(record, record.after) for record in part if record.after is not None]
        examples = [Example(record, "", read(record.before), read(after)) for record, after in pairs]
        captions = write_captions(method, method.collate(examples).to(device))
        lines += [json.dumps({"id": r.pair_id, "caption": c}) for r, c in zip(part, captions, strict=True)]
    beside = run / ".test.jsonl"
    beside.write_text("\n".join(lines) + "\n")
    beside.replace(run / "test.jsonl")


def scores(run: Path, twin: Path) -> NDArray[np.float64]:
    """(3, test pairs): ROUGE-L, CIDEr-D (df of the test split), and 1 for a true caption, all x100."""
    records = open_dataset(twin / "birds_to_words", split="test").records
    said = [json.loads(line)["caption"] for line in (run / "test.jsonl").read_text().splitlines()]
    words = preparation("pcl-birds").words
    references = [tuple(" ".join(words(caption)) for caption in record.captions) for record in records]
    corpus, birds = count(said, references), read_truth(twin / "birds_to_words")
    true = [
        is_true(caption, *(birds[path.name] for path in (record.before, record.after) if path)) is True
        for caption, record in zip(said, records, strict=True)
    ]
    return 100 * np.stack([rouge_l(corpus), cider_d(corpus), np.array(true, float)]).astype(np.float64)


def table(found: dict[tuple[str, int], NDArray[np.float64]], seeds: list[int]) -> str:
    """Markdown: a row per recipe whose seeds are all finished."""
    rng = np.random.default_rng(0)
    pairs = next(iter(found.values())).shape[1]
    drawn_seeds = rng.integers(len(seeds), size=(DRAWS, len(seeds)))
    drawn_pairs = rng.integers(pairs, size=(DRAWS, len(seeds), pairs))
    lines = ["| row | ROUGE-L | CIDEr-D | true | ROUGE-L over row 1 | CIDEr-D over row 1 | true over row 1 |"]
    lines += ["|" + " --- |" * 7]
    first: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
    for row in ROWS:
        if any((row, seed) not in found for seed in seeds):
            continue
        own = np.stack([found[row, seed] for seed in seeds])  # (seeds, 3, pairs)
        draws = np.stack([
            np.mean([own[s][:, p].mean(1) for s, p in zip(some, places, strict=True)], axis=0)
            for some, places in zip(drawn_seeds, drawn_pairs, strict=True)
        ])  # fmt: skip
        point = own.mean((0, 2))
        cells = [_cell(point[k], draws[:, k]) for k in range(3)]
        if row == ROWS[0]:
            first, cells = (point, draws), [*cells, "", "", ""]
        elif first is not None:
            cells += [_cell(point[k] - first[0][k], draws[:, k] - first[1][:, k]) for k in range(3)]
        lines.append(f"| {row} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(value: float, draws: NDArray[np.float64]) -> str:
    low, high = np.percentile(draws, [2.5, 97.5])
    return f"{value:.1f} [{low:.1f}, {high:.1f}]"


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("work", type=Path)
    asked.add_argument("--minutes", type=float, default=40.0)
    asked.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    asked.add_argument("--pairs", type=int, default=800)
    asked.add_argument("--steps", type=int, default=4000)
    asked.add_argument("--device", default="cpu")
    options = asked.parse_args()
    torch.set_num_threads(1)
    end = time.monotonic() + 60 * options.minutes
    options.work.mkdir(parents=True, exist_ok=True)
    twin = options.work / "twin"
    if not twin.exists():
        write_birds(twin, options.pairs, seed=5, size=SIDE)
    found = {}
    for seed in options.seeds:
        for row in ROWS:
            run = options.work / f"{row}-{seed}"
            left = end - time.monotonic()
            if not (run / "test.jsonl").exists() and left > 0:
                state = run_recipe(
                    recipe_of(row, seed, twin, options.steps), run, True, left, options.device, quiet=True
                )
                if state.finished:
                    caption_test(run, twin, options.device)
            if (run / "test.jsonl").exists():
                found[row, seed] = scores(run, twin)
                each = ", ".join(f"{value:.1f}" for value in found[row, seed].mean(1))
                print(f"{row} seed {seed}: ROUGE-L, CIDEr-D, true: {each}", file=sys.stderr, flush=True)
    if found:
        print(table(found, options.seeds))


if __name__ == "__main__":
    main()
