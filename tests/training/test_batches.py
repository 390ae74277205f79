from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whatchanged.recipes import StageConfig
from whatchanged.records import PairRecord
from whatchanged.training.batches import Example, draw_task, draws, endless

RECORD = PairRecord("d", "p", "g", "train", "pair_caption", Path("a"), Path("b"))


class Numbers:
    """A source whose examples say which index was asked for and what was drawn."""

    def __len__(self):
        return 10

    def count(self, task):
        return 4 if task == "fda" else 10

    def example(self, index, rng):
        return Example(RECORD, f"{index} {rng.integers(1 << 40)}", np.zeros(1), np.zeros(1))


def stage(steps=40, batch=7, **tasks):
    return StageConfig("s", tasks or {"mlm": 8.0, "mvcl": 1.0, "fda": 2.0}, steps, batch, 1e-3)


def seventh(task, batch):
    return batch // 7 if task == "fda" else batch


def test_tasks_come_in_the_published_mix():
    mix = stage()
    counts = Counter(draw_task(mix, (1234, 0), step) for step in range(11_000))
    for task, expected in {"mlm": 8000, "mvcl": 1000, "fda": 2000}.items():
        p = expected / 11_000
        assert abs(counts[task] - expected) < 3 * np.sqrt(11_000 * p * (1 - p))


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
    mix = stage(mlm=2.0, caption=1.0)
    whole = list(draws(Numbers(), mix, (5, 1), seventh, 0, {}))
    assert len(whole) == 40 and {draw.task for draw in whole} == {"mlm", "caption"}
    rest = list(draws(Numbers(), mix, (5, 1), seventh, start, whole[start - 1].positions))
    assert [(d.task, [e.caption for e in d.examples], d.positions) for d in rest] == [
        (d.task, [e.caption for e in d.examples], d.positions) for d in whole[start:]
    ]


def test_another_stage_draws_other_examples():
    first, second = (
        [e.caption for d in draws(Numbers(), stage(mlm=1.0), seed, seventh, 0, {}) for e in d.examples]
        for seed in ((5, 0), (5, 1))
    )
    assert not set(first) & set(second)


def test_a_task_draws_only_from_the_examples_that_it_can_use():
    alone = draws(Numbers(), stage(fda=1.0, batch=21), (5, 0), seventh, 0, {})
    used = [int(example.caption.split()[0]) for draw in alone for example in draw.examples]
    assert set(used) == {0, 1, 2, 3}


def test_both_pairs_of_a_scene_stand_in_one_batch():
    class Scenes(Numbers):
        def example(self, index, rng):
            return replace(super().example(index, rng), partner=super().example(index + 10, rng))

    drawn = next(draws(Scenes(), stage(batch=3, caption=1.0), (1, 0), lambda task, batch: batch, 0, {}))
    numbers = [int(example.caption.split()[0]) for example in drawn.examples]
    assert len(numbers) == 6 and numbers[3:] == [n + 10 for n in numbers[:3]]
    assert drawn.positions == {"caption": 3}


def test_an_error_in_a_reader_reaches_the_loop():
    class Broken(Numbers):
        def example(self, index, rng):
            raise OSError("no such picture")

    with pytest.raises(OSError, match="no such picture"):
        next(draws(Broken(), stage(), (0,), seventh, 0, {}))
