"""Judge sentences against the truth: grades for kind, element, values and position, and a verdict."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from whatchanged.worlds import Verdict
from whatchanged.worlds.screens.checking import (
    color_fits,
    count_fits,
    direction_fits,
    growth_fits,
    moves_by,
    name_fits,
    noun_fits,
    position_fits,
    way_fits,
)
from whatchanged.worlds.screens.reading import ReadSentence, ReadStatement, read
from whatchanged.worlds.screens.slots import colors_of, lighter, more
from whatchanged.worlds.screens.truth import ScreenChange, ScreenTruth

FAULTS = {
    "kind_right": "wrong kind",
    "element_right": "wrong element",
    "value_right": "wrong value",
    "place_right": "wrong place",
    "complete": "does not tell every change",
}
"""The possible faults of a sentence, by grade, with the words that describe them.

The most serious fault comes first.
"""
GRADES = (*FAULTS, "true", "called_none")


@dataclass(frozen=True)
class Grades:
    """The grades of one statement against one change. None: the statement makes no such claim."""

    kind: bool
    element: bool
    value: bool | None
    place: bool | None

    @property
    def true(self) -> bool:
        """Return whether all claims of the statement are true."""
        return self.kind and self.element and self.value is not False and self.place is not False

    @property
    def rank(self) -> int:
        """Return a score that grows with the number of correct claims. The kind has the largest weight."""
        return 8 * self.kind + 4 * self.element + 2 * (self.value is not False) + (self.place is not False)


def judge(sentence: str, truth: ScreenTruth) -> Verdict:
    """Judge a sentence about a pair.

    Each statement is compared with the change that it matches best. Two statements are never compared with
    the same change while other changes remain. The grades of the sentence combine the grades of its
    statements.

    The grade "complete" is True if the sentence states every change, up to a maximum of three. A true
    sentence may be incomplete. For a pair without change, "called_none" is the only grade.
    """
    found = read(sentence)
    if found is None:
        return Verdict(False, False, False, {**dict.fromkeys(GRADES, False), **_ungraded(truth, False)})
    if not truth.changes or found.unchanged:
        right = found.unchanged == (not truth.changes)
        all_alike = {**dict.fromkeys(GRADES, right), **_ungraded(truth, found.unchanged)}
        return Verdict(True, found.unchanged, right, all_alike, "" if right else _denied(truth))
    graded = _graded(found, truth)
    grades: dict[str, bool | None] = {
        "kind_right": all(one.kind for one in graded),
        "element_right": all(one.element for one in graded),
        "value_right": _together([one.value for one in graded]),
        "place_right": _together([one.place for one in graded]),
        "complete": len(graded) >= min(len(truth.changes), 3),
        "true": len(graded) <= len(truth.changes) and all(one.true for one in graded),
        "called_none": False,
    }
    faults = [text for name, text in FAULTS.items() if grades[name] is False]
    if len(graded) > len(truth.changes):
        faults.append("tells more than changed")
    return Verdict(True, False, grades["true"] is True, grades, faults[0] if faults else "")


def _ungraded(truth: ScreenTruth, called_none: bool) -> Mapping[str, bool | None]:
    """Return the grades that replace the computed ones.

    For a pair without change, every grade except "called_none" is None. For other pairs, only "called_none"
    is replaced.
    """
    none: dict[str, bool | None] = {"called_none": called_none}
    return none if truth.changes else {**dict.fromkeys(GRADES, None), **none}


def _denied(truth: ScreenTruth) -> str:
    return "denies the change" if truth.changes else "tells a change where there is none"


def _together(grades: list[bool | None]) -> bool | None:
    known = [grade for grade in grades if grade is not None]
    return all(known) if known else None


def _graded(sentence: ReadSentence, truth: ScreenTruth) -> list[Grades]:
    """Return the grades of each statement, in order.

    Each statement is compared with a different change until all changes are used. Further statements are
    compared with all changes.
    """
    left = list(truth.changes)
    results = []
    for readings in sentence.statements:
        changes = left or list(truth.changes)
        tried = [(grade(reading, change, truth), change) for reading in readings for change in changes]
        best, change = max(tried, key=lambda pair: pair[0].rank)
        results.append(best)
        if change in left:
            left.remove(change)
    return results


def grade(statement: ReadStatement, change: ScreenChange, truth: ScreenTruth) -> Grades:
    """Return the grades of one statement against one change."""
    said = statement.stated
    places = (
        [position_fits(said["place"], change, (truth.size_before, truth.size_after))]
        if "place" in said
        else []
    )
    return Grades(
        kind=statement.template.kind == change.kind,
        element=noun_fits(said["noun"], change),
        value=_together([*_values(statement, change)]),
        place=all(places) if places else None,
    )


def _values(statement: ReadStatement, change: ScreenChange) -> list[bool | None]:
    """Return, for each value that a statement names, whether it is the true value."""
    said, template, values = statement.stated, statement.template, change.values
    one, other = colors_of(change)
    results: list[bool | None] = []
    if template.aspects:
        results.append(change.aspect in template.aspects)
    if template.state:
        results.append(template.state == values.get("state"))
    if "either" in said:
        first = said["either"] == template.pair[0]
        results.append(_either(first, "more" in template.slots, change))
    checks: Mapping[str, Callable[[str], bool]] = {
        "way": lambda text: way_fits(text, change),
        "direction": lambda text: direction_fits(text, change),
        "growth": lambda text: growth_fits(text, change),
        "grown": lambda text: growth_fits(text, change),
        "before": lambda text: color_fits(text, one),
        "after": lambda text: color_fits(text, other),
        "shade": lambda text: lighter(change) == (1 if text == "lighter" else -1),
        "text_before": lambda text: _same(text, values.get("text_before")),
        "text_after": lambda text: _same(text, values.get("text_after")),
        "name": lambda text: name_fits(text, change),
        "called": lambda text: name_fits(text, change),
        "count": lambda text: count_fits(text, change),
    }
    results += [check(said[name]) for name, check in checks.items() if name in said]
    if statement.rest:
        results.append(any(moves_by(statement.rest, motion.step) for motion in change.consequences))
    return results


def _either(first: bool, amounts: bool, change: ScreenChange) -> bool:
    """Return whether the statement uses the correct one of two wordings.

    The first wording is correct for a larger value if ``amounts`` is True, and otherwise for a state that
    became true.
    """
    if amounts:
        return more(change) == (1 if first else -1)
    return change.values.get("on_after") is first


def _same(text: str, true: object) -> bool:
    return isinstance(true, str) and " ".join(text.lower().split()) == " ".join(true.lower().split())
