from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from support.tiny_bundle import WARY, build_card

from whatchanged.answers.answerer import read_pair
from whatchanged.answers.models import chosen_model
from whatchanged.answers.pair import Looking

GREY = np.full((320, 480, 3), 120, np.uint8)
BLACK = GREY.copy()
BLACK[160:320, 240:480] = 0
RED = np.full_like(GREY, (255, 0, 0))


def pair(before, after):
    return read_pair(Image.fromarray(before), Image.fromarray(after), (), Looking())


@pytest.fixture
def folder(tmp_path):
    build_card(tmp_path / "tiny", replace(WARY, name="tiny"))
    return tmp_path / "tiny"


def test_pairs_that_may_be_known_are_described_side_by_side(folder, monkeypatch):
    model, batches = chosen_model(folder), []
    captioner = model.build()
    describe = captioner.describe_pixels

    def counted(pixels, beams):
        batches.append((len(pixels), beams))
        return describe(pixels, beams)

    monkeypatch.setattr(captioner, "describe_pixels", counted)
    upright = np.swapaxes(GREY, 0, 1).copy()
    pairs = [pair(GREY, BLACK), pair(upright, upright), pair(BLACK, GREY)]
    known, other, _ = distances = model.distances(pairs)
    assert batches == [(2, 1)]
    assert known is not None and known <= 1 and other is None and len(distances) == 3
    assert model.answer(pairs[0]).sentence == "the square changed"
    assert model.answer(pairs[1]) is None


def test_a_stranger_is_far_but_not_from_a_model_that_was_named(folder):
    strange = pair(RED, BLACK)
    (distance,) = chosen_model(folder).distances([strange])
    assert distance is None or distance > 1
    named = chosen_model(folder, named=True)
    assert named.distances([strange]) == [0.0]
    assert named.answer(strange).unfamiliar is True


def test_nothing_is_said_of_a_pair_that_was_not_asked_about(folder):
    assert chosen_model(folder).answer(pair(GREY, BLACK)) is None
