import numpy as np
import pytest
from support.drawn_page import page, with_box

from whatchanged.compare.grouping import base_name, find_groups, is_variant_word
from whatchanged.measured import measure


def answers():
    """Five pages whose badge turned green, four whose bar became longer, one of both, one that is as it
    was."""
    rng = np.random.default_rng(0)
    results = []
    for index in range(11):
        before = page(220, 130)
        x, y = int(rng.integers(120, 160)), int(rng.integers(90, 100))
        before = with_box(before, (x, y, x + 30, y + 20), (200, 40, 40))
        before = with_box(before, (10, 96, 60, 102), (40, 40, 160))
        after = before
        if index < 5 or index == 9:
            after = with_box(after, (x, y, x + 30, y + 20), (20, 140, 60))
        if 5 <= index < 10:
            after = with_box(after, (60, 96, 90, 102), (40, 40, 160))
        results.append(measure(before, after))
    return results


def test_pairs_of_one_cause_are_together_and_the_odd_one_comes_first():
    groups = find_groups(answers())
    of = {index: k for k, group in enumerate(groups) for index in group.members}
    assert len({of[index] for index in range(5)}) == 1
    assert len({of[index] for index in range(5, 9)}) == 1
    assert of[0] != of[5]
    assert 10 not in of  # identical
    with_both = groups[of[9]]
    assert len(with_both.members) == 1 or with_both.members[0] == 9 == with_both.odd[0]


def test_every_differing_pair_is_in_one_group():
    groups = find_groups(answers())
    assert sorted(index for group in groups for index in group.members) == list(range(10))


def test_none_and_one():
    assert find_groups([]) == []
    assert find_groups([measure(page(), page())]) == []
    (group,) = find_groups([measure(page(), with_box(page(), (120, 90, 150, 110), (255, 0, 0)))])
    assert group.members == (0,)
    assert "added" in group.sentence


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("button-chrome.png", "button-firefox.png"),
        ("dark/menu@2x.png", "light/menu.png"),
        ("card_1280x800.png", "card_320.png"),
    ],
)
def test_variants_have_one_base_name(one, other):
    assert base_name(one) == base_name(other)


def test_other_things_have_other_names():
    assert base_name("button-chrome.png") != base_name("menu-chrome.png")


@pytest.mark.parametrize("word", ["chrome", "Dark", "2x", "1280x800", "320", "1024px", "320w"])
def test_words_that_tell_variants(word):
    assert is_variant_word(word) and base_name(f"card-{word}.png") == "card"


@pytest.mark.parametrize("word", ["12345", "12", "1x2x3", "px", "card"])
def test_words_that_do_not(word):
    assert not is_variant_word(word) and base_name(f"page-{word}.png") == f"page-{word}"
