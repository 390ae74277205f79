import pytest

from whatchanged.compare.names import base_name, is_variant_word, variant_of


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("button-chrome.png", "button-firefox.png"),
        ("dark/menu@2x.png", "light/menu.png"),
        ("card_1280x800.png", "card_320.png"),
        ("test_plots.test_bars[dark]", "test_plots.test_bars[light]"),
    ],
)
def test_variants_have_one_base_name(one, other):
    assert base_name(one) == base_name(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("button-chrome.png", "menu-chrome.png"),
        ("0001.png", "0002.png"),
        ("320.png", "768.png"),
        ("0320.png", "0768.png"),
        ("page-320.png", "page-768.png"),
        ("shots/101.png", "shots/102.png"),
        ("report 1024/fig_320.png", "report 1024/fig_360.png"),
        ("chrome.png", "firefox.png"),
        ("test_plots.test_bars", "test_plots.test_lines"),
        ("v1.2", "v1.3"),
        ("кнопка.png", "меню.png"),
        ("按钮-dark.png", "菜单-dark.png"),
        ("की.png", "कि.png"),
        ("icon-\N{ROCKET}.png", "icon-\N{HONEYBEE}.png"),
        ("c++.png", "c.png"),
    ],
)
def test_other_things_have_other_names(one, other):
    assert base_name(one) != base_name(other)


def test_one_spelling_of_a_letter_is_as_good_as_another():
    assert base_name("caf\u00e9-dark.png") == base_name("cafe\u0301-light.png") == "caf\u00e9"


@pytest.mark.parametrize("word", ["chrome", "Dark", "2x", "1280x800", "320", "1024px", "320w"])
def test_words_that_tell_variants(word):
    assert is_variant_word(word) and base_name(f"card-{word}.png") == "card"


@pytest.mark.parametrize("word", ["12345", "12", "101", "1x2x3", "px", "card"])
def test_words_that_do_not(word):
    assert not is_variant_word(word) and base_name(f"page-{word}.png") == f"page-{word}"


@pytest.mark.parametrize(
    ("name", "variant"),
    [("a-chromium-dark.png", "chromium dark"), ("a.png", ""), ("dark.png", ""), ("page-320.png", "")],
)
def test_what_tells_a_variant_is_named(name, variant):
    assert variant_of(name) == variant
