"""pcl-pixels, the way from a folder of pictures to sentences: at toy size; and, slowly, whether it learns."""

import json
import math

import numpy as np
import pytest
import torch

from whatchanged.recipes.reader import load_recipe
from whatchanged.synth.clevr.twin import split_of, write_twin
from whatchanged.training.build import make_method, open_sources
from whatchanged.training.checkpoint import read_checkpoint
from whatchanged.training.run import seed_everything
from whatchanged.training.vision.backbone import BackboneVision

SMALL = [
    "vision.image_width=48",
    "vision.image_height=32",
    "vision.channels=[4, 6, 8, 8]",
    "vision.blocks=1",
    "method.width=16",
    "method.heads=2",
    "method.ffn=16",
]
SHORT = [
    "stage.caption.steps=30",
    "stage.caption.batch=8",
    "stage.caption.lr=1e-2",
    "stage.caption.warmup=2",
    "stage.caption.evaluate_every=30",
    "stage.caption.log_every=1",
]


@pytest.fixture(scope="module")
def learner(tiny_dataset, tmp_path_factory):
    """The tiny recipe with all of PCL's tasks, its sources, and its method as it starts."""
    every_task = ["stage.caption.tasks={mlm = 1, mvcl = 1, fda = 1, caption = 1}", "method.negatives=2"]
    recipe = load_recipe("pcl-pixels", [*SMALL, *every_task, f"data.path={tiny_dataset}"])
    sources = open_sources(recipe, tmp_path_factory.mktemp("pixels"))
    seed_everything(recipe.seed)
    return recipe, sources, make_method(recipe, sources.vocabulary)


@pytest.mark.parametrize("task", ["mlm", "mvcl", "fda", "caption"])
def test_every_task_teaches_the_whole_backbone(task, learner):
    """No task may leave the backbone without a gradient, and there is nothing else in the vision."""
    recipe, sources, method = learner
    assert isinstance(method.vision, BackboneVision) and task in recipe.tasks
    examples = [sources.train.example(i, np.random.default_rng(i)) for i in range(8)]
    method.train().zero_grad()
    terms = method.loss(task, method.collate(examples))
    assert terms and all(math.isfinite(term.item()) for term in terms.values())
    sum(terms.values()).backward()
    without = [
        name
        for name, parameter in method.vision.named_parameters()
        if parameter.grad is None or not parameter.grad.abs().sum() > 0
    ]
    assert without == []
    assert {name.partition(".")[0] for name, _ in method.vision.named_parameters()} == {"backbone"}


def test_from_a_folder_to_sentences(learner, tiny_dataset, tmp_path, whatchanged):
    start = learner[2]
    run, model, out = (tmp_path / name for name in ("run", "model", "out.jsonl"))
    chosen = [part for setting in (*SMALL, *SHORT) for part in ("--set", setting)]
    data = ["--data", tiny_dataset, "--device", "cpu", "--quiet"]
    code, printed, err = whatchanged("train", "pcl-pixels", *data, "--output", run, *chosen)
    assert code == 0, err
    assert json.loads(printed)["finished"] is True
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    terms = {key for line in lines for key in line}
    assert {"caption", "caption/distractor", "CIDEr-D"} <= terms
    numbers = [value for line in lines for value in line.values() if isinstance(value, float)]
    assert numbers and all(map(math.isfinite, numbers))

    trained = read_checkpoint(run / "checkpoints" / "last.safetensors").tensors
    backbone = [name for name, _ in start.named_parameters() if name.startswith("vision.backbone.")]
    before = start.state_dict()
    assert backbone and all(not torch.equal(before[name], trained[f"model.{name}"]) for name in backbone)

    code, _, err = whatchanged("export", run, model)
    assert code == 0, err
    card = json.loads((model / "bundle.json").read_text())
    assert card["provenance"]["graphs_against_torch"]["ids"] == "equal"
    code, _, err = whatchanged("caption", tiny_dataset, "--split", "val", "--model", model, "--output", out)
    assert code == 0, err
    said = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(said) == 8 and all(0 <= line["no_change"] <= 1 for line in said)
    known = set(start.vocabulary.entries)
    assert all(set(line["caption"].split()) <= known for line in said)
    assert any(line["caption"] for line in said)


@pytest.fixture(scope="module")
def one_thread():
    """Torch on one core, as the time of the recipe is stated."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def draw_fixed(out, scenes, seed):
    """A twin whose cameras stand still; lamps differ between the pictures as everywhere."""
    write_twin(out, scenes, seed, (240, 160), views="fixed")
    return out


@pytest.mark.slow
def test_it_learns_from_400_scenes_from_one_place(one_thread, tmp_path, whatchanged):
    """The recipe as it is: 400 changed pairs and as many unchanged ones to train on, then other scenes.

    Five kinds of change, so guessing is right in 20 %; the world's parser reads the sentences. About two
    minutes of drawing, and five to eight of training, on one core.
    """
    seed, scenes = 71, 472
    assert [split_of(i, seed) for i in range(scenes)].count("train") == 400
    data, held = draw_fixed(tmp_path / "data", scenes, seed), draw_fixed(tmp_path / "held", 150, 72)
    run, model = tmp_path / "run", tmp_path / "model"
    out, report = tmp_path / "out.jsonl", tmp_path / "report.json"
    for command in (
        ("train", "pcl-pixels", "--data", data, "--output", run, "--device", "cpu", "--quiet"),
        ("export", run, model),
        ("caption", held, "--model", model, "--output", out, "--quiet"),
        ("evaluate", out, held, "--json", report),
    ):
        code, _, err = whatchanged(*command)
        assert code == 0, err
    scene = json.loads(report.read_text())["scene"]
    right, same = scene["semantic"]["type_right"], scene["distractor"]["called_none"]
    assert (right["of"], same["of"]) == (150, 150)
    assert right["percent"] >= 60
    assert same["percent"] >= 80
