"""How judgements become probabilities, and which sentences say that nothing changed."""

import numpy as np
import pytest

from whatchanged.recipes.reader import load_recipe
from whatchanged.training.export import calibration
from whatchanged.training.export.calibration import fit_sigmoid, sayable_sentences
from whatchanged.vocabulary import Vocabulary


def test_calibration_finds_the_sigmoid_that_made_the_labels():
    rng = np.random.default_rng(0)
    logits = rng.normal(0, 3, 20_000)
    labels = (rng.random(20_000) < 1 / (1 + np.exp(-(0.5 * logits - 1)))).astype(float)
    scale, shift = fit_sigmoid(logits, labels)
    assert (scale, shift) == (pytest.approx(0.5, abs=0.03), pytest.approx(-1, abs=0.06))


def test_calibration_of_a_perfect_judge_stays_finite():
    scale, shift = fit_sigmoid(np.array([-16.0, -15, 15, 16]), np.array([0.0, 0, 1, 1]))
    assert 0.9 < scale < 10 and abs(shift) < 1


def test_only_what_the_decoder_can_write_says_that_nothing_changed():
    """Known words, each sentence once, cut to the method's length; PCL writes two words of five ids."""
    words = Vocabulary.from_captions(["all the same as before"])
    recipe = load_recipe("pcl-tiny", ["method.max_length=5"])
    said = ["all  the", "all ever", "all the same", "as before", "as"]
    assert sayable_sentences(said, recipe, words) == ("all the", "as before", "as")


def test_not_all_ways_to_say_it_are_read(monkeypatch):
    monkeypatch.setattr(calibration, "MOST_SENTENCES", 2)
    words = Vocabulary.from_captions(["a b c"])
    recipe = load_recipe("pcl-tiny", [])
    assert sayable_sentences(["b", "a", "c"], recipe, words) == ("b", "a")
