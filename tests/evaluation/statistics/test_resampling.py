import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whatchanged.evaluation.metrics.additive import Additive, mean, ratios
from whatchanged.evaluation.metrics.bleu import bleu
from whatchanged.evaluation.statistics.resampling import bootstrap, exchange_test, holm, intervals, percentile

SIMULATIONS, RESAMPLES = 400, 400


def coverage(draw, truth, groups):
    """How often the interval of a freshly drawn sample contains the truth; its standard error is 0.011."""
    rng = np.random.default_rng(7)
    hits = 0
    for k in range(SIMULATIONS):
        ((low, high),) = intervals(draw(rng), groups, RESAMPLES, seed=k)
        hits += low <= truth <= high
    return hits / SIMULATIONS


SCENES = np.repeat(np.arange(60), 2)


def duplicates(rng):
    """Scores of 60 scenes with two pairs each, which share most of their luck; expected mean 1/2."""
    luck = np.repeat(rng.random(60), 2)
    return mean("score", np.clip(luck + rng.normal(0, 0.05, 120), -1, 2)).values


def test_intervals_have_their_coverage_on_scenes_with_two_pairs():
    assert coverage(duplicates, 50, SCENES) == pytest.approx(0.95, abs=0.025)


def test_without_groups_they_would_be_too_short():
    # Twice as many pairs as independent ones: the intervals shrink by sqrt(2), 0.83 instead of 0.95.
    assert coverage(duplicates, 50, np.arange(120)) < 0.88


def test_coverage_of_bleu():
    """A corpus metric that no mean of pairs gives: binomial matches, the truth from their rates."""
    lengths, rates = np.array([6, 9, 12]), np.array([0.9, 0.7, 0.5, 0.4])

    def draw(rng):
        words = rng.choice(lengths, 150)
        near = np.maximum(words + rng.integers(-1, 3, 150), 1)
        guesses = words[:, None] - np.arange(4)
        correct = rng.binomial(guesses, rates)
        rows = np.column_stack([words, near, guesses, correct]).astype(float)
        return Additive(("BLEU-4",), rows, lambda totals: 100 * bleu(totals)[..., 3:]).values

    expected = np.array([9.0, 9.5, *(9.0 - np.arange(4)), *((9.0 - np.arange(4)) * rates)])
    assert coverage(draw, 100 * bleu(expected)[3], np.arange(150)) == pytest.approx(0.95, abs=0.025)


def two_systems(rng, better):
    """Both find the same scenes hard; one is better by so much."""
    hard = rng.normal(0, 1, 80)
    scores = [hard + rng.normal(gain, 0.3, 80) for gain in (better, 0)]
    return [mean("score", s) for s in scores]


def test_coverage_and_gain_of_the_paired_interval():
    def draw(rng):
        one, other = two_systems(rng, 0.1)
        return lambda weights: one.values(weights) - other.values(weights)

    assert coverage(draw, 10, np.arange(80)) == pytest.approx(0.95, abs=0.025)
    one, other = two_systems(np.random.default_rng(0), 0.1)
    ((low, high),) = intervals(lambda w: one.values(w) - other.values(w), np.arange(80), 1000)
    ((alone_low, alone_high),) = intervals(one.values, np.arange(80), 1000)
    assert high - low < (alone_high - alone_low) / 1.8


def test_p_values_are_even_where_systems_are_alike():
    rng = np.random.default_rng(3)
    groups = np.repeat(np.arange(40), 2)
    values = []
    for k in range(SIMULATIONS):
        luck = np.repeat(rng.normal(0, 1, (2, 40)), 2, axis=1)
        one, other = (mean("score", row) for row in luck)
        values.append(exchange_test(one, other, groups, 199, seed=k)[0])
    for level in (0.05, 0.2, 0.5):
        assert np.mean(np.array(values) <= level) == pytest.approx(level, abs=0.05)


def test_p_values_against_all_exchanges():
    # Differences 1, 2, 4: of the 8 exchanges only all and none reach 7, so p = 2/8.
    one, other = mean("score", np.array([1.0, 2, 4])), mean("score", np.zeros(3))
    assert exchange_test(one, other, np.arange(3), 20_000) == pytest.approx([0.25], abs=0.01)
    assert exchange_test(one, one, np.arange(3), 100) == 1
    # In one group all pairs change sides together: the difference never shrinks.
    assert exchange_test(one, other, np.zeros(3, int), 100) == 1


def test_a_large_difference_has_the_smallest_p():
    one, other = two_systems(np.random.default_rng(0), 2.0)
    assert exchange_test(one, other, np.arange(80), 999) == 1 / 1000


def test_draws_against_one_at_a_time():
    rng = np.random.default_rng(1)
    groups = np.array([0, 0, 1, 2, 2, 2])
    scores = rng.random(6)
    draws = bootstrap(mean("score", scores).values, groups, 300, seed=5)
    picked = np.random.default_rng(5).integers(3, size=(300, 3))
    by_hand = [100 * np.mean(np.concatenate([scores[groups == g] for g in row])) for row in picked]
    np.testing.assert_allclose(draws[:, 0], by_hand, rtol=1e-12)


def test_draws_follow_from_the_seed_however_many_fit_into_memory(monkeypatch):
    summed, groups = mean("score", np.random.default_rng(2).random(50)), np.arange(50) // 2
    whole = bootstrap(summed.values, groups, 100, seed=9)
    monkeypatch.setattr("whatchanged.evaluation.statistics.resampling._AT_ONCE", 170)
    np.testing.assert_array_equal(bootstrap(summed.values, groups, 100, seed=9), whole)
    assert (bootstrap(summed.values, groups, 100, seed=10) != whole).any()


def test_no_interval_from_one_scene_or_from_undefined_draws():
    assert intervals(mean("score", np.ones(4)).values, ["a"] * 4, 10) == [None]
    assert percentile(np.array([[np.nan], [np.nan], [1.0]])) == [None]
    rare = ratios(["share"], np.zeros((2, 1)), np.zeros((2, 1)))
    assert np.isnan(rare.values()) and intervals(rare.values, [0, 1], 20) == [None]


def test_holm_by_hand():
    # sorted: .01 x 4, .02 x 3 = .06, .03 x 2 = .06, .04 x 1, which may not fall below the .06 before it
    given_, wanted = [0.04, 0.01, 0.03, 0.02], [0.06, 0.04, 0.06, 0.06]
    assert holm(np.array(given_)).tolist() == pytest.approx(wanted)
    # .5 x 2 is cut at 1, and so is what follows
    assert holm(np.array([0.5, 0.9])).tolist() == [1, 1]
    # what was not tested does not count: .01 x 2, not x 3
    assert holm(np.array([np.nan, 0.01, 0.3])) == pytest.approx([np.nan, 0.02, 0.3], nan_ok=True)
    assert holm(np.array([0.2])).tolist() == [0.2] and holm(np.array([])).tolist() == []


@given(st.lists(st.floats(0.001, 1), min_size=1, max_size=8), st.floats(0.01, 0.3))
def test_holm_rejects_what_stepping_down_rejects(chances, level):
    """Holm's procedure in his words: from the smallest, until one is above level / (number left)."""
    corrected = holm(np.array(chances))
    left, stopped = len(chances), False
    for i in sorted(range(len(chances)), key=lambda i: chances[i]):
        stopped = stopped or chances[i] * left > level
        assert (corrected[i] > level) == stopped
        left -= 1
    bonferroni = np.minimum(1, np.array(chances) * len(chances))
    assert (corrected >= chances).all() and (corrected <= bonferroni + 1e-12).all()


def test_holm_keeps_the_false_alarms_of_six_metrics_together_at_the_level():
    """Six independent metrics that do not differ: 1 - .95^6 = 26 % false alarms, corrected 5 %."""
    chances = np.random.default_rng(3).random((2000, 6))
    alarms = [np.mean([(test(row) <= 0.05).any() for row in chances]) for test in (np.asarray, holm)]
    assert alarms == pytest.approx([0.265, 0.05], abs=0.025)
