from dataclasses import fields

import pytest

from whatchanged.recipes import ObjectsConfig
from whatchanged.recipes.hints import MOVED, OTHER_WORDS, nearest
from whatchanged.recipes.schema import StageConfig
from whatchanged.recipes.tables import DATA, VISION, find_method, method_names


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("stepps", " Did you mean steps?"),
        ("learning_rate", " Did you mean lr?"),
        ("xyz", " Known: steps, lr, width."),
        ("clip", " Known: steps, lr, width."),  # what it is called now is not among the known ones
    ],
)
def test_the_nearest_word_or_all(word, hint):
    assert nearest(word, ("steps", "lr", "width")) == hint


def test_every_other_word_leads_to_something_that_exists():
    kinds = [*VISION.kinds(), *DATA.kinds(), StageConfig, *map(known_method, method_names())]
    known = {entry.name for kind in kinds for entry in fields(kind)}
    known |= {*method_names(), *ObjectsConfig().tasks}
    assert set(OTHER_WORDS.values()) <= known
    assert not set(OTHER_WORDS) & known
    assert not {key.partition(".")[2] for key in MOVED} & known - {"guided_attention"}


def known_method(name):
    return find_method(name, "")
