"""CLIP4IDC and its two baselines from their recipes, through the command line, at toy size."""

import json
import re

import numpy as np
import pytest
import torch

from whatchanged.recipes.reader import load_recipe, recipe_names
from whatchanged.training.build import make_method, open_sources
from whatchanged.training.checkpoint import read_checkpoint
from whatchanged.training.run_folder import open_run
from whatchanged.training.schedule import make_optimizer

RECIPES = [n for n in recipe_names() if n.startswith("clip4idc-") and n != "clip4idc-ui-train"]
"""Those that read pictures."""
OWN = [name for name in RECIPES if not re.search(r"(spot|request)-(paper|ft)", name)]
"""Those whose settings are not another recipe's at toy size."""
SMALL = [
    "method.width=16",
    "method.heads=2",
    "method.ffn=32",
    "method.intra_layers=2",
    "method.text_width=16",
    "method.context=40",
    "method.joint_width=12",
    "method.decoder_width=16",
    "method.decoder_heads=2",
    "method.decoder_ffn=32",
    "method.decoder_layers=2",
    "vision.image_width=64",
    "vision.image_height=64",
]
TEXT = ["method.text_heads=2", "method.text_ffn=32", "method.text_layers=1"]
"""Sizes of the text tower, which FT2 does not have."""
STAGES = {
    "retrieval": {"steps": 3, "batch": 14, "evaluate_every": 3, "log_every": 1, "save_every": 2, "lr": 1e-3},
    "caption": {"steps": 4, "batch": 14, "evaluate_every": 2, "log_every": 1, "save_every": 2, "lr": 1e-3},
}


def small(name):
    """The recipe's settings at toy size, preset, tasks, optimisers and rates untouched."""
    recipe = load_recipe(name)
    settings = [*SMALL, *([] if recipe.method.variant == "ft2" else TEXT)]
    settings += ["method.inter_layers=1"] if recipe.method.variant == "clip4idc" else []
    for stage in recipe.stages:
        settings += [f"stage.{stage.name}.{key}={value}" for key, value in STAGES[stage.name].items()]
        settings += [f"stage.{stage.name}.warmup={1 if stage.warmup else 0}"]
    return settings


def command(name, dataset):
    overrides = [part for setting in small(name) for part in ("--set", setting)]
    return ["train", name, "--data", dataset, "--device", "cpu", "--quiet", *overrides]


def test_these_recipes_are_all():
    assert (len(RECIPES), len(OWN)) == (14, 8)


@pytest.mark.parametrize("name", OWN)
def test_recipe_runs_through_the_command_line_to_scored_captions(name, tiny_dataset, tmp_path, whatchanged):
    run = tmp_path / "run"
    code, out, err = whatchanged(*command(name, tiny_dataset), "--output", run)
    assert code == 0, err
    assert json.loads(out)["finished"] is True
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    terms = {key for line in lines for key in line}
    baseline = "ft" in name
    assert {"retrieval/text_to_pair", "R@1", "pair_to_text/MdR"} <= terms or baseline
    assert baseline == ("R@1" not in terms) and "caption" in terms
    assert ("caption/unchanged" in terms) == (load_recipe(name).method.preset == "authors")
    assert [line["step"] for line in lines if "CIDEr-D" in line] == [2, 4]
    weights = read_checkpoint(run / "checkpoints" / "last.safetensors").tensors
    assert any(".inter." in tensor for tensor in weights) != baseline


@pytest.mark.parametrize("name", RECIPES)
def test_each_stage_moves_all_that_it_trains_and_nothing_else(name, tiny_dataset, tmp_path):
    """Three steps from the recipe's own optimiser and rates; with warm-up the first has rate 0."""
    recipe = load_recipe(name, [*small(name), f"data.path={tiny_dataset}"])
    sources = open_sources(recipe, tmp_path)
    for stage in recipe.stages:
        torch.manual_seed(0)
        method = make_method(recipe, sources.vocabulary).train()
        optimizer = make_optimizer(method, stage)
        start = {name: tensor.detach().clone() for name, tensor in method.named_parameters()}
        ((task, source),) = sources.of(stage, recipe.tasks).items()
        for _ in range(3):
            examples = [source.example(i, np.random.default_rng(i)) for i in range(16)]
            optimizer.zero_grad()
            sum(method.loss(task, method.collate(examples)).values()).backward()
            optimizer.step()
        moved = {n for n, p in method.named_parameters() if not torch.equal(p, start[n])}
        given = {id(p) for group in optimizer.param_groups for p in group["params"]}
        trained = {n for n, p in method.named_parameters() if id(p) in given}
        assert trained - method.parameters_without_gradient(stage.tasks) == moved
        if recipe.method.preset == "authors" and recipe.method.freeze:
            kept = ("pair.patches.weight", "pair.class_token", "pair.positions", "text_positions")
            assert not moved & {*kept, "pair.entry_norm.weight", "pair.entry_norm.bias"}
            assert ("words.weight" in moved) == (task == "caption" and recipe.method.train_words)


@pytest.mark.parametrize(
    ("name", "retrieval", "caption"),
    [
        ("clip4idc-clevr-authors", ("captions", True, True, 128, 12 * 1957), ("scenes", 50 * 2115)),
        ("clip4idc-clevr-paper", ("captions", True, False, 128, 12 * 1957), ("pairs", 50 * 4229)),
        ("clip4idc-spot-authors", ("captions", False, False, 128, 20 * 138), ("pairs", 50 * 536)),
        ("clip4idc-spot-paper", ("captions", False, False, 128, 12 * 138), ("pairs", 50 * 536)),
        ("clip4idc-image-editing-request-paper", ("captions", False, False, 128, 12 * 23), ("pairs", 9600)),
        ("clip4idc-image-editing-request-ft1", None, ("pairs", 50 * 192)),
    ],
)
def test_the_published_examples_and_passes(name, retrieval, caption):
    recipe = load_recipe(name)
    *first, last = recipe.stages
    for stage in first:
        results = (stage.examples, stage.changed_only, stage.exchange, stage.batch, stage.steps)
        assert results == retrieval and stage.drop_last
    assert bool(first) == bool(retrieval)
    assert (last.examples, last.steps, last.batch, last.exchange) == (*caption, 16, False)
    for stage in recipe.stages:
        assert stage.steps % stage.evaluate_every == 0  # validation ends each pass
    fewer = recipe.method.preset == "paper" and "clevr" not in name
    assert recipe.method.decoder_layers == (2 if fewer else 3)


def test_the_published_rates_reach_their_groups(tiny_dataset, tmp_path):
    recipe = load_recipe(
        "clip4idc-clevr-authors", [*small("clip4idc-clevr-authors"), f"data.path={tiny_dataset}"]
    )
    method = make_method(recipe, open_sources(recipe, tmp_path).vocabulary)
    adapt, caption = load_recipe("clip4idc-clevr-authors").stages
    for stage, new in ((adapt, 1.0), (caption, 1e-3)):
        groups = make_optimizer(method, stage).param_groups
        assert {(g["name"], g["rate"]) for g in groups} == {("clip", 1e-3), ("new", new), ("captioner", 1.0)}
        names = {p: n for n, p in method.named_parameters()}
        undecayed = {names[p] for g in groups if g["weight_decay"] == 0 for p in g["params"]}
        norms = {n for n in names.values() if re.fullmatch(r"captioner\..*norm\.weight", n)}
        biases = {n for n in names.values() if n.endswith("bias") and n != "pair.entry_norm.bias"}
        assert undecayed == biases | norms
        # per layer two of the encoder and three of the decoder; at the captioner's entry and at its head
        assert len(norms) == 2 * (2 + 3) + 2 and "captioner.encoder.0.feed_forward.norm.weight" in norms


def test_a_broken_run_goes_on_as_if_nothing_had_happened(tiny_dataset, tmp_path, whatchanged):
    """BertAdam's moments, the drawn examples and the dropout all continue."""
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    arguments = command("clip4idc-clevr-authors", tiny_dataset)
    assert whatchanged(*arguments, "--output", whole)[0] == 0
    for _ in range(12):
        more = ["--resume"] if broken.exists() else []
        code, out, err = whatchanged(*arguments, "--output", broken, "--max-seconds", 1e-6, *more)
        assert code == 0, err
        if json.loads(out)["finished"]:
            break
    assert json.loads(out)["finished"]
    a, b = (read_checkpoint(run / "checkpoints" / "last.safetensors").tensors for run in (whole, broken))
    assert a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)
    assert open_run(broken, "last")[0].method.preset == "authors"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("clip4idc-clevr-authors", ["method.freeze", "1e-07 in stage retrieval", "1e-07 in stage caption"]),
        (
            "clip4idc-clevr-paper",
            ["1e-07 in stage retrieval", "leaves CLIP's part as it is in"],
        ),
        ("clip4idc-clevr-ft2", ["1e-07 in stage caption"]),
        ("clip4idc-tiny", []),
        ("pcl-tiny", []),
    ],
)
def test_what_counts_on_clips_weights_is_known(name, words):
    recipe = load_recipe(name)
    found = recipe.method.expects_weights(recipe)
    assert all(word in found for word in words) and bool(found) == bool(words)


def test_a_run_that_begins_without_clips_weights_says_so_once(tiny_dataset, tmp_path, whatchanged):
    arguments = [a for a in command("clip4idc-spot-ft2", tiny_dataset) if a != "--quiet"]
    run = [*arguments, "--set", "stage.caption.lr=1e-4", "--output", tmp_path / "run"]
    code, _, err = whatchanged(*run, "--max-seconds", 1e-6)
    assert code == 0 and err.count("Warning: clip4idc-spot-ft2 starts from random weights") == 1
    assert "--init FILE" in err
    code, _, err = whatchanged(*run, "--resume")
    assert code == 0 and "Warning" not in err
