"""Families whose documents are drawn anew: whatever they draw holds together."""

import io

import numpy as np
import pytest
from PIL import Image

from whatchanged.synth.screens import DrawnPair, FamilyOptions, find_family
from whatchanged.worlds.screens.elements import ELEMENTS
from whatchanged.worlds.screens.kinds import ASPECTS
from whatchanged.worlds.screens.truth import from_json, to_json

NEEDS = {"plots": ("matplotlib",), "documents": ("typst", "pypdfium2")}


@pytest.mark.parametrize("name", sorted(NEEDS))
def test_a_family_draws_pairs_whose_truth_holds(name: str):
    for module in NEEDS[name]:
        pytest.importorskip(module)
    with find_family(name)(FamilyOptions(None, (1280, 800))) as family:
        pairs = [pair for index in range(3) for pair in family.draw(3, index, "train")]
        again = family.draw(3, 1, "train")  # whatever was drawn before
    assert len(pairs) >= 7
    assert again
    assert all(pair in pairs for pair in again)
    assert any(not pair.truth.changes and pair.truth.noise for pair in pairs)
    assert any(pair.truth.changes and not pair.truth.noise for pair in pairs)
    for pair in pairs:
        check_sizes(pair)
        check_boxes(pair)
        check_words(pair)
        assert from_json(to_json(pair.truth), "here") == pair.truth


@pytest.mark.parametrize("name", sorted(NEEDS))
def test_every_pair_has_several_changes_where_that_is_asked_for(name: str):
    for module in NEEDS[name]:
        pytest.importorskip(module)
    with find_family(name)(FamilyOptions(None, (1280, 800), several=True)) as family:
        pairs = [pair for index in range(4) for pair in family.draw(3, index, "train")]
    counts = [len(pair.truth.changes) for pair in pairs]
    assert len(pairs) >= 14
    assert max(counts) == 3
    assert np.mean([count >= 2 for count in counts]) >= 0.6
    assert np.mean([bool(pair.truth.noise) for pair in pairs]) < 0.6


def read(file: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(file)).convert("RGB")).astype(int)


def check_sizes(pair: DrawnPair):
    """Pictures have the sizes of the truth, and differ."""
    before, after = read(pair.before), read(pair.after)
    assert (before.shape[1], before.shape[0]) == pair.truth.size_before
    assert (after.shape[1], after.shape[0]) == pair.truth.size_after
    assert before.shape != after.shape or (before != after).any()


def check_boxes(pair: DrawnPair):
    """Boxes lie in their pictures, and pixels differ in them."""
    for change in pair.truth.changes:
        sides = ((change.box_before, pair.truth.size_before), (change.box_after, pair.truth.size_after))
        for box, size in sides:
            assert box is None or (0 <= box[0] < box[2] <= size[0] and 0 <= box[1] < box[3] <= size[1])
        if pair.truth.size_before != pair.truth.size_after:
            continue
        step = np.abs(read(pair.before) - read(pair.after)).max(axis=2)
        boxes = [box for box, _ in sides if box]
        assert any((step[box[1] : box[3], box[0] : box[2]] > 10).any() for box in boxes), change


def check_words(pair: DrawnPair):
    """Changes speak the words of the world."""
    for change in pair.truth.changes:
        assert change.element in ELEMENTS
        assert change.aspect in ASPECTS[change.kind], (change.kind, change.aspect)
