"""A frozen backbone sees each picture once, and training takes the steps that it took on pixels."""

import json

import numpy as np
import pytest
import torch
from PIL import Image
from support.tiny_pool import HEIGHT, VISION, WIDTH
from support.tiny_run import SMALL_PICTURES, TINY, make_run
from torch.testing import assert_close

from whatchanged.recipes.reader import load_recipe
from whatchanged.recipes.schema import Recipe
from whatchanged.training.build import make_method, open_sources
from whatchanged.training.data import token_cache as token_cache_module
from whatchanged.training.data.pictures import picture_reader
from whatchanged.training.data.token_cache import cached_tokens, with_tokens
from whatchanged.training.objects.tokens import ObjectVision
from whatchanged.training.run import run_recipe
from whatchanged.training.run_folder import open_run

SMALL = [
    *TINY,
    *SMALL_PICTURES,
    "stage.caption.steps=4",
    "stage.caption.batch=8",
    "stage.caption.evaluate_every=2",
]


@pytest.fixture
def recipe(tiny_dataset):
    return load_recipe("own-finetune", [*SMALL, f"data.path={json.dumps(str(tiny_dataset))}"])


@pytest.mark.parametrize(
    ("settings", "leaves"),
    [
        (["seed=1"], True),
        (["stage.caption.train_vision=true"], False),
        (["data.source=pool"], False),
        (["vision.kind=patches", "vision.patch=16", "stage.caption.train_vision=true"], False),
    ],
)
def test_only_where_nothing_needs_the_pixels(settings, leaves):
    assert load_recipe("own-finetune", settings).tokens_stay is leaves


def test_tokens_are_the_pictures_and_each_is_seen_once(recipe, tmp_path, monkeypatch):
    sources = open_sources(recipe, tmp_path)
    torch.manual_seed(0)
    vision = make_method(recipe, sources.vocabulary).vision
    times = []
    to_tokens = ObjectVision.to_tokens
    monkeypatch.setattr(ObjectVision, "to_tokens", lambda self, x: times.append(1) or to_tokens(self, x))
    tokens, rng = with_tokens(sources, vision), np.random.default_rng
    vision.train()  # as the loop does meanwhile
    seen = [tokens.train.example(i, rng(0)) for i in (0, 1, 0)]
    assert len(times) == len({(e.before.tobytes()) for e in seen} | {e.after.tobytes() for e in seen})
    vision.eval()
    for number, example in enumerate(seen[:2]):
        plain = sources.train.example(number, rng(0))
        assert example.caption == plain.caption and example.before.shape == (6, vision.raw_width + 4)
        with torch.inference_mode():
            wanted = to_tokens(vision, vision.normalise(torch.from_numpy(plain.after)[None]))[0]
        assert_close(torch.from_numpy(example.after), wanted)


def test_a_picture_is_read_once_as_the_vision_stores_it_while_there_is_room(tmp_path, monkeypatch):
    pixels = np.random.default_rng(0).integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "a.png")
    vision = ObjectVision(VISION).eval()
    read = cached_tokens(picture_reader(VISION, "", tmp_path), vision, {})
    first = read(tmp_path / "a.png")
    with torch.inference_mode():
        wanted = vision.to_tokens(vision.normalise(torch.from_numpy(pixels)[None]))[0]
    assert first.shape == (VISION.keep, vision.raw_width + 4) and np.allclose(first, wanted)
    full = cached_tokens(picture_reader(VISION, "", tmp_path), vision, kept := {})
    monkeypatch.setattr(token_cache_module, "MOST_BYTES", first.nbytes - 1)
    assert np.array_equal(full(tmp_path / "a.png"), first) and not kept
    (tmp_path / "a.png").unlink()
    assert read(tmp_path / "a.png") is first


def test_training_takes_the_same_steps(recipe, tmp_path, monkeypatch):
    trained = make_run(tmp_path / "trained", "own-finetune", SMALL)
    run_recipe(recipe, tmp_path / "tokens", device="cpu", quiet=True, init=trained)
    monkeypatch.setattr(Recipe, "tokens_stay", False)
    run_recipe(recipe, tmp_path / "pixels", device="cpu", quiet=True, init=trained)
    both = [open_run(tmp_path / name, "last")[1].state_dict() for name in ("tokens", "pixels")]
    for name, tensor in both[0].items():
        assert_close(tensor, both[1][name], rtol=1e-3, atol=1e-4, msg=name)
