"""The rules for the verdict: a model may not deny a visible change; differences in ignored regions are
reported.
"""

from dataclasses import replace
from typing import NamedTuple

from whatchanged import words
from whatchanged.answers.answer import Answer, AnswerVerdict
from whatchanged.answers.pair import ReadPair
from whatchanged.measured import Measured


class Ruling(NamedTuple):
    """The verdict on a pair. stands: whether the model's answer is given; otherwise the measured one is."""

    stands: bool
    verdict: AnswerVerdict
    doubtful: bool


def verdict_of(changed: bool, doubtful: bool, named: bool, measured: Measured | None) -> Ruling:
    """Return the verdict on a pair, from the model's caption and the measured answer.

    changed   whether the model says that something changed
    doubtful  whether its sentence and its probability disagree
    named     whether the user named the model, so that its sentence stands
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

    A doubtful answer counts as changed, so no visible change is passed over. A named model's sentence appears
    with the measured verdict: if the model says "changed" of equal pixels, the pair is measured, too.
    """
    if measured is None:
        return Ruling(True, "changed" if changed else "unchanged", doubtful)
    denied = measured.verdict == "changed" and not changed
    return Ruling(named or not measured.changed, measured.verdict, measured.doubtful or denied)


def only_ignored(answer: Answer, pair: ReadPair) -> Answer:
    """Return the answer; if it reports only noise while ignored regions differ visibly, the answer says that
    instead.
    """
    if answer.verdict != "noise" or answer.doubtful or not pair.hides_changes:
        return answer
    text = words.capitalised("the pictures differ visibly only in ignored places")
    return replace(answer, verdict="ignored", sentence=text)
