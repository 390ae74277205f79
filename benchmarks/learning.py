"""What PCL, SCORER + CBR and CLIP4IDC learn on the same frozen tokens: a curve each, and a test at its end.

    whatchanged synth clevr-pool POOL --scenes 4000 --seed 81 --size 240x160
    whatchanged features POOL TOKENS --run clevr-pcl --variants 2
    whatchanged synth clevr-change VAL --scenes 250 --seed 9200 --size 240x160
    whatchanged synth clevr-change TEST --scenes 500 --seed 9203 --size 240x160
    python -m benchmarks.learning OUT --pool POOL --tokens TOKENS --val VAL --test TEST --record

Each run is a folder OUT/ROW-rate-pairs-seed that ``whatchanged export`` reads. In it ``curve.jsonl`` has a
line each --every pairs: the mean of each loss since the line before, and the greedy captions of VAL scored
against references and truth. ``test.json`` has the scores on TEST with the last weights. Nothing is chosen
by TEST.

The rows are recipes (``ROWS``); the vision is --vision's, and the same for all. Its tokens are stored, frozen
and standardised. All rows draw their pairs from the same stream: the examples of a step follow from the
seed, the stage and the task. A step counts as a batch of pairs, also with FDA, which reads a seventh as many.

The command can be interrupted at any time; the same command goes on behind the last line of a curve. --record
writes down all runs of OUT that are finished and tested, also those of other commands. On a CPU
seconds are processor time.
"""

import argparse
import json
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from benchmarks.compare_tables import row_of
from benchmarks.record import add_record_option, code_that_runs, write_result
from whatchanged.captioner.bundle import DEFAULT
from whatchanged.cli.console import note
from whatchanged.datasets import open_dataset
from whatchanged.errors import RecipeError, WhatchangedError
from whatchanged.evaluation.io.predictions import Prediction
from whatchanged.evaluation.metrics.truth import Truths, read_truths
from whatchanged.files import write_output
from whatchanged.recipes.reader import load_recipe
from whatchanged.recipes.schema import Recipe, StageConfig
from whatchanged.records import PairRecord
from whatchanged.training.batches import Example
from whatchanged.training.build import make_method
from whatchanged.training.checkpoint import Checkpoint, State, read_checkpoint, save_checkpoint
from whatchanged.training.data.pictures import picture_reader
from whatchanged.training.data.sources import Sources, open_sources
from whatchanged.training.data.token_cache import cached_tokens
from whatchanged.training.loop import count_terms, due, next_stage, stage_draws, steps_done, take_step
from whatchanged.training.methods import Method
from whatchanged.training.run import check_tokens, measure_tokens, seed_everything
from whatchanged.training.run_folder import keep, keep_vocabulary
from whatchanged.training.schedule import make_optimizer
from whatchanged.training.validation import write_captions
from whatchanged.training.vision.base import PictureVision
from whatchanged.training.weights.trained import open_trained

ROWS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "pcl": ("clevr-frozen-pcl", ()),
    "scorer": ("clevr-scorer", ()),
    "clip4idc": ("clevr-clip4idc", ()),
    "pcl-masked": ("clevr-frozen-pcl", ("method.every_word=false", "vision.guided_attention=false")),
    "pcl-unguided": ("clevr-frozen-pcl", ("vision.guided_attention=false",)),
    "scorer-unguided": ("clevr-scorer", ("vision.guided_attention=false",)),
    "clip4idc-unguided": ("clevr-clip4idc", ("vision.guided_attention=false",)),
}
"""Row -> its recipe, and the settings that differ from it."""
NAMED = re.compile(r"-rate([0-9.e-]+)-pairs([0-9]+)-seed([0-9]+)")
"""What follows the row in the name of a run's folder."""
BATCH = 50
RATE = 1.5e-3
DEVICE = torch.device("cpu")


@dataclass(frozen=True)
class Plan:
    """What all runs of one command share. vision: a model or run. every: pairs between two points."""

    out: Path
    vision: str
    pool: Path
    tokens: Path
    val: Path
    test: Path | None
    pairs: int
    every: int
    resamples: int

    @cached_property
    def trained(self) -> Method:
        """The method whose vision all rows share."""
        return open_trained(Path(self.vision))[1]

    @cached_property
    def validation(self) -> "Twin":
        """The pairs of the curves."""
        return self.twin(self.val)

    def twin(self, folder: Path) -> "Twin":
        """All pairs of a drawn data set, as tokens."""
        vision = self.trained.vision
        if not isinstance(vision, PictureVision):
            raise RecipeError(
                f"{self.vision}: it has no backbone. Name a run or a model that reads pictures."
            )
        config = open_trained(Path(self.vision))[0].vision
        read = cached_tokens(picture_reader(config, "", folder), vision, {})
        records = open_dataset(folder).records
        examples = tuple(
            Example(r, r.captions[0], read(r.before), read(r.after)) for r in records if r.after is not None
        )
        return Twin(records, examples, read_truths(folder, records))


@dataclass(frozen=True)
class Twin:
    """A drawn data set: its records, the pairs as tokens, and the truth."""

    records: Sequence[PairRecord]
    examples: Sequence[Example]
    truths: Truths | None


@dataclass(frozen=True)
class Run:
    """One row with a rate and a seed."""

    row: str
    rate: float
    seed: int
    plan: Plan

    @property
    def folder(self) -> Path:
        """Where it lies."""
        return self.plan.out / f"{self.row}-rate{self.rate:g}-pairs{self.plan.pairs}-seed{self.seed}"

    @property
    def recipe(self) -> Recipe:
        """The row's recipe with the run's data, rate and seed, its stages as long as its pairs pay."""
        name, settings = ROWS[self.row]
        recipe = load_recipe(name, settings)
        data = recipe.data.with_folders(str(self.plan.pool), str(self.plan.tokens))
        whole = sum(stage.steps for stage in recipe.stages)
        stages = tuple(self._stage(stage, stage.steps / whole) for stage in recipe.stages)
        return replace(recipe, data=data, stages=stages, seed=self.seed)

    def _stage(self, stage: StageConfig, share: float) -> StageConfig:
        steps = max(1, round(self.plan.pairs * share / stage.batch))
        warmup = max(1, round(stage.warmup * steps / stage.steps))
        return replace(stage, steps=steps, warmup=warmup, lr=self.rate, evaluate_every=0)

    def train(self) -> None:
        """From the beginning, or from the last point on, to the end."""
        last = self.folder / "checkpoints" / "last.safetensors"
        recipe, validation = self.recipe, self.plan.validation  # now: opening it draws random numbers
        sources = open_sources(recipe, self.folder)
        seed_everything(recipe.seed)
        method = make_method(recipe, sources.vocabulary, sources.longest_caption)
        if not last.exists():
            self._begin(recipe, method, sources, last)
        start = read_checkpoint(last)
        start.restore_model(method)
        state = start.state
        while not state.finished:
            state = self._stage_of(recipe, method, sources, validation, start, state)
            save_checkpoint(last, state, method, None)
            start = read_checkpoint(last)

    def _begin(self, recipe: Recipe, method: Method, sources: Sources, last: Path) -> None:
        """A run's folder whose checkpoint has the shared vision, and nothing else that was trained."""
        method.vision.load_state_dict(self.plan.trained.vision.state_dict(), strict=False)
        measure_tokens(method.vision, sources.train)
        check_tokens(recipe, method)
        keep(recipe, self.folder, DEVICE, None)
        keep_vocabulary(sources.vocabulary, self.folder)
        code = code_that_runs()
        write_output(self.folder / "code.json", json.dumps({"commit": code.commit, "changed": code.changed}))
        save_checkpoint(last, State(), method, None)

    def _stage_of(
        self,
        recipe: Recipe,
        method: Method,
        sources: Sources,
        validation: "Twin",
        start: Checkpoint,
        state: State,
    ) -> State:
        """One stage from ``start`` on; the state behind it."""
        stage = recipe.stages[state.stage]
        optimizer = make_optimizer(method, stage)
        start.restore_optimizer(method, optimizer)
        start.restore_random()
        every, began, before = max(1, self.plan.every // stage.batch), time.process_time(), state.seconds
        for draw in stage_draws(recipe, method, sources, state, 0):
            values = take_step(method, optimizer, draw, recipe, state, DEVICE)
            count_terms(state.window, draw.task, values)
            state.step, state.positions = state.step + 1, draw.positions
            if due(state.step, every, stage.steps):
                state.seconds = before + time.process_time() - began
                self._point(recipe, method, validation, state)
                state.window = {}
                save_checkpoint(self.folder / "checkpoints" / "last.safetensors", state, method, optimizer)
        return next_stage(state, recipe, 0)

    def _point(self, recipe: Recipe, method: Method, validation: "Twin", state: State) -> None:
        """One more line of the curve; lines of steps that are taken anew are dropped."""
        stage = recipe.stages[state.stage]
        steps = steps_done(recipe, state)
        said = captions(method, validation)
        point = {
            "pairs": steps * stage.batch,
            "stage": stage.name,
            "seconds": round(state.seconds, 2),
            "losses": {name: total / count for name, (total, count) in sorted(state.window.items())},
            "distinct": len(set(said)),
            **plain(scores(said, validation, 0)),
        }
        kept = [line for line in self.curve() if line["pairs"] < point["pairs"]]
        write_output(self.folder / "curve.jsonl", "".join(f"{json.dumps(line)}\n" for line in [*kept, point]))
        shown = ", ".join(f"{name} {point[name]:.1f}" for name in ("CIDEr-D", "type right", "wholly true"))
        note(f"{self.folder.name}: {point['pairs']:,} pairs, {point['seconds']:.0f} s: {shown}")

    def curve(self) -> list[dict[str, Any]]:
        """The points so far."""
        file = self.folder / "curve.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def test(self) -> None:
        """Caption the test pairs with the last weights, and score them; once."""
        file = self.folder / "test.json"
        if self.plan.test is None or file.exists():
            return
        recipe = self.recipe
        sources = open_sources(recipe, self.folder)
        method = make_method(recipe, sources.vocabulary, sources.longest_caption)
        read_checkpoint(self.folder / "checkpoints" / "last.safetensors").restore_model(method)
        twin = self.plan.twin(self.plan.test)
        said = captions(method, twin)
        lines = [{"id": r.pair_id, "caption": c} for r, c in zip(twin.records, said, strict=True)]
        write_output(self.folder / "predictions.jsonl", "".join(f"{json.dumps(line)}\n" for line in lines))
        found = scores(said, twin, self.plan.resamples)
        found["parameters"] = sum(p.numel() for p in method.parameters() if p.requires_grad)
        write_output(file, json.dumps(found, indent=1))

    def result(self) -> dict[str, Any] | None:
        """All that is known of the run; None where it has not come to its end."""
        test, code = self.folder / "test.json", self.folder / "code.json"
        if not test.exists():
            return None
        name, settings = ROWS[self.row]
        return {
            "row": self.row,
            "recipe": name,
            "settings": list(settings),
            "rate": self.rate,
            "seed": self.seed,
            "pairs": self.plan.pairs,
            **json.loads(code.read_text()),
            "curve": self.curve(),
            "test": json.loads(test.read_text()),
        }


def known_runs(plan: Plan) -> Iterator[Run]:
    """All runs that lie in OUT, of whichever command, in the order of the rows."""
    for row in ROWS:
        for folder in sorted(plan.out.glob(f"{row}-rate*")):
            if found := NAMED.fullmatch(folder.name.removeprefix(row)):
                rate, pairs, seed = found.groups()
                yield Run(row, float(rate), int(seed), replace(plan, pairs=int(pairs)))


def captions(method: Method, twin: Twin) -> list[str]:
    """The greedy caption of every pair."""
    said = []
    for first in range(0, len(twin.examples), BATCH):
        said += write_captions(method, method.collate(twin.examples[first : first + BATCH]))
    return said


def scores(said: Sequence[str], twin: Twin, resamples: int) -> dict[str, Any]:
    """The scores of one caption a pair, as in a row of a comparison's tables."""
    predictions = tuple(Prediction(r.pair_id, c) for r, c in zip(twin.records, said, strict=True))
    found = row_of("", [({}, predictions)], twin.records, twin.truths, resamples)
    return {"scores": found["scores"], "types": found["types"]}


def plain(found: Mapping[str, Any]) -> dict[str, float]:
    """The scores without their intervals."""
    return {name: cell["mean"] for name, cell in found["scores"].items()}


def chosen(rows: str) -> Iterator[tuple[str, float]]:
    """The rows of a command, each with its rate: ``ROW=RATE,...``. A row may stand there several times."""
    for part in rows.split(","):
        row, _, rate = part.partition("=")
        if row not in ROWS:
            raise RecipeError(f"--rows {row}: choose among {', '.join(ROWS)}.")
        try:
            yield row, float(rate or RATE)
        except ValueError as error:
            raise RecipeError(
                f"--rows {part}: {rate!r} is no rate. Write ROW=RATE, as in pcl=1e-3."
            ) from error


def main() -> None:
    """Read the command line; train, test, record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--vision", default=DEFAULT, help="a model or run whose vision all rows share")
    parser.add_argument("--pool", type=Path, required=True, help="drawn triples to train on")
    parser.add_argument("--tokens", type=Path, required=True, help="their tokens, made by --vision")
    parser.add_argument("--val", type=Path, required=True, help="a drawn data set for the curves")
    parser.add_argument("--test", type=Path, help="a drawn data set for the test at the end")
    parser.add_argument(
        "--rows", default="pcl,scorer,clip4idc", help=f"ROW=RATE,...; rate {RATE:g} if left out"
    )
    parser.add_argument("--pairs", type=int, default=128_000, help="to train on, each run")
    parser.add_argument("--every", type=int, default=12_800, help="pairs between two points of a curve")
    parser.add_argument("--seeds", default="1", help="several, as in 1,2,3")
    parser.add_argument("--resamples", type=int, default=1000)
    add_record_option(parser, "learning")
    options = parser.parse_args()
    torch.set_num_threads(1)
    places = {name: getattr(options, name) for name in ("out", "vision", "pool", "tokens", "val", "test")}
    plan = Plan(**places, pairs=options.pairs, every=options.every, resamples=options.resamples)
    seeds = [int(seed) for seed in options.seeds.split(",")]
    runs = [Run(row, rate, seed, plan) for seed in seeds for row, rate in chosen(options.rows)]
    for run in runs:
        run.train()
        run.test()
    if options.record:
        every = [result for run in known_runs(plan) if (result := run.result()) is not None]
        print(write_result(options.record, "learning", {"runs": every}))


if __name__ == "__main__":
    try:
        main()
    except WhatchangedError as error:
        sys.exit(f"Error: {error}")
