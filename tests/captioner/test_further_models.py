"""The models beside the default one: what they say, where they look, and that nobody asks them unasked."""

import numpy as np
import pytest

from whatchanged.answers.models import installed_models
from whatchanged.captioner import runtime
from whatchanged.captioner.bundle import DEFAULT, SHIPPED, open_bundle, shipped

FURTHER = [name for name in shipped() if name != DEFAULT and open_bundle(name).card.world == "clevr"]
PAIR = (SHIPPED / "demo" / "00-before.png", SHIPPED / "demo" / "00-after.png")


def test_there_are_further_models():
    assert {"clevr-scorer", "clevr-clip4idc"} <= set(FURTHER)


@pytest.mark.parametrize("name", FURTHER)
def test_a_further_model_is_whole_and_small(name):
    bundle = open_bundle(name)
    bundle.check()
    assert sum(entry.size for entry in bundle.files.values()) < 10e6
    assert bundle.has_weights and bundle.card.method == name.removeprefix("clevr-")
    assert bundle.card.in_distribution is not None


@pytest.mark.parametrize("name", FURTHER)
def test_most_of_the_demos_sentences_are_true(name, whatchanged):
    """The demo judges each sentence by the truth of its scene."""
    code, out, _ = whatchanged("demo", "--model", name)
    assert code == 0 and sum(" right " in line for line in out.splitlines()) >= 8


@pytest.mark.parametrize("name", FURTHER)
def test_its_words_look_at_what_they_mention_in_both_pictures(name):
    """Attention of each word sums to one over both pictures, and most of it lies on few cells."""
    found = runtime.load(name, threads=1).describe(*PAIR)
    maps = np.stack([attention for _, attention in found.words])
    assert maps.shape[1:] == (2, 20, 30)
    assert np.allclose(maps.sum((1, 2, 3)), 1, atol=1e-3)
    assert (np.sort(maps.reshape(len(maps), -1))[:, -32:].sum(1) > 0.99).all()


def test_nobody_asks_them_unasked():
    assert [model.card.name for model in installed_models() if model.card.world == "clevr"] == [DEFAULT]
