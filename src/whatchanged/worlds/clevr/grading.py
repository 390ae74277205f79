"""Parse CLEVR-Change sentences and judge them against the truth of a pair.

The grammar is the data set's own, with all synonyms, and with attributes in any order. Parsing a sentence
gives a statement. The phrase of the statement is then evaluated on a scene: the scene before the change, or
the scene after for an added object. Every correct sentence is therefore judged as correct, whichever phrase
it uses. For an incorrect sentence, the judgement says which part is wrong.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from whatchanged.worlds.clevr.change import ChangeType, SceneChange, changed_object, named
from whatchanged.worlds.clevr.language import NO_CHANGE, RELATION_WORDS, SYNONYMS, VERBS
from whatchanged.worlds.clevr.phrases import Attribute, Phrase, Plain, Relation, referents
from whatchanged.worlds.clevr.scene import COLORS, MATERIALS, SHAPES, SIZES, Scene

MEANING: Mapping[str, str] = {word: value for value, words in SYNONYMS.items() for word in words}
ATTRIBUTE_OF: Mapping[str, Attribute] = {
    **dict.fromkeys(SIZES, "size"),
    **dict.fromkeys(COLORS, "color"),
    **dict.fromkeys(MATERIALS, "material"),
    **dict.fromkeys(SHAPES, "shape"),
}
_RELATIONS: tuple[tuple[tuple[str, ...], Relation], ...] = tuple(
    (tuple(words.split()), relation) for relation, wordings in RELATION_WORDS.items() for words in wordings
)
_ENDINGS: tuple[tuple[tuple[str, ...], ChangeType], ...] = (
    (("was", "moved"), "move"),  # before "moved", or the phrase would end with "was"
    *((tuple(verb.split()), kind) for kind in ("add", "drop", "move") for verb in VERBS[kind]),
)
_BECAME: tuple[tuple[str, ...], ...] = tuple(tuple(verb.split()) for verb in VERBS["color"])
_SAME = frozenset(NO_CHANGE)


@dataclass(frozen=True)
class ParsedStatement:
    """The claims of a sentence: the type of change, the object, and the new value if there is one.

    A sentence that says that nothing changed has no phrase. Synonyms are replaced by the world's own values.
    """

    type: ChangeType
    phrase: Phrase | None = None
    value: str | None = None


@dataclass(frozen=True)
class SentenceJudgement:
    """Whether each part of a sentence is right. All fields are False for a sentence that cannot be parsed.

    value_right: the new color or material is the true one. It is also True if the type has no value.
    fits: the phrase describes the changed object, and possibly others.
    fits_alone: the phrase describes the changed object and no other.
    """

    parsed: bool = False
    type_right: bool = False
    value_right: bool = False
    fits: bool = False
    fits_alone: bool = False

    @property
    def true(self) -> bool:
        """Return whether type, value and phrase are right.

        For a pair without change, only the type is judged.
        """
        return self.type_right and self.value_right and self.fits


@lru_cache(maxsize=1 << 14)
def parse(sentence: str) -> ParsedStatement | None:
    """Return the claims of the sentence, or None if it does not follow the grammar.

    Case and repeated spaces are ignored. A full stop at the end is optional.
    """
    words = tuple(sentence.strip().removesuffix(".").lower().split())
    if " ".join(words) in _SAME:
        return ParsedStatement("none")
    for ending, kind in _ENDINGS:
        if words[-len(ending) :] == ending:
            phrase = _phrase(words[: -len(ending)])
            return None if phrase is None else ParsedStatement(kind, phrase)
    for verb in _BECAME:
        value = MEANING.get(words[-1], "") if words else ""
        attribute = ATTRIBUTE_OF.get(value)
        if words[-len(verb) - 1 : -1] == verb and (attribute == "color" or attribute == "material"):
            phrase = _phrase(words[: -len(verb) - 1])
            return None if phrase is None else ParsedStatement(attribute, phrase, value)
    return None


def contradicts_itself(sentence: str) -> bool:
    """Return whether the new value is already in the phrase, as in "the brown cube turned brown"."""
    said = parse(sentence)
    if said is None or said.phrase is None or said.value is None:
        return False
    return said.value in (said.phrase.head.color, said.phrase.head.material)


def judge(sentence: str, before: Scene, after: Scene, change: SceneChange) -> SentenceJudgement:
    """Compare a sentence of the data set's grammar with the truth of an ordered pair of scenes."""
    return judge_statement(parse(sentence), before, after, change)


def judge_statement(
    statement: ParsedStatement | None, before: Scene, after: Scene, change: SceneChange
) -> SentenceJudgement:
    """Compare the claims of a sentence with the truth.

    ``statement`` is None for a sentence that was not parsed.

    The phrase is evaluated on the scene before, with the attributes before the change. For an added object it
    is evaluated on the scene after. This choice depends on the true type of change and not on the stated
    type. Object and type are therefore judged independently.
    """
    if statement is None:
        return SentenceJudgement()
    type_right = statement.type == change.type
    if change.type == "none" or statement.phrase is None:
        same = type_right and statement.type == "none"
        return SentenceJudgement(True, type_right, same, same, same)
    scene, index = named(before, after, change)
    meant = referents(statement.phrase, scene)
    value_right = type_right and statement.value == _new_value(after, change)
    return SentenceJudgement(True, type_right, value_right, index in meant, meant == [index])


def other_object(
    sentence: str, before: Scene, after: Scene, change: SceneChange
) -> tuple[int, range, range] | None:
    """Return the second object of a relation, the words of the relation, and the words that name that object.

    The object is an index in the scene to which the sentence refers (``named``). The words are ranges of word
    positions in the sentence. For example, the relation may have the words "that is left of the". Return None
    if the sentence has no relation, or if its words describe no object or several.
    """
    statement = parse(sentence)
    if statement is None or statement.phrase is None or statement.phrase.other is None:
        return None
    results = referents(Phrase(statement.phrase.other), named(before, after, change)[0])
    words = sentence.lower().split()
    nouns = [i for i, word in enumerate(words) if MEANING.get(word) in (*SHAPES, "thing")]
    if len(results) != 1:
        return None
    name = max(i for i in range(nouns[0], nouns[1]) if words[i] == "the") + 1
    return results[0], range(nouns[0] + 1, name), range(name, nouns[1] + 1)


def is_true(sentence: str, before: Scene, after: Scene, change: SceneChange) -> bool:
    """Return whether type, value and phrase of the sentence are right for this pair."""
    return judge(sentence, before, after, change).true


def _new_value(after: Scene, change: SceneChange) -> str | None:
    """Return the color or material after the change, or None for a type that has no value."""
    item = changed_object(after, change.after)
    if item is None or change.type not in ("color", "material"):
        return None
    return item.color if change.type == "color" else item.material


def _phrase(words: Sequence[str]) -> Phrase | None:
    """Parse a phrase: a plain phrase, or a plain phrase, optional "that is", relation, and plain phrase."""
    for start in range(1, len(words)):
        for wording, relation in _RELATIONS:
            if tuple(words[start : start + len(wording)]) == wording:
                first = (
                    words[: start - 2] if tuple(words[start - 2 : start]) == ("that", "is") else words[:start]
                )
                head, other = _plain(first), _plain(words[start + len(wording) :])
                return None if head is None or other is None else Phrase(head, relation, other)
    head = _plain(words)
    return None if head is None else Phrase(head)


def _plain(words: Sequence[str]) -> Plain | None:
    """Parse the word "the", attributes, and a shape or "thing". Each attribute may occur at most once."""
    if len(words) < 2 or words[0] != "the":
        return None
    values = [MEANING.get(word) for word in words[1:]]
    return plain_of(values)


def plain_of(values: Sequence[str | None]) -> Plain | None:
    """Return the plain phrase of these values, which end with a shape or "thing".

    Return None if a value is unknown or an attribute occurs twice.
    """
    if not values or values[-1] not in (*SHAPES, "thing"):
        return None
    results: dict[Attribute, str] = {}
    for value in values if values[-1] != "thing" else values[:-1]:
        attribute = ATTRIBUTE_OF.get(value or "")
        if value is None or attribute is None or attribute in results:
            return None
        results[attribute] = value
    return as_plain(results)


def as_plain(results: Mapping[Attribute, str]) -> Plain:
    """Return the plain phrase of these values. A value that is not valid for its attribute is dropped."""
    return Plain(
        size=next((v for v in SIZES if v == results.get("size")), None),
        color=next((v for v in COLORS if v == results.get("color")), None),
        material=next((v for v in MATERIALS if v == results.get("material")), None),
        shape=next((v for v in SHAPES if v == results.get("shape")), None),
    )
