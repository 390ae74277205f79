"""Examples read by processes are the examples that threads read."""

from dataclasses import is_dataclass, replace
from multiprocessing import active_children

import pytest
import torch
from support.tiny_run import TINY

from whatchanged.errors import ImageError
from whatchanged.recipes.reader import load_recipe
from whatchanged.training.batches import StageInput, draws
from whatchanged.training.build import make_method
from whatchanged.training.checkpoint import read_checkpoint
from whatchanged.training.data.prefetch import draws_by_processes
from whatchanged.training.objects.pool_source import PoolSource, open_pool
from whatchanged.training.run import run_recipe

SMALL = [
    *TINY,
    "stage.see.steps=5",
    "stage.see.batch=4",
]
pytestmark = [
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:This DataLoader will create:UserWarning"),  # on a single core
]


@pytest.fixture(scope="module")
def recipe(tiny_pool):
    return load_recipe("clevr-see", [*SMALL, f"data.path={tiny_pool}"])


def numbers(value):
    """All tensors of a batch and its truth, in order."""
    for name in sorted(vars(value)):
        part = getattr(value, name)
        if isinstance(part, torch.Tensor):
            yield part
        elif is_dataclass(part):
            yield from numbers(part)


def stage_input(recipe, tmp_path, **changes):
    """The first stage of a recipe on its pool, or on another source."""
    sources = open_pool(recipe, tmp_path)
    method = make_method(recipe, sources.vocabulary)
    given = StageInput(
        stage=recipe.stages[0],
        sources=sources.of(recipe.stages[0], recipe.tasks),
        tasks=recipe.tasks,
        seed=(recipe.seed, 0),
        batch_size=method.batch_size,
        collate=method.collate,
    )
    return replace(given, **changes)


def test_batches_of_processes_are_those_of_threads(recipe, tmp_path):
    given = stage_input(recipe, tmp_path)
    by_threads = list(draws(given, 1, {"detection": 4}))
    by_processes = list(draws_by_processes(given, 1, {"detection": 4}, 2))
    assert len(by_threads) == len(by_processes) == 4
    for one, other in zip(by_threads, by_processes, strict=True):
        assert (one.task, one.positions) == (other.task, other.positions)
        wanted, got = list(numbers(one.batch)), list(numbers(other.batch))
        assert len(wanted) == len(got) > 10
        assert all(torch.equal(a, b) for a, b in zip(wanted, got, strict=True))


def test_what_a_person_can_mend_comes_as_it_is(recipe, tmp_path, monkeypatch):
    given = stage_input(recipe, tmp_path)

    def damaged(*_):
        raise ImageError("p.png: not a picture. Replace it.")

    monkeypatch.setattr(PoolSource, "example", damaged)
    with pytest.raises(ImageError, match=r"^p\.png: not a picture\. Replace it\.$"):
        list(draws_by_processes(given, 1, {"detection": 0}, 1))


def test_a_run_learns_the_same_with_workers(recipe, tmp_path):
    for name, workers in (("threads", 0), ("processes", 2)):
        run_recipe(recipe, tmp_path / name, device="cpu", quiet=True, workers=workers)
    one, other = (
        read_checkpoint(tmp_path / name / "checkpoints" / "last.safetensors").tensors
        for name in ("threads", "processes")
    )
    assert one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def test_an_error_in_a_worker_reaches_the_loop(recipe, tmp_path):
    given = stage_input(recipe, tmp_path)
    source = given.sources["detection"]
    broken = {"detection": replace(source, shards=source.shards[:1])}
    with pytest.raises(IndexError) as raised:
        list(draws_by_processes(replace(given, sources=broken, seed=(1, 0)), 0, {}, 1))
    assert raised.tb and not active_children()  # though the traceback holds all that was at work


def test_workers_end_with_the_loop_that_they_read_for(recipe, tmp_path):
    reading = draws_by_processes(stage_input(recipe, tmp_path), 1, {"detection": 4}, 2)
    next(reading)
    assert len(active_children()) == 2
    reading.close()
    assert not active_children()


def test_whole_batches_are_augmented_by_seed_stage_and_step(recipe, tmp_path, monkeypatch):
    from whatchanged.training import loop

    seeds = []
    monkeypatch.setattr(loop, "augment_batch", lambda batch, seed: seeds.append(seed) or batch)
    run_recipe(recipe, tmp_path / "examples", device="cpu", quiet=True)
    assert seeds == []
    whole = replace(recipe, data=replace(recipe.data, augment="batches"))
    run_recipe(whole, tmp_path / "batches", device="cpu", quiet=True)
    assert seeds == [(recipe.seed, 0, step) for step in range(5)]
