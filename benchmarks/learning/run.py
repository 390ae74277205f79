"""One run of ``learning.py``: trains and tests a row with a rate and a seed, or reads it back from disk.

OUT/ROW-rate-pairs-seed/    a run's folder, which ``whatchanged export`` reads
  made.json                 its settings, its data, and the code that each launch ran
  curve.jsonl               a line each --every pairs
  test-NAME.json            the scores on a test set, with the last weights
"""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from benchmarks.learning.captioning import captioned, write_predictions
from benchmarks.learning.record import described, truths_of
from benchmarks.learning.rows import ROWS
from benchmarks.learning.scores import Outcomes, outcomes_of, plain, scores_of
from benchmarks.record import code_that_runs, machine
from whatchanged.datasets import open_dataset
from whatchanged.errors import OutputError, RecipeError
from whatchanged.evaluation.metrics.truth import Truths
from whatchanged.evaluation.report.retrieval_report import retrieval
from whatchanged.files import write_output
from whatchanged.json_values import read_json
from whatchanged.recipes.reader import load_recipe
from whatchanged.recipes.schema import Recipe, StageConfig
from whatchanged.records import PairRecord
from whatchanged.training.batches import Example
from whatchanged.training.build import make_method, open_sources
from whatchanged.training.checkpoint import State, read_checkpoint, save_checkpoint
from whatchanged.training.data.pictures import picture_reader
from whatchanged.training.data.token_cache import cached_tokens
from whatchanged.training.loop import Watcher, steps_done
from whatchanged.training.methods import Method
from whatchanged.training.run import measure_tokens, run_recipe, seed_everything
from whatchanged.training.run_folder import keep, keep_vocabulary
from whatchanged.training.validation import similarity
from whatchanged.training.vision.base import has_backbone
from whatchanged.training.weights.trained import open_trained

DEVICE = torch.device("cpu")
RETRIEVED = ("R@1", "R@5", "R@10")


@dataclass(frozen=True)
class Twin:
    """A data set with known scenes: its records, the pairs as tokens, and the truth."""

    records: Sequence[PairRecord]
    examples: Sequence[Example]
    truths: Truths


@dataclass(frozen=True)
class Plan:
    """What all runs of one command share.

    vision: a model or run. data: what identifies the data, see ``learning_record``. tests: data sets by name.
    settings: of every row, beyond its own. every: pairs between two points of a curve.
    """

    out: Path
    vision: str
    pool: Path
    tokens: Path
    val: Path
    tests: Mapping[str, Path]
    data: Mapping[str, Any]
    pairs: int
    every: int
    resamples: int
    settings: tuple[str, ...] = ()

    @cached_property
    def trained(self) -> Method:
        """The method whose vision all rows share."""
        return open_trained(Path(self.vision))[1]

    @cached_property
    def validation(self) -> Twin:
        """The pairs of the curves."""
        return self.twin(self.val)

    @cached_property
    def tested(self) -> Mapping[str, Twin]:
        """The test sets by name."""
        return {name: self.twin(folder) for name, folder in self.tests.items()}

    @cached_property
    def tests_told(self) -> Mapping[str, Any]:
        """What is recorded of each test set."""
        return {name: described(folder) for name, folder in self.tests.items()}

    def twin(self, folder: Path) -> Twin:
        """All pairs of a data set whose scenes are known, as tokens.

        Raises DatasetError where a pair has no truth, RecipeError where the vision reads no pictures.
        """
        vision = self.trained.vision
        if not has_backbone(vision):
            raise RecipeError(
                f"{self.vision}: it has no backbone. Name a run or a model that reads pictures."
            )
        config = open_trained(Path(self.vision))[0].vision
        read = cached_tokens(picture_reader(config, "", folder), vision, {})
        records = open_dataset(folder).records
        examples = tuple(
            Example(r, r.captions[0], read(r.before), read(r.after)) for r in records if r.after is not None
        )
        return Twin(records, examples, truths_of(folder, records))


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
    def settings(self) -> tuple[str, ...]:
        """What differs from the row's recipe."""
        return (*ROWS[self.row][1], *self.plan.settings)

    @property
    def recipe(self) -> Recipe:
        """The row's recipe with the run's data, rate and seed, its stages as long as its pairs pay."""
        recipe = load_recipe(ROWS[self.row][0], self.settings)
        data = recipe.data.with_folders(str(self.plan.pool), str(self.plan.tokens))
        whole = sum(stage.steps for stage in recipe.stages)
        stages = tuple(self._stage(stage, stage.steps / whole) for stage in recipe.stages)
        return replace(recipe, data=data, stages=stages, seed=self.seed)

    def _stage(self, stage: StageConfig, share: float) -> StageConfig:
        steps = max(1, round(self.plan.pairs * share / stage.batch))
        warmup = max(1, round(stage.warmup * steps / stage.steps))
        every = max(1, self.plan.every // stage.batch)
        return replace(
            stage,
            steps=steps,
            warmup=warmup,
            lr=self.rate,
            evaluate_every=0,
            log_every=every,
            save_every=every,
        )

    @property
    def _last(self) -> Path:
        return self.folder / "checkpoints" / "last.safetensors"

    def _after(self, stage: str) -> Path:
        """The weights at the end of a stage that learns retrieval."""
        return self.folder / "checkpoints" / f"end-{stage}.safetensors"

    @property
    def _made(self) -> Path:
        return self.folder / "made.json"

    def train(self) -> None:
        """From the beginning, or from the last point on, to the end.

        Raises OutputError where the folder holds a run of other data or settings.
        """
        recipe, validation = self.recipe, self.plan.validation  # now: opening it draws random numbers
        self._launch()
        if not self._last.exists():
            self._begin(recipe)
        if not read_checkpoint(self._last).state.finished:
            watch = self._points(recipe, validation)
            run_recipe(recipe, self.folder, resume=True, device=DEVICE.type, quiet=True, watch=watch)

    def _launch(self) -> None:
        """Note which code goes on with the run; a finished run is left as it is."""
        made = self.made()
        own = {"settings": list(self.settings), "data": self.plan.data}
        other = [name for name, value in own.items() if made and made[name] != value]
        if other:
            raise OutputError(
                f"{self.folder}: holds a run of other {' and '.join(other)}. Choose another folder than"
                f" {self.plan.out}."
            )
        if self._last.exists() and read_checkpoint(self._last).state.finished:
            return
        code = code_that_runs()
        launch = {"commit": code.commit, "changed": code.changed}
        launches = made.get("code", [])
        if launch not in launches[-1:]:
            launches = [*launches, launch]
        self.folder.mkdir(parents=True, exist_ok=True)
        about = {**own, "code": launches, "processor": machine()["processor"]}
        write_output(self._made, json.dumps(about, indent=1))

    def made(self) -> dict[str, Any]:
        """What ``made.json`` says; {} before the first launch."""
        if not self._made.exists():
            return {}
        results: dict[str, Any] = read_json(self._made.read_text(encoding="utf-8"))
        return results

    def _begin(self, recipe: Recipe) -> None:
        """A run's folder whose checkpoint has the shared vision, and nothing else that was trained."""
        sources = open_sources(recipe, self.folder)
        seed_everything(recipe.seed)
        method = make_method(recipe, sources.vocabulary, sources.longest_caption)
        method.vision.load_state_dict(self.plan.trained.vision.state_dict(), strict=False)
        measure_tokens(method.vision, sources.train)
        keep(recipe, self.folder, DEVICE, None)
        keep_vocabulary(sources.vocabulary, self.folder)
        save_checkpoint(self._last, State(), method, None)

    def _points(self, recipe: Recipe, validation: Twin) -> Watcher:
        """Adds a point to the curve, and keeps the weights at the end of a stage that learns retrieval."""
        done = pairs_read(recipe, read_checkpoint(self._last).state)
        before = max((point["seconds"] for point in self.curve() if point["pairs"] <= done), default=0.0)
        began = time.process_time()

        def watch(method: Method, state: State) -> None:
            stage = recipe.stages[state.stage]
            seconds = before + time.process_time() - began
            self._point(recipe, method, validation, state, seconds)
            if "retrieval" in stage.tasks and state.step == stage.steps:
                save_checkpoint(self._after(stage.name), state, method, None)

        return watch

    def _point(self, recipe: Recipe, method: Method, validation: Twin, state: State, seconds: float) -> None:
        """One more line of the curve; lines of steps that are taken anew are dropped."""
        said = captioned(method, validation.examples, DEVICE)
        point = {
            "pairs": pairs_read(recipe, state),
            "stage": recipe.stages[state.stage].name,
            "seconds": round(seconds, 2),
            "losses": {name: total / count for name, (total, count) in sorted(state.window.items())},
            "distinct": len(set(said)),
            **plain(scores_of(said, validation.records, validation.truths, 0)),
        }
        kept = [line for line in self.curve() if line["pairs"] < point["pairs"]]
        write_output(self.folder / "curve.jsonl", "".join(f"{json.dumps(line)}\n" for line in [*kept, point]))

    def curve(self) -> list[dict[str, Any]]:
        """The points so far."""
        file = self.folder / "curve.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def _test_file(self, name: str) -> Path:
        return self.folder / f"test-{name}.json"

    def test(self) -> None:
        """Caption each test set that has no scores yet with the last weights, and score it."""
        missing = [name for name in self.plan.tests if not self._test_file(name).exists()]
        if not missing:
            return
        recipe = self.recipe
        sources = open_sources(recipe, self.folder)
        method = make_method(recipe, sources.vocabulary, sources.longest_caption)
        for name in missing:
            read_checkpoint(self._last).restore_model(method)
            twin = self.plan.tested[name]
            said = captioned(method, twin.examples, DEVICE)
            write_predictions(self.folder / f"predictions-{name}.jsonl", twin.records, said)
            outcomes: Outcomes = outcomes_of(said, twin.records, twin.truths)
            results = scores_of(said, twin.records, twin.truths, self.plan.resamples)
            results |= {"outcomes": outcomes, "parameters": learned(method)}
            if recipe.method.embeds_captions:
                results["retrieval"] = self._retrieval(recipe, method, twin)
            write_output(self._test_file(name), json.dumps(results, indent=1))

    def _retrieval(self, recipe: Recipe, method: Method, twin: Twin) -> dict[str, Any]:
        """R@k of the changed pairs after each stage that learns retrieval, and with the last weights."""
        weights = {f"after {s.name}": self._after(s.name) for s in recipe.stages if "retrieval" in s.tasks}
        results = {}
        for when, file in {**weights, "at the end": self._last}.items():
            read_checkpoint(file).restore_model(method)
            results[when] = retrieved(method, twin)
        return results

    def result(self) -> dict[str, Any] | None:
        """All that is known of the run; None where it has not come to its end."""
        curve = self.curve()
        whole = sum(stage.steps * stage.batch for stage in self.recipe.stages)
        if not curve or curve[-1]["pairs"] < whole:
            return None
        made = self.made()
        tests = {
            name: read_json(self._test_file(name).read_text(encoding="utf-8"))
            for name in self.plan.tests
            if self._test_file(name).exists()
        }
        return {
            "row": self.row,
            "recipe": ROWS[self.row][0],
            "settings": list(self.settings),
            "rate": self.rate,
            "seed": self.seed,
            "pairs": self.plan.pairs,
            "code": made["code"],
            "processor": made["processor"],
            "curve": curve,
            "tests": tests,
        }


def pairs_read(recipe: Recipe, state: State) -> int:
    """Pairs of all steps so far."""
    return steps_done(recipe, state) * recipe.stages[state.stage].batch


def learned(method: Method) -> int:
    """Parameters that learn."""
    return sum(p.numel() for p in method.parameters() if p.requires_grad)


def retrieved(method: Method, twin: Twin) -> dict[str, dict[str, float]]:
    """R@k in both directions among the changed pairs and their captions.

    A pair with the very same text is right too. Equal scores count as if they were shuffled.
    """
    changed = [example for example in twin.examples if example.record.changed]
    found = similarity(method, ((example, example.record.captions) for example in changed), DEVICE)
    blocks = retrieval(found, equal_texts=True)
    return {
        direction: {name: blocks[direction]["expected"][name] for name in RETRIEVED}
        for direction in ("text_to_pair", "pair_to_text")
    }


def runs_in(plan: Plan) -> Iterator[Run]:
    """The runs of OUT on the same data with the same settings, of whichever command, in the order of rows."""
    for row in ROWS:
        for folder in sorted(plan.out.glob(f"{row}-rate*-pairs*-seed*")):
            rate, pairs, seed = _named(folder.name.removeprefix(row))
            run = Run(row, rate, seed, replace(plan, pairs=pairs))
            made = run.made()
            if made and made["data"] == plan.data and made["settings"] == list(run.settings):
                yield run


def _named(end: str) -> tuple[float, int, int]:
    """Rate, pairs and seed of "-rate0.001-pairs96-seed3"."""
    rate, rest = end.removeprefix("-rate").split("-pairs")
    pairs, seed = rest.split("-seed")
    return float(rate), int(pairs), int(seed)
