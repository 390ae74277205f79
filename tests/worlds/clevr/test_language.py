import json
from collections import Counter

import numpy as np
import pytest

from whatchanged.evaluation.metrics.bleu import bleu, statistics
from whatchanged.evaluation.metrics.ngrams import count
from whatchanged.evaluation.metrics.rouge import rouge_l
from whatchanged.synth.clevr.sampling import sample_triple
from whatchanged.worlds.clevr.change import NOTHING, SceneChange, named
from whatchanged.worlds.clevr.grading import judge, parse
from whatchanged.worlds.clevr.language import NO_CHANGE, WORDS, phrase_text, write_captions, write_fixed
from whatchanged.worlds.clevr.phrases import Phrase, Plain
from whatchanged.worlds.clevr.scene import Scene, SceneObject, View
from whatchanged.worlds.clevr.truth import read_triples

# The data set's published vocabulary.
OFFICIAL = """a added appeared as ball became been before behind big block blue brown change changed
cube cyan cylinder difference different disappeared front gone gray green has identical in is its
large left location longer made matte metal metallic missing modified moved newly no nothing object
occurred of on placed purple red remains right rubber same scene scenes seem shiny side small sphere
that the there thing tiny to turned two was yellow"""

SOUTH = View((0.0, -8.0, 6.0))
CUBE = SceneObject("cube", "large", "red", "rubber", 0, 0)
BALL = SceneObject("sphere", "small", "red", "metal", 2, 0)
TUBE = SceneObject("cylinder", "small", "blue", "metal", 0.1, 2)
SCENE = Scene((CUBE, BALL, TUBE), SOUTH)


@pytest.fixture(scope="module")
def written():
    """Sentences of every ordered pair of some triples."""
    rng = np.random.default_rng(3)
    pairs = [pair for i in range(100) for pair in sample_triple(11, i).all_pairs()]
    return [(pair, write_captions(*pair, rng)) for pair in pairs]


def test_the_words_are_the_72_of_the_data_set(written):
    assert frozenset(OFFICIAL.split()) == WORDS
    assert len(WORDS) == 72
    assert {word for _, sentences in written for s in sentences for word in s.split()} == WORDS


def test_five_to_seven_different_sentences_equally_often(written):
    assert all(len(set(sentences)) == len(sentences) for _, sentences in written)
    counts = Counter(len(sentences) for _, sentences in written)
    assert set(counts) == {5, 6, 7}
    assert min(counts.values()) > 0.25 * len(written)


def test_every_sentence_of_every_ordered_pair_is_true_and_names_one_object(written):
    for (before, after, change), sentences in written:
        for sentence in sentences:
            verdict = judge(sentence, before, after, change)
            assert verdict.true and verdict.fits_alone, (sentence, change)


def test_sentences_of_other_pairs_are_seldom_true(written):
    false = sum(
        not judge(sentence, *pair).true
        for (pair, _), (_, others) in zip(written[:300], written[200:500], strict=True)
        for sentence in others
    )
    total = sum(len(others) for _, others in written[200:500])
    assert false > 0.6 * total


def test_choices_are_even(written):
    sentences = [s for (_, _, change), said in written for s in said if change != NOTHING]
    joined = Counter(" ".join(sentences).split())
    for words in (("large", "big"), ("small", "tiny"), ("rubber", "matte"), ("metal", "metallic", "shiny")):
        shares = np.array([joined[w] for w in words]) / sum(joined[w] for w in words)
        assert np.abs(shares - 1 / len(words)).max() < 0.06
    # Equal chance of a plain and a relational phrase, but an object with a duplicate has no plain one.
    related = [s for s in sentences if parse(s).phrase.relation is not None]
    assert 0.45 < len(related) / len(sentences) < 0.62
    assert 0.4 < sum("that is" in s for s in related) / len(related) < 0.6
    verbs = Counter(s.split("became")[0] != s for s in sentences if parse(s).type in ("color", "material"))
    assert verbs[True] / verbs.total() == pytest.approx(1 / 3, abs=0.08)


def test_relational_phrases_name_all_four_attributes_and_another_object_by_a_plain_phrase(written):
    for pair, sentences in written:
        for phrase in (parse(s).phrase for s in sentences):
            if phrase is None or phrase.relation is None:
                continue
            scene, _ = named(*pair)
            assert None not in (phrase.head.size, phrase.head.color, phrase.head.material, phrase.head.shape)
            assert sum(phrase.other.fits(item) for item in scene.objects) == 1


def test_no_change_sentences_are_drawn_from_the_nine():
    rng = np.random.default_rng(0)
    drawn = Counter(s for _ in range(300) for s in write_captions(SCENE, SCENE, NOTHING, rng))
    assert set(drawn) == set(NO_CHANGE)
    assert len(NO_CHANGE) == 9
    assert max(drawn.values()) < 1.2 * min(drawn.values())


def test_the_same_generator_writes_the_same():
    t = sample_triple(1, 2)
    one, other = (write_captions(*t.pairs()[0], np.random.default_rng(5)) for _ in range(2))
    assert one == other


@pytest.mark.parametrize(
    ("wording", "sentence"),
    [
        ("short", "the large thing changed to green"),
        ("full", "the large red rubber cube changed to green"),
        ("relational", "the large red rubber cube that is left of the sphere changed to green"),
    ],
)
def test_fixed_wordings_worked_by_hand(wording, sentence):
    green = Scene((SceneObject("cube", "large", "green", "rubber", 0, 0), BALL, TUBE), SOUTH)
    found = write_fixed(SCENE, green, SceneChange("color", 0, 0), wording)
    assert found == sentence
    assert judge(found, SCENE, green, SceneChange("color", 0, 0)).fits_alone


@pytest.mark.parametrize(
    ("change", "after", "sentence"),
    [
        (
            SceneChange("material", 1, 1),
            (CUBE, SceneObject("sphere", "small", "red", "rubber", 2, 0), TUBE),
            "changed to rubber",
        ),
        (SceneChange("drop", 1, None), (CUBE, TUBE), "has disappeared"),
        (
            SceneChange("move", 1, 1),
            (CUBE, SceneObject("sphere", "small", "red", "metal", -2, 0), TUBE),
            "moved",
        ),
    ],
)
def test_fixed_predicates(change, after, sentence):
    assert write_fixed(SCENE, Scene(after, SOUTH), change, "full") == f"the small red metal sphere {sentence}"


def test_an_added_object_is_named_in_the_scene_after():
    before = Scene((CUBE, TUBE), SOUTH)
    assert write_fixed(before, Scene((CUBE, TUBE, BALL), SOUTH), SceneChange("add", None, 2), "short") == (
        "the sphere has been added"
    )
    assert write_fixed(SCENE, SCENE, NOTHING, "full") == "there is no change"


def test_a_twin_gets_a_relation_in_every_wording():
    scene = Scene((CUBE, SceneObject("cube", "large", "red", "rubber", -2, 0.1), BALL), SOUTH)
    after = Scene((scene.objects[0], scene.objects[2]), SOUTH)
    # Both twins lie left of the ball and level with it, so nothing tells them apart.
    for wording in ("short", "full", "clear", "relational"):
        with pytest.raises(ValueError, match="no phrase singles out"):
            write_fixed(scene, after, SceneChange("drop", 1, None), wording)
    with pytest.raises(ValueError, match="no phrase singles out"):
        write_captions(scene, after, SceneChange("drop", 1, None), np.random.default_rng(0))
    between = Scene((*scene.objects[:2], SceneObject("sphere", "small", "red", "metal", -1, 0)), SOUTH)
    for wording in ("short", "full", "clear", "relational"):
        other = "small red metal sphere" if wording == "clear" else "small thing"
        assert write_fixed(between, after, SceneChange("drop", 1, None), wording) == (
            f"the large red rubber cube that is left of the {other} has disappeared"
        )


def test_clear_takes_the_relation_that_is_clearest_to_see():
    twin = SceneObject("cube", "large", "red", "rubber", 0.2, -3)
    ball, tube = (
        SceneObject("sphere", "small", "red", "metal", 0.3, 3),
        SceneObject("cylinder", "large", "gray", "metal", -3, -1.5),
    )
    scene, after = Scene((CUBE, twin, ball, tube), SOUTH), Scene((twin, ball, tube), SOUTH)
    # 0.3 left of the ball, of which the twin is 0.1 left; 1.5 behind the tube, which the twin is 1.5 before.
    for wording, phrase in (
        ("full", "left of the small thing"),
        ("clear", "behind the large gray metal cylinder"),
    ):
        assert write_fixed(scene, after, SceneChange("drop", 0, None), wording) == (
            f"the large red rubber cube that is {phrase} has disappeared"
        )


def test_say_without_a_generator_uses_the_first_words():
    phrase = Phrase(Plain(size="small", material="metal"), "front", Plain(color="cyan", shape="sphere"))
    assert phrase_text(phrase) == "the small metal thing that is in front of the cyan sphere"


@pytest.mark.parametrize(
    ("wording", "scores"),
    [
        ("short", ((49.4, 72.7), (37.5, 67.5), (48.1, 75.5), (35.1, 61.7), (31.0, 64.0))),
        ("full", ((57.9, 77.5), (61.2, 74.9), (59.2, 78.9), (54.3, 69.9), (54.2, 75.4))),
        ("relational", ((42.9, 72.9), (42.6, 71.1), (40.4, 74.8), (36.4, 69.4), (44.2, 74.4))),
    ],
)
def test_fixed_wordings_score_what_the_development_sets_own_perfect_eye_scored(dev_folder, wording, scores):
    """BLEU-4 and ROUGE-L, times 100, of each type: one wrong word in one of its twenty sentences shows."""
    captions = json.loads((dev_folder / "change_captions.json").read_text())
    triples = read_triples(dev_folder)
    for kind, (bleu_4, rouge) in zip(("color", "material", "add", "drop", "move"), scores, strict=True):
        chosen = [t for t in triples if t.change.type == kind]
        said = [write_fixed(*t.pairs()[0], wording) for t in chosen]
        references = [captions[f"CLEVR_default_{t.index:06d}.png"] for t in chosen]
        corpus = count(said, references)
        found = bleu(statistics(corpus).sum(axis=0))[3]
        assert 100 * found == pytest.approx(bleu_4, abs=0.06)
        assert 100 * rouge_l(corpus).mean() == pytest.approx(rouge, abs=0.06)
