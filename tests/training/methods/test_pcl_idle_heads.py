"""Heads that a step does not use: torch 1.9 moved them on by Adam's moments; so does preset ``authors``."""

import json
from dataclasses import replace

import pytest
import torch
from support.tiny_pcl import random_batch, tiny

from whatchanged.recipes.reader import load_recipe
from whatchanged.recipes.schema import StageConfig
from whatchanged.training.batches import Draw
from whatchanged.training.checkpoint import State, read_checkpoint
from whatchanged.training.loop import take_step
from whatchanged.training.run import run_recipe
from whatchanged.training.schedule import make_optimizer

TASKS = ("fda", "mlm", "fda", "mvcl", "mlm", "fda", "fda")
RATE = 3e-3
RECIPE = load_recipe("pcl-tiny")


def batch_of(model):
    """Corrupted by what torch's own generator draws, as in a run."""
    return replace(random_batch(model), generator=None)


def released(model, decay):
    """The released loop on torch 1.9: zeros are written into every gradient that there is, never None."""
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE, weight_decay=decay, foreach=False)
    model.train()
    torch.manual_seed(0)
    for task in TASKS:
        optimizer.zero_grad(set_to_none=False)
        sum(model.loss(task, batch_of(model)).values()).backward()
        optimizer.step()
    return dict(model.named_parameters())


def ours(model, decay, watch=lambda number, model: None):
    stage = StageConfig("pretrain", dict.fromkeys(TASKS, 1.0), len(TASKS), 3, RATE, weight_decay=decay)
    recipe = replace(RECIPE, stages=(stage,))
    optimizer = make_optimizer(model, stage)
    torch.manual_seed(0)
    for number, task in enumerate(TASKS):
        batch = batch_of(model)
        draw = Draw(task, batch, {}, len(batch.ids))
        take_step(model, optimizer, draw, recipe, State(step=number), torch.device("cpu"))
        watch(number, model)
    return dict(model.named_parameters())


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_the_authors_steps_are_those_of_torch_1_9(decay):
    theirs, found = released(tiny("authors"), decay), ours(tiny("authors"), decay)
    for name, parameter in found.items():
        torch.testing.assert_close(parameter, theirs[name], atol=1e-7, rtol=1e-6)
    assert theirs.keys() == found.keys()


@pytest.mark.parametrize("preset", ["paper", "authors"])
def test_a_head_moves_in_steps_that_do_not_use_it_once_it_has_been_used(preset):
    """``output`` is used by mlm alone: steps 1 and 4. Before step 1 it has no moments to move it."""
    seen = []
    ours(tiny(preset), 0.0, lambda _, model: seen.append(model.output.weight.detach().clone()))
    start = tiny(preset).output.weight
    moved = [not torch.equal(a, b) for a, b in zip([start, *seen], seen, strict=False)]
    unused = preset == "authors"
    assert moved == [False, True, unused, unused, True, unused, unused]


def test_what_no_task_uses_stays_where_it_is():
    start = dict(tiny("authors").named_parameters())
    found = ours(tiny("authors"), 0.1)
    still = {name.partition(".")[0] for name in found if torch.equal(found[name], start[name])}
    assert still == {"distractor", "pooler"}


def test_a_run_in_many_launches_equals_one(tiny_dataset, tmp_path):
    """Every launch ends after one step; the moments that move an idle head are in the checkpoint."""
    paths = [f"data.path={tiny_dataset}", f"data.features={tiny_dataset}/features"]
    quick = ["stage.pretrain.steps=8", "stage.caption.steps=2", "stage.caption.evaluate_every=0"]
    quick += ["stage.caption.patience=0", "stage.caption.metric=CIDEr-D", "method.preset=authors"]
    recipe = load_recipe("pcl-tiny", [*quick, *paths])
    run_recipe(recipe, tmp_path / "one", quiet=True, device="cpu")
    for launch in range(12):
        state = run_recipe(
            recipe, tmp_path / "many", resume=launch > 0, max_seconds=0, quiet=True, device="cpu"
        )
        if state.finished:
            break
    assert launch > 7
    one, many = (
        read_checkpoint(tmp_path / name / "checkpoints" / "last.safetensors").tensors
        for name in ("one", "many")
    )
    weights = {name: tensor for name, tensor in one.items() if name.startswith("model.")}
    assert all(torch.equal(tensor, many[name]) for name, tensor in weights.items())
    logs = [
        [json.loads(line) for line in (tmp_path / name / "metrics.jsonl").read_text().splitlines()]
        for name in ("one", "many")
    ]
    assert [{**line, "seconds": 0} for line in logs[0]] == [{**line, "seconds": 0} for line in logs[1]]
