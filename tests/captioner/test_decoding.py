import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whatchanged.captioner.decoding import beam, best_candidates, greedy

END = 2


def log_softmax(x):
    x = x - x.max(axis=-1, keepdims=True)
    return x - np.log(np.exp(x).sum(axis=-1, keepdims=True))


class Language:
    """Log-probabilities that depend on everything said so far, kept in the cache; counts its steps."""

    def __init__(self, seed, batch, words=4, sharpness=2.0):
        self.seed, self.words, self.sharpness, self.steps = seed, words, sharpness, 0
        self.cache = {"row": np.arange(batch), "said": np.zeros((batch, 0), np.int64)}

    def scores(self, row, said):
        rng = np.random.default_rng((self.seed, row, *said))
        return log_softmax(self.sharpness * rng.normal(size=self.words)).astype(np.float32)

    def step(self, previous, position, cache):
        self.steps += 1
        said = np.concatenate([cache["said"], previous[:, None]], axis=1)
        assert said.shape[1] == position  # the position of the word to come, BOS at 0
        rows = [self.scores(r, s) for r, s in zip(cache["row"], said.tolist(), strict=True)]
        attention = np.zeros((len(rows), 2, 1, 1), np.float32)
        attention[:, 0, 0, 0] = cache["row"]
        attention[:, 1, 0, 0] = previous
        return np.stack(rows), attention, {"row": cache["row"], "said": said}

    def logp(self, row, ids):
        said, total = [1], 0.0
        for i in ids:
            total += float(self.scores(row, said)[i])
            said.append(i)
        return total


def naive_greedy(language, row, max_length):
    """One row, no cache: the definition."""
    said = [1]
    while len(said) < max_length:
        said.append(int(np.argmax(language.scores(row, said))))
        if said[-1] == END:
            break
    return tuple(said[1:])


def sentences(words, max_length):
    """All that end, or run to the limit."""
    for length in range(1, max_length):
        for ids in itertools.product(range(words), repeat=length):
            if END not in ids[:-1] and (ids[-1] == END or length == max_length - 1):
                yield ids


def exhaustive(language, row, max_length):
    """The best of all sentences."""
    return max((language.logp(row, ids), ids) for ids in sentences(language.words, max_length))


@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(2, 7))
def test_greedy_equals_the_definition(seed, batch, max_length):
    language = Language(seed, batch)
    results = greedy(language.step, language.cache, batch, max_length)
    for row, decoded in enumerate(results):
        assert decoded.ids == naive_greedy(language, row, max_length)
        assert decoded.log_probability == pytest.approx(language.logp(row, decoded.ids), abs=1e-5)
        # each word's own attention: what was said just before it, of this row
        assert decoded.attention[:, 0, 0, 0].tolist() == [row] * len(decoded.ids)
        assert decoded.attention[:, 1, 0, 0].tolist() == [1, *decoded.ids[:-1]]
    assert language.steps == max(len(decoded.ids) for decoded in results)  # stops when all rows have ended


@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(2, 7), st.sampled_from([0.0, 1e-9, 2.0, 300.0]))
def test_one_beam_is_greedy(seed, batch, max_length, sharpness):
    language = Language(seed, batch, sharpness=sharpness)
    one = beam(language.step, language.cache, batch, max_length, beams=1)
    steps = language.steps
    wanted = greedy(language.step, language.cache, batch, max_length)
    assert [d.ids for d in one] == [d.ids for d in wanted]
    assert steps == language.steps - steps
    for a, b in zip(one, wanted, strict=True):
        assert a.log_probability == pytest.approx(b.log_probability, abs=1e-4)
        assert np.array_equal(a.attention, b.attention)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 3))
def test_a_wide_beam_is_exhaustive_search(seed, batch):
    max_length = 4
    language = Language(seed, batch)
    results = beam(language.step, language.cache, batch, max_length, beams=4**3)
    for row, decoded in enumerate(results):
        best, ids = exhaustive(language, row, max_length)
        assert decoded.ids == ids
        assert decoded.log_probability == pytest.approx(best, abs=1e-5)
        assert decoded.attention[:, 0, 0, 0].tolist() == [row] * len(ids)
        assert decoded.attention[:, 1, 0, 0].tolist() == [1, *ids[:-1]]


@given(st.integers(0, 10_000), st.integers(2, 5))
def test_rows_do_not_know_of_each_other(seed, beams):
    language = Language(seed, 3)
    together = beam(language.step, language.cache, 3, 6, beams)
    for row in range(3):
        alone = {"row": np.array([row]), "said": np.zeros((1, 0), np.int64)}
        assert beam(language.step, alone, 1, 6, beams)[0].ids == together[row].ids


def no_twin(ids):
    """Whether the last word is the one before it."""
    return len(ids) > 1 and ids[-1] == ids[-2]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 3))
def test_a_wide_beam_finds_the_best_of_what_is_not_skipped(seed, batch):
    max_length = 4
    language = Language(seed, batch)
    results = beam(language.step, language.cache, batch, max_length, 4**3, no_twin)
    for row, decoded in enumerate(results):
        left = [ids for ids in sentences(language.words, max_length) if not any(map(no_twin, starts(ids)))]
        assert decoded.ids == max((language.logp(row, ids), ids) for ids in left)[1]


def starts(ids):
    return [ids[:length] for length in range(1, len(ids) + 1)]


few = st.sampled_from([-np.inf, -2.0, -1.0, 0.0])


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 4), st.integers(1, 9), st.integers(1, 4), st.data())
def test_the_best_candidates_are_the_first_of_all_sorted(rows, candidates, beams, data):
    """Many candidates are equal, in their sums and in their last words."""
    sums, last = (
        np.array(data.draw(st.lists(few, min_size=rows * candidates, max_size=rows * candidates)))
        for _ in range(2)
    )
    sums, last = sums.reshape(rows, -1), last.reshape(rows, -1)
    for row, best in enumerate(best_candidates(sums, last, beams)):
        wanted = sorted(range(candidates), key=lambda one: (-sums[row, one], -last[row, one], one))
        assert best.tolist() == wanted[:beams]


def test_a_beam_finds_what_greed_misses():
    # first word: 0 with 0.6, 1 with 0.4; after 0 all is uncertain, after 1 the end is sure
    def step(previous, position, cache):
        table = {1: [0.6, 0.0, 0.0, 0.4], 0: [0.3, 0.2, 0.3, 0.2], 3: [0.0, 0.0, 1.0, 0.0]}
        with np.errstate(divide="ignore"):
            return np.log(np.array([table[int(p)] for p in previous])), None, cache

    assert greedy(step, {}, 1, 3)[0].ids == (0, 0)
    found = beam(step, {}, 1, 3, beams=2)[0]
    assert found.ids == (3, END)
    assert found.log_probability == pytest.approx(np.log(0.4))
    assert found.attention is None


def test_equal_scores_take_the_first_id():
    def step(previous, position, cache):
        return np.zeros((len(previous), 5), np.float32), None, cache

    assert greedy(step, {}, 2, 4)[1].ids == beam(step, {}, 2, 4, beams=1)[1].ids == (0, 0, 0)


def test_a_limit_of_one_says_nothing():
    language = Language(0, 1)
    assert greedy(language.step, language.cache, 1, 1)[0].ids == ()
    assert language.steps == 0
