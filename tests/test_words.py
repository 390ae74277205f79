import pytest

from whatchanged import words


@pytest.mark.parametrize(
    ("box", "text"),
    [
        ((0, 0, 10, 10), "at the upper left"),
        ((90, 90, 100, 100), "at the lower right"),
        ((45, 45, 55, 55), "in the middle"),
        ((0, 0, 100, 10), "across the top"),
        ((0, 0, 10, 100), "down the left side"),
        ((0, 0, 100, 100), "over the whole picture"),
        ((45, 90, 55, 100), "at the bottom"),
        ((0, 45, 5, 55), "at the left"),
    ],
)
def test_places(box, text):
    assert words.position_phrase(box, (100, 100)) == text


@pytest.mark.parametrize(
    ("share", "text"), [(0.021, "2.1 %"), (0.5, "50 %"), (0.00001, "less than 0.1 %"), (1.0, "100 %")]
)
def test_shares(share, text):
    assert words.percent(share) == text


@pytest.mark.parametrize(
    ("step", "text"),
    [
        ((0, 24), "down by 24 pixels"),
        ((-1, 0), "left by 1 pixel"),
        ((3, -2), "right by 3 pixels and up by 2 pixels"),
    ],
)
def test_ways(step, text):
    assert words.way(*step) == text


@pytest.mark.parametrize(
    ("colour", "name"),
    [
        ((255, 255, 255), "white"),
        ((0, 0, 0), "black"),
        ((128, 128, 128), "grey"),
        ((255, 0, 0), "red"),
        ((0, 0, 128), "dark blue"),
        ((255, 200, 200), "light red"),
        ((139, 69, 19), "brown"),
        ((0, 128, 0), "dark green"),
        ((255, 165, 0), "orange"),
        ((237, 244, 250), "light blue"),
        ((232, 247, 244), "light turquoise"),
        ((240, 244, 245), "light grey"),
        ((254, 247, 255), "white"),
    ],
)
def test_names_of_colours(colour, name):
    assert words.color_name(colour) == name


def test_steps_of_colours():
    assert words.color_step((255, 0, 0), (0, 0, 255)) == "turned from red to blue"
    assert words.color_step((200, 200, 200), (120, 120, 120)) == "became darker"
    assert words.color_step((60, 60, 200), (160, 160, 250)) == "became lighter"


def test_numbers_and_nouns():
    texts = [words.counted(n, "pair") for n in (0, 1, 2, 2000)]
    assert texts == ["0 pairs", "1 pair", "2 pairs", "2,000 pairs"]
