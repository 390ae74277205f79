from pathlib import Path

import numpy as np
import pytest

from whatchanged.errors import DatasetError
from whatchanged.records import PairRecord
from whatchanged.synth.clevr.sampling import sample_triple
from whatchanged.training.objects.clevr_negatives import contradicts, mine, split_phrases
from whatchanged.worlds.clevr.grading import is_true, parse
from whatchanged.worlds.clevr.language import NO_CHANGE, write_captions

SCENES = 40


@pytest.fixture(scope="module")
def world():
    """Records of 40 scenes, and the truth of every pair."""
    records, truths = [], {}
    for index in range(SCENES):
        for pair, suffix in zip(sample_triple(11, index).pairs(), ("", "_n"), strict=True):
            pair_id = f"{index:06d}.png{suffix}"
            truths[pair_id] = pair
            captions = write_captions(*pair, np.random.default_rng((index, len(suffix))))
            records.append(
                PairRecord(
                    "clevr_change",
                    pair_id,
                    f"{index:06d}",
                    "train",
                    "pair_caption",
                    Path(f"b{index}.png"),
                    Path(f"a{index}{suffix}.png"),
                    captions,
                    changed=not suffix,
                    change_type=pair[2].type,
                )
            )
    return records, truths


@pytest.fixture(scope="module", params=["with truth", "by contradiction"])
def mined(request, world):
    records, truths = world
    return mine(records, truths if request.param == "with truth" else None, seed=1)


def test_no_negative_is_true(world, mined):
    _, truths = world
    mentioned = [(pair, s) for pair, sentences in mined.sentences.items() for s in sentences]
    assert len(mentioned) == 6 * 2 * SCENES
    assert not [s for pair, s in mentioned if is_true(s, *truths[pair])]


def test_six_different_readable_negatives_that_say_nothing_the_pair_says(world, mined):
    for record in world[0]:
        own = {parse(caption) for caption in record.captions}
        said = [parse(sentence) for sentence in mined.sentences[record.pair_id]]
        assert None not in said
        assert len(set(said)) == 6 and not own & set(said)


def test_no_change_sentences_are_no_negatives_of_distractors_and_at_most_one_of_changes(world, mined):
    for record in world[0]:
        easy = sum(sentence in NO_CHANGE for sentence in mined.sentences[record.pair_id])
        assert easy <= (1 if record.changed else 0)


def test_distractors_take_change_captions_of_other_scenes(world, mined):
    by_text = {caption: r.group_id for r in world[0] if r.changed for caption in r.captions}
    for record in world[0]:
        if not record.changed:
            groups = {by_text[sentence] for sentence in mined.sentences[record.pair_id]}
            assert record.group_id not in groups


def test_a_third_of_each_kind_and_the_published_share_of_replaced_words(mined):
    assert mined.counts == {"retrieve": 2 * SCENES + 6 * SCENES, "replace": 2 * SCENES, "confuse": 2 * SCENES}
    assert mined.replaced == pytest.approx(0.234, abs=0.04)


def test_the_same_seed_gives_the_same_negatives(world):
    records, truths = world
    once, twice, other = (mine(records, truths, seed).sentences for seed in (1, 1, 2))
    assert once == twice != other


def test_truncated_negatives_still_differ_from_the_captions(world):
    records, truths = world
    short = mine(records, truths, 1, longest=9).sentences
    for record in records:
        own = {" ".join(caption.split()[:9]) for caption in record.captions}
        assert not own & {" ".join(sentence.split()[:9]) for sentence in short[record.pair_id]}


@pytest.mark.parametrize(
    ("sentence", "own", "settled"),
    [
        ("the blue thing became gray", "the small blue metal cylinder turned gray", False),
        ("the red thing became gray", "the small blue metal cylinder turned gray", True),
        ("the blue thing became red", "the small blue metal cylinder turned gray", True),
        ("the blue thing moved", "the small blue metal cylinder turned gray", True),
        ("the block moved", "the cube changed its location", False),
        ("the ball moved", "the cube changed its location", True),
        ("the shiny ball is gone", "the metal sphere has disappeared", False),
        ("the cube left of the red ball moved", "the cube right of the blue ball moved", False),
        ("there is no change", "the cube moved", True),
    ],
)
def test_only_a_contradiction_settles_that_a_sentence_is_false(sentence, own, settled):
    assert contradicts(parse(sentence), parse(own)) is settled


@pytest.mark.parametrize(
    ("caption", "parts"),
    [
        (
            "the red cube that is to the left of the big ball is gone",
            ("the red cube", " that is to the left of ", "the big ball", " is gone"),
        ),
        ("the tiny block behind the thing moved", ("the tiny block", " behind ", "the thing", " moved")),
        ("the small object turned red", ("the small object", "", "", " turned red")),
    ],
)
def test_a_caption_falls_into_its_phrases(caption, parts):
    assert split_phrases(caption) == parts


def test_too_few_captions_are_reported(world):
    with pytest.raises(DatasetError, match="of 6 false captions"):
        mine(world[0][1:2], None, 0)
