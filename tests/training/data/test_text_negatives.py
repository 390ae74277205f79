"""False captions of free text: what each kind may do, and that none is true where truth is known."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whatchanged.datasets import open_dataset
from whatchanged.datasets.preparation import bird_words
from whatchanged.errors import DatasetError
from whatchanged.records import PairRecord
from whatchanged.training.data.text_negatives import (
    can_exchange,
    canonical,
    exchange,
    is_symmetric,
    mine_text,
)
from whatchanged.worlds.birds.language import is_true
from whatchanged.worlds.birds.truth import read_truth

pytest.importorskip("textblob")


def prepared(folder, count=None):
    records = [r for r in open_dataset(folder).records if r.split == "train"][:count]
    return [replace(r, captions=tuple(" ".join(bird_words(c)) for c in r.captions)) for r in records]


@pytest.fixture(scope="module")
def pairs(tiny_birds):
    return prepared(tiny_birds / "birds_to_words")


@pytest.fixture(scope="module")
def singles(tiny_birds):
    return prepared(tiny_birds / "cub")


@pytest.fixture(scope="module", params=["pairs", "singles"])
def mined(request, tiny_birds):
    """Records, their judge, and what is mined with and without it."""
    records = request.getfixturevalue(request.param)
    birds = read_truth(tiny_birds / ("birds_to_words" if request.param == "pairs" else "cub"))

    def judge(record, sentence):
        return is_true(sentence, *(birds[path.name] for path in (record.before, record.after) if path))

    return records, judge, mine_text(records, seed=1, judge=judge), mine_text(records, seed=1)


def test_none_is_true_where_the_birds_are_known(mined):
    records, judge, known, _ = mined
    verdicts = Counter(judge(r, sentence) for r in records for sentence in known.sentences[r.pair_id])
    assert verdicts[True] == 0 and verdicts[False] > 3 * verdicts[None]
    assert {judge(r, caption) for r in records for caption in r.captions} == {True}


def test_without_the_birds_hardly_one_is_true(mined):
    records, judge, _, blind = mined
    verdicts = Counter(judge(r, sentence) for r in records for sentence in blind.sentences[r.pair_id])
    assert verdicts[True] <= 0.05 * verdicts.total()


def test_six_different_ones_that_no_annotator_wrote(mined):
    for found in mined[2:]:
        for record in mined[0]:
            own = {canonical(caption, 77) for caption in record.captions}
            said = [canonical(sentence, 77) for sentence in found.sentences[record.pair_id]]
            assert len(set(said)) == 6 and not own & set(said)


def test_pairs_have_three_kinds_and_single_pictures_two(pairs, singles):
    of_pairs, of_singles = mine_text(pairs, seed=1), mine_text(singles, seed=1)
    assert min(of_pairs.counts.values()) > 0.2 * 6 * len(pairs) and len(of_pairs.counts) == 3
    assert of_singles.counts == {"replace": 3 * len(singles), "retrieve": 3 * len(singles)}
    assert 0.1 < of_pairs.replaced < 0.35
    assert mine_text(pairs, seed=1).sentences == of_pairs.sentences != mine_text(pairs, seed=2).sentences


def pair(number, *captions, pictures=("a", "b"), **extra):
    paths = [Path(f"{name}.jpg") for name in pictures]
    return PairRecord(
        "birds_to_words", str(number), str(number), "train", "pair_caption", *paths, captions, extra=extra
    )


FILL = tuple(
    pair(10 + n, f"animal1 has a {color} beak while animal2 has a {other} tail", pictures=(f"c{n}", f"d{n}"))
    for n, (color, other) in enumerate(
        (a, b) for a in ("red", "blue", "green", "white") for b in ("brown", "orange", "pink", "black")
    )
)


def test_no_caption_of_the_same_two_pictures_or_species_is_retrieved():
    mine = pair(0, "animal1 has a yellow beak", species=("x", "y"))
    turned = pair(1, "animal1 has a yellow beak and a purple crest", pictures=("b", "a"))
    kin = pair(2, "animal1 has a yellow beak and a golden crest", pictures=("e", "f"), species=("x", "y"))
    other = pair(3, "animal1 has a yellow beak and a violet crest", pictures=("e", "g"), species=("x", "z"))
    results = mine_text([mine, turned, kin, other, *FILL], seed=0).sentences["0"]
    assert not {
        "animal1 has a yellow beak and a purple crest",
        "animal1 has a yellow beak and a golden crest",
    } & set(results)
    assert "animal1 has a yellow beak and a violet crest" in results


def test_a_shorter_way_to_say_the_same_is_not_retrieved():
    mine = pair(0, "animal1 has a long red beak and a gray chest , animal2 is brown with a short tail")
    shorter = pair(1, "animal1 has a red bill and a grey breast", pictures=("e", "f"))
    results = mine_text([mine, shorter, *FILL], seed=0).sentences["0"]
    assert shorter.captions[0] not in results


def test_that_two_are_the_same_is_said_at_most_once_and_never_where_an_annotator_says_it():
    same = [
        pair(1, "both birds look exactly the same", pictures=("e", "f")),
        pair(2, "animal1 and animal2 are very similar", pictures=("g", "h")),
        pair(3, "there are no differences between animal1 and animal2", pictures=("i", "j")),
    ]
    records = [pair(0, "animal1 has a yellow beak"), *same, *FILL]
    results = mine_text(records, seed=0).sentences
    assert all(sum(map(is_symmetric, results[r.pair_id])) == 0 for r in same)
    assert all(sum(map(is_symmetric, sentences)) <= 1 for sentences in results.values())


def test_a_replacement_is_no_synonym_and_nobodys_word():
    rows = ("grey", "gray", "greyish", "red")
    records = [
        pair(
            n,
            f"animal1 has a {rows[n % 4]} beak",
            f"animal2 has a {rows[n // 4]} tail",
            pictures=(f"a{n}", f"b{n}"),
        )
        for n in range(16)
    ]
    found = mine_text([*records, *FILL], seed=0)
    for record in records:
        own = {word for caption in record.captions for word in canonical(caption, 77).split()}
        for sentence in found.sentences[record.pair_id]:
            if sentence not in {exchange(c) for c in record.captions}:
                assert set(canonical(sentence, 77).split()) - own


@pytest.mark.parametrize(
    ("caption", "may"),
    [
        ("animal1 is brown while animal2 is orange", True),
        ("Animal 1 has a red beak. Animal 2 has a blue one.", True),
        ("animal1 is larger than animal2", True),
        ("animal1 is brown . animal2 is brown", False),
        ("animal1 and animal2 are brown", False),
        ("both animals have brown wings", False),
        ("the two look similar", False),
        ("there are no differences between animal1 and animal2", False),
        ("a brown bird", False),
    ],
)
def test_birds_change_places_only_where_that_says_something_else(caption, may):
    assert can_exchange(caption) == may


def test_the_paper_s_example_of_confusion():
    said = "animal1 is brown with white tuft while animal2 is orange"
    assert exchange(said) == "animal2 is brown with white tuft while animal1 is orange"
    assert exchange("Animal 1 is larger than animal 2.") == "Animal 2 is larger than animal 1."


@given(st.lists(st.sampled_from(["animal1", "animal2", "has", "red", "wings", ",", "while"]), max_size=12))
def test_changing_places_twice_changes_nothing(words):
    text = " ".join(words)
    assert exchange(exchange(text)) == text
    assert can_exchange(text) == can_exchange(exchange(text))


def test_a_caption_cut_short_must_still_differ():
    """What differs only behind the cut is no false caption."""
    mine = pair(0, "animal1 has a yellow beak and a brown tail while animal2 is plain")
    late = pair(1, "animal1 has a yellow beak and a brown tail while animal2 is pink", pictures=("e", "f"))
    results = mine_text([mine, late, *FILL], seed=0, longest=8).sentences["0"]
    assert all(canonical(sentence, 8) != canonical(mine.captions[0], 8) for sentence in results)
    assert late.captions[0] not in results


def test_too_few_captions_are_an_error_that_says_so():
    with pytest.raises(DatasetError, match="of 6 false captions can be found"):
        mine_text([pair(0, "animal1 is red"), pair(1, "animal1 is blue", pictures=("e", "f"))], seed=0)
