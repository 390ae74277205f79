"""From numbered examples to batches: the mix of tasks, passes, positions, and what a batch is."""

import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from whatchanged.errors import ShapeError
from whatchanged.recipes import StageConfig, Task
from whatchanged.recipes.methods.pcl import PCLConfig
from whatchanged.records import PairRecord
from whatchanged.training.batches import (
    Batch,
    Example,
    StageInput,
    draw_task,
    draws,
    endless,
    plans,
    read,
    read_examples,
    stack_pictures,
)

RECORD = PairRecord("d", "p", "g", "train", "pair_caption", Path("a"), Path("b"))


class Numbers:
    """A source whose examples say which index was asked for and what was drawn."""

    def __len__(self):
        return 10

    def count(self, task):
        return 4 if task.false_captions else 10

    def example(self, index, rng):
        return Example(RECORD, f"{index} {rng.integers(1 << 40)}", np.zeros(1), np.zeros(1))


def stage(steps=40, batch=7, **tasks):
    return StageConfig("s", tasks or {"mlm": 8.0, "mvcl": 1.0, "fda": 2.0}, steps, batch, 1e-3)


def seventh(task, batch):
    return batch // 7 if task == "fda" else batch


TASKS = PCLConfig().tasks


def stage_input(given, seed=(5, 0), source=None, collate=list, batch_size=seventh, tasks=TASKS):
    """All that decides the batches of a stage; batches are the lists of their examples."""
    sources = dict.fromkeys(given.tasks, Numbers() if source is None else source)
    return StageInput(given, sources, tasks, seed, batch_size, collate)


def captions(draw):
    return [example.caption for example in draw.batch]


def numbers(draw):
    """The numbers of a draw's examples."""
    return [int(example.caption.split()[0]) for example in draw.batch]


def test_tasks_come_in_the_published_mix():
    mix = stage()
    counts = Counter(draw_task(mix, (1234, 0), step) for step in range(5_500))
    for task, expected in {"mlm": 4000, "mvcl": 500, "fda": 1000}.items():
        p = expected / 5_500
        assert abs(counts[task] - expected) < 3 * np.sqrt(5_500 * p * (1 - p))


@given(st.integers(1, 50), st.integers(1, 20), st.integers(0, 5))
def test_every_pass_is_a_permutation_and_the_last_batch_is_what_is_left(length, batch, seed):
    position, passes = 0, []
    while position < 3 * length:
        indices = endless(position, length, batch, (seed,))
        assert len(indices) == min(batch, length - position % length)
        passes += list(indices)
        position += len(indices)
    for start in range(0, 3 * length, length):
        assert sorted(passes[start : start + length]) == list(range(length))


@given(st.integers(1, 50), st.integers(1, 20), st.integers(0, 5))
def test_the_last_part_of_a_batch_can_be_left_out(length, batch, seed):
    """Each pass gives its whole batches, without repeats; a pass shorter than a batch is one all the same."""
    position, size, whole = 0, min(batch, length), max(1, length // batch)
    for _ in range(3):
        passed = []
        for _ in range(whole):
            indices = endless(position, length, batch, (seed,), drop_last=True)
            assert len(indices) == size
            passed += list(indices)
            position += len(indices)
        assert len(set(passed)) == len(passed) == whole * size


def test_passes_are_shuffled_anew():
    assert list(endless(0, 40, 40, (1,))) != list(endless(40, 40, 40, (1,)))


@pytest.mark.parametrize("start", [1, 13, 39])
def test_draws_go_on_from_their_positions_exactly(start):
    given = stage_input(stage(mlm=2.0, caption=1.0), seed=(5, 1))
    whole = list(draws(given, 0, {}))
    assert len(whole) == 40 and {draw.task for draw in whole} == {"mlm", "caption"}
    rest = list(draws(given, start, whole[start - 1].positions))
    assert [(draw.task, captions(draw), draw.positions) for draw in rest] == [
        (draw.task, captions(draw), draw.positions) for draw in whole[start:]
    ]


def test_another_stage_draws_other_examples():
    first, second = (
        [caption for draw in draws(stage_input(stage(mlm=1.0), seed), 0, {}) for caption in captions(draw)]
        for seed in ((5, 0), (5, 1))
    )
    assert not set(first) & set(second)


def test_a_tasks_number_decides_its_examples():
    """Two tasks of one number read the same examples; what a task is called changes nothing."""
    one = {"mlm": Task(2), "other": Task(2), "caption": Task(5)}

    def drawn(name):
        given = stage_input(stage(**{name: 1.0}), tasks=one)
        return [captions(draw) for draw in draws(given, 0, {})]

    assert drawn("mlm") == drawn("other") != drawn("caption")


def test_a_task_draws_only_from_the_examples_that_it_can_use():
    alone = draws(stage_input(stage(fda=1.0, batch=21)), 0, {})
    assert {number for draw in alone for number in numbers(draw)} == {0, 1, 2, 3}


def test_each_task_reads_its_own_source():
    class Shifted(Numbers):
        def example(self, index, rng):
            return super().example(index + 100, rng)

    given = stage_input(stage(mlm=1.0, caption=1.0))
    given = replace(given, sources={"mlm": Numbers(), "caption": Shifted()})
    for draw in draws(given, 0, {}):
        assert all((number >= 100) == (draw.task == "caption") for number in numbers(draw))


def test_both_pairs_of_a_scene_stand_in_one_batch():
    class Scenes(Numbers):
        def example(self, index, rng):
            return replace(super().example(index, rng), partner=super().example(index + 10, rng))

    given = stage_input(stage(batch=3, caption=1.0), (1, 0), Scenes(), batch_size=lambda task, batch: batch)
    drawn = next(draws(given, 0, {}))
    found = numbers(drawn)
    assert len(found) == 6 and found[3:] == [n + 10 for n in found[:3]]
    assert drawn.positions == {"caption": 3}


def test_a_plan_says_what_is_read_and_reading_it_twice_reads_the_same():
    given = stage_input(stage(steps=3, batch=4, caption=1.0))
    first, second, third = plans(given, 0, {})
    assert [plan.first for plan in (first, second, third)] == [0, 4, 8]
    assert [len(plan.indices) for plan in (first, second, third)] == [4, 4, 2]  # a pass of ten ends
    assert numbers(read(given, second)) == second.indices.tolist()
    assert captions(read(given, second)) == captions(read(given, second))
    assert (first.positions, third.positions) == ({"caption": 4}, {"caption": 10})


def test_an_error_in_a_thread_reaches_the_loop():
    class Broken(Numbers):
        def example(self, index, rng):
            raise OSError("no such picture")

    with pytest.raises(OSError, match="no such picture"):
        next(draws(stage_input(stage(), (0,), Broken()), 0, {}))


def test_examples_read_by_number_are_the_same_each_time():
    once, again, other = (list(read_examples(Numbers(), numbers)) for numbers in ([3, 7], [3, 7], [7, 3]))
    assert [e.caption for e in once] == [e.caption for e in again] == [e.caption for e in other][::-1]


# Batches


def test_pictures_are_stacked_or_refused():
    def examples(*shapes):
        return [
            Example(RECORD, "", np.full(shape, number, np.uint8), np.zeros((2, 2)))
            for number, shape in enumerate(shapes)
        ]

    before, after = stack_pictures(examples((2, 3), (2, 3), (2, 3)))
    assert before.shape == (3, 2, 3) and after.shape == (3, 2, 2) and before[:, 0, 0].tolist() == [0, 1, 2]
    with pytest.raises(ShapeError, match=r"\(before\): got shapes \[\(2, 3\), \(2, 4\)\]"):
        stack_pictures(examples((2, 3), (2, 4)))


def test_a_batch_moves_whole_and_keeps_its_generator():
    generator = torch.Generator()
    batch = Batch(
        torch.rand(1, 2, 3), torch.rand(1, 2, 3), torch.ones(1, 4).long(), None, torch.ones(1), generator
    )
    moved = batch.to("meta")
    tensors = (moved.before, moved.after, moved.ids, moved.changed)
    assert {tensor.device.type for tensor in tensors} == {"meta"}
    assert moved.negatives_ids is None and moved.generator is generator


@pytest.mark.parametrize("pinned", [True, False])
def test_batches_for_a_gpu_are_pinned_where_they_are_read(pinned, monkeypatch):
    """In the threads that read ahead, all tensors of a batch; without a GPU pinning would fail."""
    threads = []

    def pin(tensor):
        threads.append(threading.current_thread())
        return tensor + 1

    monkeypatch.setattr(torch.Tensor, "pin_memory", pin)

    def collate(examples):
        count = len(examples)
        return Batch(torch.zeros(count, 1), torch.zeros(count, 1), torch.zeros(count, 3).long())

    asked = replace(stage_input(stage(steps=3), collate=collate), pinned=pinned)
    results = list(draws(asked, 0, {}))
    assert len(results) == 3
    for draw in results:
        tensors = (draw.batch.before, draw.batch.after, draw.batch.ids)
        assert all((tensor == float(pinned)).all() for tensor in tensors) and draw.batch.changed is None
    assert len(threads) == (9 if pinned else 0) and threading.main_thread() not in threads
