"""What a recipe does, computed by the program itself on tiny data, to be compared with what another does.

A fingerprint has parts: when a run logs, saves and evaluates and with which rates; the examples of each
stage; the losses and what was learned in the first updates; what validates. Parts are computed when they are
first asked for. Weights that no update touches are no part: a key that only changes these does nothing.
"""

import hashlib
from copy import deepcopy
from dataclasses import dataclass, is_dataclass
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import numpy as np
import torch

from whatchanged.recipes.schema import Recipe
from whatchanged.training import loop
from whatchanged.training.batches import Draw, StageInput, plans, read, read_examples
from whatchanged.training.build import make_method, open_sources
from whatchanged.training.checkpoint import State
from whatchanged.training.data.sources import Sources
from whatchanged.training.run import measure_tokens
from whatchanged.training.schedule import learning_rate, make_optimizer
from whatchanged.training.validation import decode
from whatchanged.vocabulary import EOS

MODELS = 8
"""Fresh models that are kept. Some are large: those of a method or a vision with its defaults."""
UPDATES = 2
"""Steps that are really taken, beyond one of each task."""
HANDED_ON = ("clevr-see",)
"""Recipes that train the vision alone and hand on a method whose sizes the next recipe (clevr-pcl) must have,
since it begins from all of its tensors. Of these the fresh model counts, too, and what it writes."""


@dataclass
class Seen:
    """What the fingerprints of one session share: the sources and the fresh models."""

    folder: Path
    sources: dict
    models: dict


class Fingerprint:
    """The parts of one recipe by name."""

    def __init__(self, recipe: Recipe, seen: Seen) -> None:
        self.recipe, self.seen = recipe, seen
        self._parts = {}

    @property
    def names(self) -> list[str]:
        """The parts, those first that show most for what they cost."""
        stages = range(len(self.recipe.stages))
        parts = [f"{part} {stage}" for part in ("updates", "examples") for stage in stages]
        model = ["model"] if self.recipe.name in HANDED_ON else []
        sentences = ["sentences"] if self._learns_to_write or model else []
        return ["timeline", *model, *parts, "validation", *sentences]

    @property
    def _learns_to_write(self) -> bool:
        """Whether a stage trains more than the vision."""
        recipe = self.recipe
        tasks = [recipe.tasks[name] for stage in recipe.stages for name in stage.tasks]
        return not all(task.vision_only for task in tasks)

    def __getitem__(self, name: str):
        if name not in self._parts:
            part, _, stage = name.partition(" ")
            compute = getattr(self, f"_{part}")
            self._parts[name] = compute(int(stage)) if stage else compute()
        return self._parts[name]

    def difference(self, other: "Fingerprint", stage: int | None = None) -> str | None:
        """A part in which two recipes differ, None where they do the same.

        stage: the number of the stage to look at first.
        """
        if self.names != other.names:
            return "stages"
        names = sorted(self.names, key=lambda name: name not in ("timeline", f"updates {stage}"))
        return next((name for name in names if self[name] != other[name]), None)

    def _timeline(self):
        """All that the loop does, but for the learning itself, where no score ever rises."""
        done = []

        def stage_draws(recipe, method, sources, state, workers):
            stage = recipe.stages[state.stage]
            return (Draw("task", None, {}, 0) for _ in range(state.step, stage.steps))

        def take_step(method, optimizer, draw, recipe, state, *_):
            stage = recipe.stages[state.stage]
            done.append(("step", stage.name, learning_rate(stage, state.step)))
            return {}

        def validate(method, source, device, metric):
            done.append(("evaluates", metric))
            return {metric: 0.0}

        def keep_best(method, best, stage):
            done.append(("keeps the best of", stage))
            return State()

        stubs = {
            "stage_draws": stage_draws,
            "take_step": take_step,
            "validate": validate,
            "keep_best": keep_best,
            "write_means": lambda *given: done.append(("logs",)),
            "save_checkpoint": lambda path, *given: done.append(("saves", path.name)),
            "make_optimizer": lambda *given: SimpleNamespace(param_groups=[{"lr": 0.0}]),
            "RunLog": mock.MagicMock(),
        }
        with mock.patch.multiple(loop, **stubs):
            sources = SimpleNamespace(validation=None)
            nothing = torch.nn.Module()
            loop.train(self.recipe, nothing, sources, self.seen.folder / "none", torch.device("cpu"))
        return done

    def _model(self):
        """The fresh model's tensors, and the words."""
        return digest(self.fresh.state_dict()), self.sources.vocabulary.entries

    def _examples(self, number):
        """Which examples each step reads, and the first batch of each task."""
        planned = [(plan.task, plan.indices.tolist()) for plan in self._plans(number)]
        first = [digest(vars(draw.batch)) for draw in self._first_draws(number)]
        return planned, first

    def _updates(self, number):
        """The loss terms of the first batches, and the tensors that these steps changed."""
        stage, method = self.recipe.stages[number], deepcopy(self.fresh)
        optimizer = make_optimizer(method, stage)
        torch.manual_seed(0)
        results = []
        given = self._given(number)
        for plan in [*self._first_plans(number), *self._plans(number)[:UPDATES]]:
            state = State(stage=number, step=len(results))
            cpu = torch.device("cpu")
            results.append(loop.take_step(method, optimizer, read(given, plan), self.recipe, state, cpu))
        before, after = self.fresh.state_dict(), method.state_dict()
        return results, digest({n: t for n, t in after.items() if not torch.equal(t, before[n])})

    def _validation(self):
        """What is validated on, and the sentences that say that nothing changed."""
        source = self.sources.validation
        examples = [
            (example.record.pair_id, example.record.captions, digest([example.before, example.after]))
            for example in read_examples(source, range(len(source)))
        ]
        return examples, self.sources.no_change_captions

    def _sentences(self):
        """What the fresh model writes about two pairs where it may not end, and how sure it is."""
        method, source = deepcopy(self.fresh).eval(), self.sources.validation
        examples = list(read_examples(source, range(min(2, len(source)))))
        batch = method.collate(examples)
        step = method.step

        def endless_step(*given):
            scores, attention, cache = step(*given)
            scores[:, EOS] = -torch.inf
            return scores, attention, cache

        with mock.patch.object(method, "step", endless_step):
            results = decode(method, batch.before, batch.after)
        return [(row.ids, row.log_probability) for row in results]

    @cached_property
    def sources(self) -> Sources:
        """The data of the recipe, as a run would open it; recipes that ask for the same data share them."""
        recipe = self.recipe
        stages = [
            (s.name, dict(s.tasks), s.data, s.examples, s.exchange, s.changed_only, s.evaluate_every > 0)
            for s in recipe.stages
        ]
        method = recipe.method
        lengths = method.longest_caption(), method.longest_caption(single=True), method.labelled_classes
        asked = repr((recipe.data, recipe.vision, recipe.seed, stages, lengths, method.tasks))
        known = self.seen.sources
        if asked not in known:
            known[asked] = open_sources(recipe, self.seen.folder / f"run{len(known)}")
        return known[asked]

    @cached_property
    def fresh(self):
        """The recipe's method as a run starts it; recipes that build the same share it. Not to be trained."""
        recipe, words = self.recipe, self.sources.vocabulary
        data = recipe.data if recipe.vision.frozen else None  # by whose tokens a frozen vision standardises
        asked = repr((recipe.method, recipe.vision, recipe.seed, data)) + digest(list(words.entries))
        known = self.seen.models
        if asked not in known:
            torch.manual_seed(recipe.seed)
            known[asked] = made = make_method(recipe, words)
            if made.vision is not None:
                measure_tokens(made.vision, self.sources.train)
        known[asked] = known.pop(asked)  # the last one that was asked for
        while len(known) > MODELS:
            known.pop(next(iter(known)))
        return known[asked]

    def _given(self, number) -> StageInput:
        recipe, method = self.recipe, self.fresh
        stage = recipe.stages[number]
        return StageInput(
            stage,
            self.sources.of(stage, recipe.tasks),
            recipe.tasks,
            (recipe.seed, number),
            method.batch_size,
            method.collate,
        )

    def _plans(self, number):
        return list(plans(self._given(number), 0, {}))

    def _first_plans(self, number):
        """The first plan of each task."""
        first = {}
        for plan in self._plans(number):
            first.setdefault(plan.task, plan)
        return list(first.values())

    def _first_draws(self, number):
        given = self._given(number)
        return [read(given, plan) for plan in self._first_plans(number)]


def digest(value) -> str:
    """A hash of tensors, arrays and plain values, however they are nested."""
    found = hashlib.sha256()
    _feed(found, value)
    return found.hexdigest()[:16]


def _feed(found, value) -> None:
    if isinstance(value, torch.Tensor):
        value = value.detach().float().numpy() if value.dtype == torch.bfloat16 else value.detach().numpy()
    if isinstance(value, np.ndarray):
        found.update(f"{value.dtype}{value.shape}".encode() + np.ascontiguousarray(value).tobytes())
    elif isinstance(value, dict):
        for key, item in value.items():
            found.update(str(key).encode())
            _feed(found, item)
    elif isinstance(value, list | tuple):
        for item in value:
            _feed(found, item)
    elif is_dataclass(value):
        _feed(found, vars(value))
    else:
        found.update(repr(value).encode())
