"""The rule for who is believed: a model may not deny what can be seen; and what is said of ignored places."""

from dataclasses import replace
from typing import NamedTuple

from whatchanged import words
from whatchanged.answers.answer import Answer, AnswerVerdict
from whatchanged.answers.pair import ReadPair
from whatchanged.measured import Measured


class Ruling(NamedTuple):
    """The verdict on a pair. stands: whether the model's answer is given; else the measured one is."""

    stands: bool
    verdict: AnswerVerdict
    doubtful: bool


def verdict_of(changed: bool, doubtful: bool, named: bool, measured: Measured | None) -> Ruling:
    """The verdict on a pair of which a model says something and the measurement perhaps something else.

    changed   whether the model says that something changed
    doubtful  whether its sentence and its probability disagree
    named     whether a person named it, so that its sentence stands
    measured  None where it was not asked, because the model says that something changed, or its world
              explains all that differs by viewpoint and light

    =========  =========  =======================  ===========================================
    model      says       measured                 ruling
    =========  =========  =======================  ===========================================
    any        changed    not asked                changed; doubtful if the model is
    any        unchanged  not asked                unchanged; doubtful if the model is
    not named  unchanged  noise, identical         as measured
    not named  unchanged  changed, doubtful noise  the measured answer is given
    named      unchanged  changed                  changed, doubtful
    named      either     noise, identical         as measured, and as doubtful
    named      changed    changed                  as measured, and as doubtful
    =========  =========  =======================  ===========================================

    A doubtful answer counts as changed, so nothing that can be seen is passed over in silence. The measured
    verdict is what a named model is told beside its sentence: one that says "changed" of equal pixels is
    measured, too.
    """
    if measured is None:
        return Ruling(True, "changed" if changed else "unchanged", doubtful)
    denied = measured.verdict == "changed" and not changed
    return Ruling(named or not measured.changed, measured.verdict, measured.doubtful or denied)


def only_ignored(answer: Answer, pair: ReadPair) -> Answer:
    """The answer; where it sees noise alone, and ignored places hide a visible change, it says so instead."""
    if answer.verdict != "noise" or answer.doubtful or not pair.hides_changes:
        return answer
    text = words.capitalised("the pictures differ visibly only in ignored places")
    return replace(answer, verdict="ignored", sentence=text)
