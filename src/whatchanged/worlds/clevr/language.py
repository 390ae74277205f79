"""Write CLEVR-Change sentences with the data set's phrases, verbs and synonyms, drawn at random or fixed.

A pair gets five to seven different sentences. Plain and relational phrases are equally likely. If only one of
the two kinds can identify the object, that kind is used. Synonyms are drawn uniformly. The vocabulary is the
data set's own 72 words.
"""

from collections.abc import Mapping
from typing import Literal

import numpy as np

from whatchanged.worlds.clevr.change import ChangeType, SceneChange, named
from whatchanged.worlds.clevr.phrases import (
    ATTRIBUTES,
    Attribute,
    Phrase,
    Plain,
    Relation,
    clearness,
    plain_subsets,
    relational_phrases,
)
from whatchanged.worlds.clevr.scene import COLORS, Scene

Wording = Literal["short", "full", "clear", "relational"]
WORDINGS: tuple[Wording, ...] = ("short", "full", "clear", "relational")

SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "large": ("large", "big"),
    "small": ("small", "tiny"),
    "rubber": ("rubber", "matte"),
    "metal": ("metal", "metallic", "shiny"),
    "cube": ("cube", "block"),
    "sphere": ("sphere", "ball"),
    "cylinder": ("cylinder",),
    "thing": ("thing", "object"),
    **{color: (color,) for color in COLORS},
}
"""The words for each value. The fixed wordings use the first word."""

RELATION_WORDS: Mapping[Relation, tuple[str, ...]] = {
    "left": ("left of", "to the left of", "on the left side of"),
    "right": ("right of", "to the right of", "on the right side of"),
    "behind": ("behind",),
    "front": ("in front of",),
}

VERBS: Mapping[ChangeType, tuple[str, ...]] = {
    "color": ("changed to", "turned", "became"),
    "material": ("changed to", "turned", "became"),
    "add": ("has been added", "has appeared", "has been newly placed"),
    "drop": ("has disappeared", "is missing", "is gone", "is no longer there"),
    "move": ("moved", "changed its location", "is in a different location"),
}
"""The words that follow the phrase. A sentence about a color or material ends with the new value."""

NO_CHANGE: tuple[str, ...] = (
    "there is no change",
    "no change was made",
    "the two scenes seem identical",
    "the scene is the same as before",
    "the scene remains the same",
    "nothing has changed",
    "nothing was modified",
    "no change has occurred",
    "there is no difference",
)

WORDS: frozenset[str] = frozenset(
    " ".join(
        (
            *(word for words in SYNONYMS.values() for word in words),
            *(words for wordings in RELATION_WORDS.values() for words in wordings),
            *(verb for verbs in VERBS.values() for verb in verbs),
            *NO_CHANGE,
            "the",
            "that is",
        )
    ).split()
)
"""The 72 words of the world."""

LEAST_SENTENCES, MOST_SENTENCES = 5, 7


def write_captions(
    before: Scene, after: Scene, change: SceneChange, rng: np.random.Generator
) -> tuple[str, ...]:
    """Return five to seven different sentences that are true of this ordered pair of scenes.

    A phrase describes the object before the change. An added object is described after the change. Raises
    ``ValueError`` if no phrase identifies the changed object.
    """
    count = int(rng.integers(LEAST_SENTENCES, MOST_SENTENCES + 1))
    if change.type == "none":
        return tuple(NO_CHANGE[i] for i in rng.permutation(len(NO_CHANGE))[:count])
    scene, index = named(before, after, change)
    subsets = plain_subsets(scene, index)
    relations = list(relational_phrases(scene, index))
    if not subsets and not relations:
        raise ValueError(f"no phrase singles out object {index} of a scene of {len(scene.objects)}")
    written: dict[str, None] = {}
    while len(written) < count:
        plain = bool(subsets) and (not relations or rng.random() < 0.5)
        phrase = (
            _draw_plain(scene, index, subsets, rng)
            if plain
            else _draw_relational(scene, index, relations, rng)
        )
        written[f"{phrase_text(phrase, rng)} {_predicate(after, change, rng)}"] = None
    return tuple(written)


def write_fixed(before: Scene, after: Scene, change: SceneChange, wording: Wording) -> str:
    """Return the sentence about this pair in a fixed wording.

    short        names the smallest number of attributes that identify the object
    full, clear  name all four attributes
    relational   names all four attributes, and a relation if one helps to identify the object

    The first three add a relation only if the object has a duplicate. ``clear`` uses the relation that is
    clearest in the picture, and names all four attributes of the other object. The remaining wordings choose
    the other object that needs the fewest attributes, and name only these. Among equal candidates they take
    the first, and prefer left or right to behind or in front.
    """
    if change.type == "none":
        return NO_CHANGE[0]
    scene, index = named(before, after, change)
    subsets = plain_subsets(scene, index)
    relations = [] if subsets and wording != "relational" else list(relational_phrases(scene, index))
    if relations and wording == "clear":
        relation, other = max(relations, key=lambda r: clearness(scene, index, *r))
        phrase = Phrase(Plain.of(scene.objects[index]), relation, Plain.of(scene.objects[other]))
    elif relations:
        relation, other = min(relations, key=lambda r: len(plain_subsets(scene, r[1])[0]))
        phrase = Phrase(Plain.of(scene.objects[index]), relation, _shortest(scene, other))
    elif subsets:
        phrase = Phrase(_shortest(scene, index) if wording == "short" else Plain.of(scene.objects[index]))
    else:
        raise ValueError(f"no phrase singles out object {index} of a scene of {len(scene.objects)}")
    return f"{phrase_text(phrase)} {_predicate(after, change)}"


def phrase_text(phrase: Phrase, rng: np.random.Generator | None = None) -> str:
    """Return the words of a phrase. ``rng`` draws the synonyms. Without ``rng``, the first synonym is
    used.
    """
    words = _noun(phrase.head, rng)
    if phrase.relation is None or phrase.other is None:
        return words
    if rng is None or rng.random() < 0.5:
        words += " that is"
    return f"{words} {_choose(RELATION_WORDS[phrase.relation], rng)} {_noun(phrase.other, rng)}"


def _noun(plain: Plain, rng: np.random.Generator | None) -> str:
    values = [v for a in ATTRIBUTES[:3] if (v := getattr(plain, a)) is not None]
    return " ".join(("the", *(_choose(SYNONYMS[v], rng) for v in (*values, plain.shape or "thing"))))


def _predicate(after: Scene, change: SceneChange, rng: np.random.Generator | None = None) -> str:
    verb = _choose(VERBS[change.type], rng)
    if change.type not in ("color", "material") or change.after is None:
        return verb
    item = after.objects[change.after]
    value = item.color if change.type == "color" else item.material
    return f"{verb} {_choose(SYNONYMS[value], rng)}"


def _draw_plain(
    scene: Scene, index: int, subsets: list[tuple[Attribute, ...]], rng: np.random.Generator
) -> Phrase:
    return Phrase(Plain.of(scene.objects[index], subsets[int(rng.integers(len(subsets)))]))


def _draw_relational(
    scene: Scene, index: int, relations: list[tuple[Relation, int]], rng: np.random.Generator
) -> Phrase:
    relation, other = relations[int(rng.integers(len(relations)))]
    described = _draw_plain(scene, other, plain_subsets(scene, other), rng)
    return Phrase(Plain.of(scene.objects[index]), relation, described.head)


def _shortest(scene: Scene, index: int) -> Plain:
    return Plain.of(scene.objects[index], plain_subsets(scene, index)[0])


def _choose(words: tuple[str, ...], rng: np.random.Generator | None) -> str:
    return words[0] if rng is None else words[int(rng.integers(len(words)))]
