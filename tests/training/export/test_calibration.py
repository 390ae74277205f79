from pathlib import Path

import numpy as np
import pytest

from whatchanged.records import PairRecord
from whatchanged.training.data.examples import DatasetSource
from whatchanged.training.data.sources import Sources
from whatchanged.training.export.calibration import fit_sigmoid, no_change_sentences
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


def test_what_is_said_of_unchanged_pairs_alone_says_that_nothing_changed():
    def source(*told):
        records = [
            PairRecord("plain", str(i), str(i), "train", "pair_caption", Path("a"), Path("b"), captions,
                       changed=changed)
            for i, (captions, changed) in enumerate(told)
        ]  # fmt: skip
        return DatasetSource(records, [], None, {})

    train = source(
        (("all the same", "look  here"), False),
        (("all as before",), False),
        (("look here", "it moved"), True),
        (("who knows",), None),
    )
    validation = source((("all as before", "all as ever", "who knows"), False))
    words = Vocabulary.from_captions(["all the same look here as before it moved who knows"])
    sources = Sources(train, validation, words)
    assert no_change_sentences(sources, words, 28) == ("all as before", "all the same")
    assert no_change_sentences(Sources(source((("it moved",), True)), source(), words), words, 28) == ()
