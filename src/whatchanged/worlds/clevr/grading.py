"""Parses CLEVR-Change sentences and judges them against the truth of a pair.

The grammar is the data set's, with all synonyms, and with attributes in any order. Parsing a sentence gives a
statement. Its phrase is then evaluated on a scene: the scene before the change, or, for an added object, the
scene after. Every correct sentence is therefore judged right, whichever phrase it uses. For a wrong sentence,
the judgement says which part is wrong.
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
    (("was", "moved"), "move"),  # before "moved", whose phrase would end with "was"
    *((tuple(verb.split()), kind) for kind in ("add", "drop", "move") for verb in VERBS[kind]),
)
_BECAME: tuple[tuple[str, ...], ...] = tuple(tuple(verb.split()) for verb in VERBS["color"])
_SAME = frozenset(NO_CHANGE)


@dataclass(frozen=True)
class ParsedStatement:
    """What a sentence claims: the type of change, the object, and the new value where there is one.

    A sentence that says that nothing changed has no phrase. Synonyms are replaced by the world's own values.
    """

    type: ChangeType
    phrase: Phrase | None = None
    value: str | None = None


@dataclass(frozen=True)
class SentenceJudgement:
    """Whether each part of a sentence is right. Every field is False for a sentence that cannot be read.

    value_right: the new color or material is the true one; also True where the type has no value.
    fits: the phrase fits the changed object, and perhaps others. fits_alone: it fits no other object.
    true: type, value and phrase are right. For a pair without change only the type is judged.
    """

    parsed: bool = False
    type_right: bool = False
    value_right: bool = False
    fits: bool = False
    fits_alone: bool = False

    @property
    def true(self) -> bool:
        """Whether the sentence says what happened, and names an object to which it happened."""
        return self.type_right and self.value_right and self.fits


@lru_cache(maxsize=1 << 14)
def parse(sentence: str) -> ParsedStatement | None:
    """What the sentence claims, or None where it does not follow the grammar.

    Case and repeated blanks do not matter. A full stop at the end is optional.
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
    """Whether an object gets a value that its phrase already has, as in "the brown cube turned brown"."""
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
    """Compare the claims of a sentence with the truth; None stands for a sentence that was not parsed.

    The phrase is evaluated on the scene before, with the attributes before the change; for an added object,
    on the scene after. The true type of change decides which scene, not the type that the sentence names, so
    object and type are judged independently.
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
    """The second object of a relation, the words of the relation, and the words that name that object.

    The object is an index in the scene to which the sentence refers (``named``). The words are positions in
    the sentence, such as those of "that is left of the". None where the sentence has no relation, or where
    its words describe no object there, or several.
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
    """Whether type, value and phrase of the sentence are right for this pair."""
    return judge(sentence, before, after, change).true


def _new_value(after: Scene, change: SceneChange) -> str | None:
    """The color or material after the change; None for a type that has no value."""
    item = changed_object(after, change.after)
    if item is None or change.type not in ("color", "material"):
        return None
    return item.color if change.type == "color" else item.material


def _phrase(words: Sequence[str]) -> Phrase | None:
    """A plain phrase, or: a plain phrase, ["that is"], a relation, and a plain phrase."""
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
    """The word "the", attributes, and a shape or "thing". Each attribute comes at most once."""
    if len(words) < 2 or words[0] != "the":
        return None
    values = [MEANING.get(word) for word in words[1:]]
    return plain_of(values)


def plain_of(values: Sequence[str | None]) -> Plain | None:
    """The phrase of attributes and, last, a shape or "thing"; None where one is unknown, or comes twice."""
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
    """The phrase of these values, each checked against those of its attribute."""
    return Plain(
        size=next((v for v in SIZES if v == results.get("size")), None),
        color=next((v for v in COLORS if v == results.get("color")), None),
        material=next((v for v in MATERIALS if v == results.get("material")), None),
        shape=next((v for v in SHAPES if v == results.get("shape")), None),
    )
