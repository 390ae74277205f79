"""Steps of every method on processes that share each batch, and by one that has it, in double precision.

    main(POOL, OUT.json, STEPS, BATCH, ACCUMULATE, [CASE ...])

POOL: of ``tiny_pool``. Written is, for each of these cases of the contract (by default of all) and each of
its stages: the largest difference of a loss and of a weight between both, how far the weights went, and how
many rows each process had in each step.
"""

import importlib.util
import json
from dataclasses import replace
from pathlib import Path

import torch
from torch import nn

from whatchanged.recipes import ObjectsConfig
from whatchanged.recipes.schema import Recipe, StageConfig
from whatchanged.testing.method_case import in_double
from whatchanged.training import loop
from whatchanged.training.batches import StageInput, draws
from whatchanged.training.checkpoint import State
from whatchanged.training.distributed import begin_alike, gather_batch, joined, processes, rank
from whatchanged.training.schedule import make_optimizer

TESTS = Path(__file__).resolve().parents[1]
CPU = torch.device("cpu")
DETECTING = ObjectsConfig(matching=True).tasks


def contract():
    """The module with a case of every method."""
    spec = importlib.util.spec_from_file_location("contract", TESTS / "contract" / "test_methods.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Ten:
    """The ten examples of a case; as scenes, the second five are the partners of the first."""

    def __init__(self, examples, scenes):
        self.examples = examples
        if scenes:
            pairs = zip(examples[:5], examples[5:], strict=True)
            self.examples = [replace(first, partner=second) for first, second in pairs]

    def __len__(self):
        return len(self.examples)

    def count(self, task):
        return len(self)

    def example(self, index, rng):
        return self.examples[index]


class Steps:
    """Some steps of a stage: the losses of each, the weights behind them, and the rows of each process."""

    def __init__(self, case, tasks, steps, batch, scenes, accumulate=1):
        torch.manual_seed(3)
        method = in_double(case.build())
        for module in method.modules():
            if isinstance(module, nn.Dropout):
                module.p = 0.0
        first = {name: tensor.detach().clone() for name, tensor in method.named_parameters()}
        stage = StageConfig("stage", dict.fromkeys(tasks, 1.0), steps, batch, 1e-3, max_grad_norm=0.5)
        recipe = Recipe("toy", "", (stage,), case.settings)
        source = Ten(case.examples(method), scenes)
        needs = {**DETECTING, **case.settings.tasks}
        sources = dict.fromkeys(tasks, source)
        given = StageInput(
            stage, sources, needs, (1, 0), method.batch_size, method.collate, (rank(), processes())
        )
        optimizer, state = make_optimizer(method, stage), State()
        begin_alike([*method.state_dict().values()], CPU)
        self.losses, self.rows = [], []
        for draw in draws(given, 0, {}):
            rows = torch.tensor([len(draw.batch.ids)])
            self.rows.append(gather_batch(rows).tolist())
            batch = draw.batch
            if batch.before.is_floating_point():
                batch = replace(batch, before=batch.before.double(), after=batch.after.double())
            draw = replace(draw, batch=batch)
            self.losses.append(loop.take_step(method, optimizer, draw, recipe, state, CPU, accumulate))
            state.step += 1
        self.weights = {name: tensor.detach().clone() for name, tensor in method.state_dict().items()}
        self.went = max(float((self.weights[name] - first[name]).abs().max()) for name in first)

    def compare(self, other):
        """The largest differences of a loss and of a weight; a loss that only one of them has counts 1."""
        assert self.weights.keys() == other.weights.keys()
        losses = [
            abs(one[name] - two[name]) if name in one and name in two else 1.0
            for one, two in zip(self.losses, other.losses, strict=True)
            for name in one.keys() | two.keys()
        ]
        weights = [(self.weights[name] - other.weights[name]).abs().max() for name in self.weights]
        return max(losses), max(float(weight) for weight in weights)


def stages_of(case):
    """The mixes of tasks that are tried, each with whether examples are scenes."""
    for tasks in dict.fromkeys((*case.stages, *((task,) for task in case.tried_tasks))):
        yield tasks, False
    keeps_kinds_apart = case.settings.preset == "authors" or case.settings.name == "dirl"
    if case.settings.name in ("scorer", "pcl", "duda", "dirl") and keeps_kinds_apart:
        yield ("caption",), True


def all_cases(pool):
    """The cases of the contract."""
    module = contract()
    return {name: module.with_pictures(case, pool) for name, case in module.CASES.items()}


def main(pool, out, steps, batch, accumulate, *names):
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    torch.Tensor.float = torch.Tensor.double  # what is computed in float32 on purpose
    results, parted = {}, {}
    cases = all_cases(Path(pool))
    asked = [(name, *stage) for name in names or cases for stage in stages_of(cases[name])]
    with joined():
        count, first = processes(), rank() == 0
        for key in asked:
            parted[key] = Steps(cases[key[0]], key[1], int(steps), int(batch), key[2], int(accumulate))
    if not first:
        return
    for (name, tasks, scenes), together in parted.items():
        alone = Steps(cases[name], tasks, int(steps), int(batch), scenes)
        loss, weight = together.compare(alone)
        label = f"{name}: {' + '.join(tasks)}{' of scenes' if scenes else ''}"
        results[label] = {"loss": loss, "weight": weight, "went": together.went, "rows": together.rows}
    Path(out).write_text(json.dumps({"processes": count, "stages": results}, indent=1))
