"""The README of a bundle, line by line."""

from dataclasses import replace

import pytest
from support.tiny_bundle import CARD, WARY

from whatchanged.recipes.reader import load_recipe
from whatchanged.training.export.model_card import model_card
from whatchanged.worlds import all_worlds, find_world

PROVENANCE = {
    "training_seconds": 1234,
    "from_nothing": True,
    "weights_stored_as": "fp16 where large",
    "checkpoint": {"stage": "caption", "step": 15, "of": 1030, "best": 0.5},
    "finished": True,
}


@pytest.fixture
def written(tmp_path):
    """Writes the card of a model whose other files have 2.5 million bytes."""
    (tmp_path / "encoder.onnx").write_bytes(b"\0" * 2_500_000)

    def write(card, world=None, **told):
        shown = replace(card, provenance={**PROVENANCE, **told})
        return model_card(shown, load_recipe("pcl-tiny"), world, tmp_path)

    return write


def test_what_the_model_reads_and_where_it_looks(written):
    text = written(CARD)
    assert "| input | whole pictures, resized to 24 x 16 (bicubic) |" in text
    assert "| attention | 2 x 3 cells over each picture |" in text
    assert "| size | 2.5 MB, the graphs' weights stored as fp16 where large |" in text
    assert "| training | 1,234 seconds, from nothing |" in text
    assert "| unfamiliar pictures | not recognised |" in text
    text = written(CARD, from_nothing=False)
    assert "| training | 1,234 seconds in this run; the model that it started from is not counted |" in text
    text = written(CARD, from_nothing=None)
    assert "| training | 1,234 seconds in this run; it is not known what it started from |" in text
    assert f"| method | {CARD.method}, preset `{CARD.preset}` |" in text
    assert "| unfamiliar pictures | recognised by the by hand |" in written(WARY)


def test_whether_the_backbone_can_be_trained(written):
    assert "it stays frozen" not in written(CARD)
    assert "the backbone's batch norms are folded, so it stays frozen" in written(
        replace(CARD, folded_norms=True)
    )


def test_what_the_model_cannot_do(written):
    """What its world says of its models; of other models the least that is true."""
    assert "It works only for pictures like those" in written(CARD)
    world = find_world("clevr")
    text = written(CARD, world)
    assert "Its world is CLEVR scenes" in text and "It works only" not in text
    assert world.pictures.limits in text


def test_no_finding_of_another_model_is_told(written):
    """What was counted of the shipped model is in its own card alone."""
    for world in all_worlds():
        assert "one in five" not in written(CARD, world) and "%" not in written(CARD, world)


def test_which_step_the_weights_are_of(written):
    assert "| weights of | step 15 of 1,030 of caption |" in written(CARD)
    broken_off = written(CARD, finished=False)
    assert "| weights of | step 15 of 1,030 of caption; **the run was not finished** |" in broken_off
