"""Parse free English sentences about CLEVR pairs, beyond the data set's grammar.

People and language models write such sentences.

Only sentences that the grammar (``grading.parse``) cannot parse are handled here. The meaning of all other
sentences therefore stays the same. A sentence is parsed either completely or not at all. First, introductory
phrases ("in the second image", "it seems that") are removed. The remaining text must name one object with one
change, or say that nothing changed. Sentences with doubt, a question, a negated change, several changes, or a
change without its new value are not parsed.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

from whatchanged.worlds.clevr.change import ChangeType
from whatchanged.worlds.clevr.grading import ATTRIBUTE_OF, MEANING, ParsedStatement, as_plain, plain_of
from whatchanged.worlds.clevr.phrases import ATTRIBUTES, Attribute, Phrase, Plain, Relation

_WIDER: Mapping[str, str] = {
    **MEANING,
    **{"grey": "gray", "little": "small", "huge": "large", "box": "cube", "item": "thing"},
    **{"glossy": "metal", "reflective": "metal", "rubbery": "rubber"},
}
_ARTICLES = ("the", "a", "an")
_SIDES: Mapping[Relation, str] = {
    "left": r"(?:(?:to|on|at) the )?left(?: side)? of",
    "right": r"(?:(?:to|on|at) the )?right(?: side)? of",
    "behind": r"behind",
    "front": r"in front of",
}
_STANDING = (
    r"(?:(?:that|which) (?:is|was|sits|stands|lies) )?(?:(?:located|standing|sitting|placed|positioned) )?"
)
_RELATED = {side: re.compile(f"(.+?) {_STANDING}{words} (.+)") for side, words in _SIDES.items()}

_PICTURE = r"(?:scene|image|picture|photo|frame|photograph)"
_LATER = rf"(?:the )?(?:second|after|later|new|right|other|current)? ?{_PICTURE}|the second one"
_COMPARED = rf"compared (?:to|with) (?:the )?(?:first|before|earlier|previous|original|left)(?: {_PICTURE})?"
_BETWEEN = rf"between (?:the|these|both) (?:two )?{_PICTURE}s|between the two|since the first {_PICTURE}"
_LEADS = re.compile(
    rf"(?:(?:in|from|at) (?:{_LATER})|{_COMPARED}|{_BETWEEN}|after the change|now|here|overall"
    r"|(?:it (?:seems|appears|looks)|i (?:can )?(?:see|notice|observe)|you can see|we (?:can )?see)"
    r"(?: that| like)"
    r"|the (?:only |main )?(?:difference|change)(?: here| i (?:can )?see)? is(?: that)?) "
)
_TAILS = re.compile(
    rf" (?:(?:in|from|to|into|of) (?:{_LATER})|{_COMPARED}|{_BETWEEN}|now|at all|as before|anymore|any more)"
)
_ASIDE = re.compile(
    r"(?:everything|all) else (?:is|remains|stays|stayed|looks|remained) (?:exactly )?"
    r"(?:the same|unchanged|identical)"
    r"|(?:the rest(?: of the scene)?|all other objects|the other objects) "
    r"(?:is|are|remains?|stays?|remained) (?:the same|unchanged|identical)|nothing else (?:has )?changed"
)
_DOUBT = re.compile(r"\b(?:might|may|maybe|perhaps|possibly|probably|could|or|if|whether|unsure|not sure)\b")

_MUCH = r"(?:visible |apparent |noticeable |discernible |obvious |real |actual |other )?"
_SEEM = (
    r"(?:is|are|was|were|remains?|stays?|stayed|remained|looks?|appears?|seems?|have remained|has remained)"
)
_NOTHING = re.compile(
    rf"(?:there (?:is|are|was|were|has been|have been) |i (?:can )?see |i notice )?(?:absolutely )?no {_MUCH}"
    r"(?:changes?|differences?)(?: (?:has|have) (?:occurred|happened|been made|taken place)"
    r"| (?:occurred|happened|took place|(?:is|are) visible|visible|(?:was|were) made|can be seen|detected))?"
    r"|(?:absolutely )?nothing (?:has |was |is |looks |appears to have |has been )?"
    r"(?:changed|different|altered|modified)"
    rf"|(?:both |the two |the |these |these two )?"
    rf"(?:{_PICTURE}s?|everything|objects|all objects|all the objects)"
    rf" {_SEEM}(?: to be)?(?: exactly| completely| entirely| all)? (?:the same|identical|unchanged|alike)"
    rf"|(?:the )?(?:{_PICTURE}|objects) (?:has not|hasn't|have not|haven't|did not|didn't) changed?"
    r"|only the (?:camera|viewpoint|view|camera angle|camera position|lighting|light|angle|perspective)"
    r"(?: and the (?:lighting|light|viewpoint|camera))? (?:has |have )?(?:changed|moved|shifted|differs?)"
)
_EXCEPT = re.compile(
    r" (?:except for|apart from|besides|other than|but for) (?:the |a |some )?"
    r"(?:change of |change in )?(?:the )?"
    r"(?:camera(?: angle| position)?|viewpoint|view|lighting|light|angle|perspective)"
)

_IS = r"(?:is|was|has been|had been|got|gets)"
_PREDICATES: tuple[tuple[ChangeType, str], ...] = (
    ("drop", r"(?P<np>.+?) (?:has |have )?(?:now )?(?:disappeared|vanished|gone missing|went missing)"),
    ("drop", rf"(?P<np>.+?) {_IS} (?:now )?(?:gone|missing|removed|taken away|absent|deleted)"),
    ("drop", r"(?P<np>.+?) (?:is|was) (?:no longer|not) (?:there|present|visible|here|to be seen)"),
    ("drop", r"(?P<np>.+?) (?:is|was) present in the first image but not in the second(?: one| image)?"),
    ("drop", r"there is no longer (?P<np>.+)"),
    ("drop", r"(?:someone|somebody|they) (?:has |have )?(?:removed|took away|taken away|deleted) (?P<np>.+)"),
    ("add", r"(?P<new>.+?) (?:has |have )?(?:just |newly )?(?:appeared|showed up|shown up|appears|emerged)"),
    ("add", rf"(?P<new>.+?) {_IS} (?:newly |just )?(?:added|introduced|inserted|put there|newly placed|new)"),
    ("add", r"(?P<new>.+?) is now (?:there|present|visible|here)"),
    ("add", r"there is now (?P<new>.+)"),
    ("add", r"there is (?P<new>an? new .+)"),
    ("add", r"(?:someone|somebody|they) (?:has |have )?(?:added|placed|introduced|put) (?P<new>.+)"),
    (
        "move",
        r"(?P<np>.+?) (?:(?:has|have|was|got|has been|have been|is) )?(?:now )?(?:slightly )?"
        r"(?:moved|shifted|displaced|repositioned|relocated)(?: slightly| a bit| a little)?"
        r"(?: (?:away|forwards?|backwards?|back|to the (?:left|right|front|back)|closer to the camera"
        r"|further (?:back|away)|to (?:a|another) ?(?:new|different|other)? ?(?:place|position|location|spot)"
        r"|from its (?:original |old |previous )?(?:place|position|location|spot)))?",
    ),
    ("move", r"(?P<np>.+?) (?:has )?changed (?:its )?(?:place|position|location|spot)"),
    (
        "move",
        r"(?P<np>.+?) (?:is|was) (?:now )?(?:in|at) (?:a|another) ?(?:new|different|other)? ?"
        r"(?:place|position|location|spot)",
    ),
    (
        "move",
        r"(?P<np>.+?) is no longer (?:in|at) (?:the same|its (?:original|old|previous)) "
        r"(?:place|position|location|spot)",
    ),
    ("move", r"(?:someone|somebody|they) (?:has |have )?(?:moved|shifted|relocated) (?P<np>.+)"),
)
_CHANGES = tuple((kind, re.compile(pattern)) for kind, pattern in _PREDICATES)

_TO = r"(?P<value>\w+)(?: (?:in colou?r|colou?r|one|material))?"
_FROM = r"(?: from (?P<old>\w+))?"
_VALUES = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?P<np>.+?) (?:has |have |was |got |has been )?(?:changed|turned|switched|gone|went)"
        rf"(?: (?:its )?(?:colou?r|material|texture))?{_FROM} (?:to|into) {_TO}",
        rf"(?P<np>.+?) (?:has )?(?:turned|became|become|turns) (?:now )?{_TO}",
        rf"(?P<np>.+?) (?:is|looks|appears) now (?:made of )?{_TO}(?: instead of (?P<old>\w+))?",
        rf"(?P<np>.+?) is (?:made of )?{_TO} instead of (?P<old>\w+)",
        rf"(?P<np>.+?) (?:was|has been|got) (?:painted|recolou?red|repainted) {_TO}",
        rf"the (?:colou?r|material|texture) of (?P<np>.+?) (?:has |was |has been )?changed{_FROM} to {_TO}",
        rf"the (?:colou?r|material|texture) of (?P<np>.+?) is now {_TO}",
        rf"(?P<np>.+?)'s (?:colou?r|material|texture) (?:has |was |has been )?changed{_FROM} to {_TO}",
        rf"(?P<np>.+?) was (?P<old>\w+) (?:and|but) is now (?:made of )?{_TO}",
        rf"(?:someone|somebody|they) (?:has |have )?(?:painted|turned) (?P<np>.+) {_TO}",
    )
)


@lru_cache(maxsize=1 << 14)
def read_freely(sentence: str) -> ParsedStatement | None:
    """Return the claims of a free sentence, or None if its meaning is not certain."""
    text = " ".join(re.sub(r"[\"“”()*]", " ", sentence.replace("’", "'")).lower().split())
    if "?" in text or _DOUBT.search(text):
        return None
    clauses = [each for part in re.split(r"[.;!:]+", text) if (each := _bare(part))]
    said = {_clause(each) for each in clauses if not _ASIDE.fullmatch(each)}
    return said.pop() if len(said) == 1 else None


def _bare(clause: str) -> str:
    """Return a clause without commas and introductory or closing phrases."""
    words = " ".join(clause.replace(",", " ").split())
    while True:
        kept = words
        lead = _LEADS.match(kept)
        kept = kept[lead.end() :] if lead else kept
        for pattern in (_EXCEPT, _TAILS):
            tail = re.search(f"(?:{pattern.pattern})$", kept)
            kept = kept[: tail.start()] if tail else kept
        if kept == words:
            return words
        words = kept


def _clause(clause: str) -> ParsedStatement | None:
    """Return the claims of one clause, or None if it cannot be parsed."""
    if _NOTHING.fullmatch(clause):
        return ParsedStatement("none")
    for pattern in _VALUES:
        found = pattern.fullmatch(clause)
        if found:
            statement = _valued(found.groupdict())
            if statement is not None:
                return statement
    for kind, pattern in _CHANGES:
        found = pattern.fullmatch(clause)
        if found:
            groups = found.groupdict()
            phrase = _phrase(groups.get("np") or groups.get("new") or "", new="new" in groups)
            return None if phrase is None else ParsedStatement(kind, phrase)
    return None


def _valued(groups: Mapping[str, str | None]) -> ParsedStatement | None:
    """Return the statement for a change of color or material, or None if it cannot be parsed.

    If the clause gives the old value, that value also describes the object.
    """
    value = _WIDER.get(groups["value"] or "")
    attribute = ATTRIBUTE_OF.get(value or "")
    phrase = _phrase(groups["np"] or "")
    if phrase is None or value is None or (attribute != "color" and attribute != "material"):
        return None
    if groups.get("old"):
        old = _WIDER.get(groups["old"] or "")
        head: dict[Attribute, str | None] = {name: getattr(phrase.head, name) for name in ATTRIBUTES}
        if old is None or ATTRIBUTE_OF.get(old) != attribute or head[attribute] not in (None, old):
            return None
        head[attribute] = old
        phrase = Phrase(as_plain({name: v for name, v in head.items() if v}), phrase.relation, phrase.other)
    return ParsedStatement(attribute, phrase, value)


def _phrase(text: str, new: bool = False) -> Phrase | None:
    """Return the phrase for an object, with an optional relation to another object, or None if the text
    cannot be parsed.

    new: whether the phrase may call the object "new".
    """
    for relation, pattern in _RELATED.items():
        found = pattern.fullmatch(text)
        if found:
            head, other = _plain(found[1], new), _plain(found[2])
            return None if head is None or other is None else Phrase(head, relation, other)
    head = _plain(text, new)
    return None if head is None else Phrase(head)


def _plain(text: str, new: bool = False) -> Plain | None:
    """Return the plain phrase of an article, attributes, and a shape or "thing"; None for other texts.

    Each attribute may occur at most once.
    """
    words = text.replace("-colored", "").replace("-coloured", "").split()
    if len(words) < 2 or words[0] not in _ARTICLES:
        return None
    values = [_WIDER.get(word) for word in words[1:] if not (new and word == "new")]
    return plain_of(values)
