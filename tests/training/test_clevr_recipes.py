"""The shipped model's recipes, shrunk: what each stage trains, and the whole way from pictures to words."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from support.tiny_run import BACKBONE, TINY, make_run

from whatchanged.errors import RecipeError
from whatchanged.launch import Launch
from whatchanged.recipes.reader import load_recipe
from whatchanged.training.build import make_method
from whatchanged.training.features.store import store_tokens
from whatchanged.training.objects import pool_source
from whatchanged.training.objects.pool_source import open_pool
from whatchanged.training.run import run_recipe
from whatchanged.training.run_folder import open_run
from whatchanged.training.schedule import make_optimizer

SMALL = [*TINY, "method.width=24", "method.ffn=32", "method.cross_layers=2"]
MINED = {"clevr-pcl": ["method.negatives=2"]}
"""Settings of recipes with false captions."""
STAGES = [(name, stage.name) for name in ("clevr-see", "clevr-pcl") for stage in load_recipe(name).stages]


@pytest.fixture
def few_negatives(monkeypatch):
    monkeypatch.setattr(pool_source, "NEGATIVE_PAIRS", 12)


def test_these_stages_are_all():
    assert STAGES == [
        ("clevr-see", "see"),
        ("clevr-pcl", "match"),
        ("clevr-pcl", "pretrain"),
        ("clevr-pcl", "caption"),
    ]


@pytest.mark.parametrize(
    ("name", "stage_name", "stored"),
    [
        (*stage, stored)
        for stage in STAGES
        for stored in (False, True)
        if not (stored and stage[0] == "clevr-see")
    ],
)
def test_a_stages_gradients_reach_all_that_it_trains(
    name, stage_name, stored, tiny_pool, tmp_path, few_negatives
):
    """From pictures, and from stored tokens where the stage does not train what makes them."""
    recipe = load_recipe(name, [*SMALL, *MINED.get(name, []), f"data.path={tiny_pool}"])
    stage = next(s for s in recipe.stages if s.name == stage_name)
    sources = open_pool(recipe, tmp_path)
    torch.manual_seed(0)
    method = make_method(recipe, sources.vocabulary)
    optimizer = make_optimizer(method, stage)
    method.train()
    for task in stage.tasks:
        examples = [sources.train.example(index, np.random.default_rng(index)) for index in range(12)]
        batch = method.collate(examples)
        if stored:
            tokens = [
                method.vision.to_tokens(method.vision.normalise(p)).detach()
                for p in (batch.before, batch.after)
            ]
            batch = replace(batch, before=tokens[0], after=tokens[1])
        sum(method.loss(task, batch).values()).backward()
    given = {id(p) for group in optimizer.param_groups for p in group["params"]}
    trainable = {n for n, p in method.named_parameters() if id(p) in given}
    without = {n for n, p in method.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0}
    assert trainable & without == trainable & method.parameters_without_gradient(stage.tasks)
    kept = {n for n, _ in method.named_parameters() if n.startswith(("vision.backbone.", "vision.heads."))}
    assert not kept & without if stage.train_vision else kept <= without and not kept & trainable


@pytest.mark.slow
def test_scorer_learns_from_a_pool_on_pictures_and_on_stored_tokens(tiny_pool, tmp_path):
    """Both pictures whole: every cell is a token, stored or not, and the vision is clevr-see's."""
    see, tokens = tmp_path / "see", tmp_path / "tokens"
    data = [f"data.path={tiny_pool}", "vision.keep=0"]
    recipe = load_recipe("clevr-see", [*SMALL, *data, "stage.see.steps=2", "stage.see.batch=4"])
    assert run_recipe(recipe, see, quiet=True, device="cpu").finished
    store_tokens(see, tiny_pool, tokens, 2, Launch("cpu", quiet=True))
    settings = [
        *BACKBONE,
        *data,
        "vision.kind=objects",
        "data.source=pool",
        "method.max_length=40",
        "stage.train.steps=3",
        "stage.train.evaluate_every=3",
    ]
    for name, stored in (("pictures", []), ("stored", [f"data.tokens={tokens}"])):
        train = [f"stage.train.train_vision={'false' if stored else 'true'}"]
        recipe = load_recipe("scorer-tiny", [*settings, *stored, *train])
        assert run_recipe(recipe, tmp_path / name, quiet=True, device="cpu", init=see).finished
        lines = [json.loads(line) for line in (tmp_path / name / "metrics.jsonl").read_text().splitlines()]
        assert {"caption", "caption/view", "caption/reason"} <= set(lines[0])
        assert "CIDEr-D" in lines[-1]


@pytest.mark.slow
def test_all_four_commands_in_a_row(tiny_pool, tmp_path, few_negatives):
    """clevr-see on pictures, its tokens stored, clevr-pcl on the tokens, from the weights of clevr-see."""
    see, tokens, run = tmp_path / "see", tmp_path / "tokens", tmp_path / "run"
    data = f"data.path={tiny_pool}"
    recipe = load_recipe("clevr-see", [*SMALL, data, "stage.see.steps=2", "stage.see.batch=4"])
    assert run_recipe(recipe, see, quiet=True, device="cpu").finished
    store_tokens(see, tiny_pool, tokens, 2, Launch("cpu", quiet=True))
    short = [
        f"stage.{name}.{key}" for name in ("match", "pretrain", "caption") for key in ("steps=6", "batch=6")
    ]
    quick = [*SMALL, *MINED["clevr-pcl"], data, f"data.tokens={tokens}", *short]
    recipe = load_recipe("clevr-pcl", [*quick, "stage.caption.evaluate_every=6"])
    with pytest.raises(RecipeError, match=r"made by other weights .* --init RUN"):
        run_recipe(recipe, run, quiet=True, device="cpu")
    other = make_run(tmp_path / "other", "clevr-see", SMALL)
    with pytest.raises(RecipeError, match=r"made by other weights .* --init RUN"):
        run_recipe(recipe, run, quiet=True, device="cpu", init=other)  # it would read pictures differently
    assert not run.exists()
    assert run_recipe(recipe, run, quiet=True, device="cpu", init=see).finished
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert {"matching/match", "matching/change_label"} <= set(lines[0]) and "CIDEr-D" in lines[-1]
    seen, learned = (open_run(folder, "last")[1].state_dict() for folder in (see, run))
    backbone = [name for name in seen if name.startswith(("vision.backbone.", "vision.heads."))]
    assert all(torch.equal(seen[name], learned[name]) for name in backbone)
    assert not torch.equal(seen["vision.matching.key.weight"], learned["vision.matching.key.weight"])
