import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whatchanged.training.batches import Example
from whatchanged.training.data.variations import VariedSource

HEIGHT, WIDTH = 11, 14
PLACES = np.stack(np.meshgrid(np.arange(HEIGHT), np.arange(WIDTH), [0], indexing="ij"), -1)[:, :, 0]
"""Each pixel holds its row, its column and 0."""
CAPTIONS = (
    ("the cube left of it moved",),
    ("the cube has moved", "the cube to the right of it moved"),
    ("the cube has moved", "the leftmost one moved"),
    ("three",),
    ("four",),
)
"""Of each example the caption, then false ones."""


class Numbered:
    """Examples whose pixels say where they were, in which picture."""

    def __len__(self):
        return 5

    def count(self, task):
        return 4

    def example(self, index, rng):
        rng.random()
        before, after = (np.add(PLACES, [0, 0, side]) for side in (1, 2))
        partner = Example(None, "no", before, after)
        caption, *false = CAPTIONS[index]
        return Example(None, caption, before, after, tuple(false), partner=partner)


def offsets(example):
    """Where the pixel at (5, 6) was, less (5, 6)."""
    return tuple(example.before[5, 6, :2] - [5, 6])


@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_both_pictures_move_alike_and_edges_are_repeated(seed, most):
    found = VariedSource(Numbered(), most).example(3, np.random.default_rng(seed))
    for example in (found, found.partner):
        up, left = offsets(example)
        assert max(abs(up), abs(left)) <= most
        for side, picture in ((1, example.before), (2, example.after)):
            assert picture.shape == (HEIGHT, WIDTH, 3) and (picture[..., 2] == side).all()
            assert (picture[..., 0] == np.clip(np.arange(HEIGHT) + up, 0, HEIGHT - 1)[:, None]).all()
            assert (picture[..., 1] == np.clip(np.arange(WIDTH) + left, 0, WIDTH - 1)).all()
    assert (found.caption, found.partner.caption) == ("three", "no")


def test_all_shifts_come_up_and_the_numbers_decide():
    source = VariedSource(Numbered(), 1)
    assert len(source) == 5 and source.count(None) == 4
    seen = {offsets(source.example(0, np.random.default_rng(seed))) for seed in range(200)}
    assert seen == {(row, column) for row in (-1, 0, 1) for column in (-1, 0, 1)}
    again = [source.example(0, np.random.default_rng(7)).before for _ in range(2)]
    assert np.array_equal(*again)


def mirrored(example):
    """Whether the columns run backwards, in both pictures."""
    backwards = [bool((np.diff(picture[5, :, 1]) <= 0).all()) for picture in (example.before, example.after)]
    assert len(set(backwards)) == 1
    return backwards[0]


@pytest.mark.parametrize(("index", "may"), [(0, False), (1, False), (2, True)])
def test_half_are_mirrored_but_none_whose_captions_say_a_word_of_the_list(index, may):
    """Whole words count: "leftmost" is another word."""
    source = VariedSource(Numbered(), 0, ("left", "right"))
    results = [source.example(index, np.random.default_rng(seed)) for seed in range(200)]
    count = sum(mirrored(example) for example in results)
    assert (70 < count < 130) if may else count == 0
    assert 70 < sum(mirrored(example.partner) for example in results) < 130, (
        "its own caption says no such word"
    )
    for example in results:
        columns = np.arange(WIDTH)[::-1] if mirrored(example) else np.arange(WIDTH)
        assert (example.before[..., 1] == columns).all()


def test_without_words_nothing_is_mirrored():
    source = VariedSource(Numbered(), 2)
    assert not any(mirrored(source.example(3, np.random.default_rng(seed))) for seed in range(50))
