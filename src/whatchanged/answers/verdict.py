"""The rule for who is believed: a model may not deny what can be seen."""

from typing import NamedTuple

from whatchanged.answers.answer import AnswerVerdict
from whatchanged.measured import Measured

CHANGE_STANDS_BELOW = 0.1
"""Below this measured probability that nothing changed a change stands, whatever a model says. Of the drawn
pairs of held-out designs whose change a model of screens denied, 11 of 15 below it and 4 of 13 above it had
really changed."""


class Says(NamedTuple):
    """What a model says of a pair, as far as the verdict depends on it.

    changed        whether something changed
    doubtful       whether its sentence and its probability disagree
    named          whether a person named the model, so that its sentence stands
    by_statements  whether it makes statements, and begins where the measurement stands; else it writes a
                   sentence by itself
    tells          whether it has words for a change; a model that writes always has
    """

    changed: bool
    doubtful: bool = False
    named: bool = False
    by_statements: bool = False
    tells: bool = True


class Ruling(NamedTuple):
    """The verdict on a pair. stands: whether the model's answer is given; else the measured one is."""

    stands: bool
    verdict: AnswerVerdict
    doubtful: bool


def verdict_of(says: Says, measured: Measured | None) -> Ruling:
    """The verdict on a pair of which a model says something and the measurement perhaps something else.

    measured: None where it was not asked, because the model says that something changed, or its world
    explains all that differs by viewpoint and light.

    =============  =========  =======================  ===========================================
    model          says       measured                 ruling
    =============  =========  =======================  ===========================================
    writes         changed    not asked                changed; doubtful if the model is
    writes         unchanged  not asked                unchanged; doubtful if the model is
    writes         unchanged  noise, identical         as measured
    writes         unchanged  changed, doubtful noise  the measured answer is given
    writes, named  unchanged  changed                  changed, doubtful
    writes, named  either     noise, identical         as measured, and as doubtful
    writes, named  changed    changed                  as measured, and as doubtful
    states         changed    changed                  changed
    states         changed    noise                    changed, doubtful: it may find what is faint
    states         unchanged  noise                    noise
    states         unchanged  changed, surely          changed, doubtful (``CHANGE_STANDS_BELOW``)
    states         unchanged  changed, not surely      noise, doubtful
    has no words   either     noise                    noise; doubtful if it says changed
    has no words   either     changed                  noise, doubtful
    =============  =========  =======================  ===========================================

    A doubtful answer counts as changed, so nothing that can be seen is passed over in silence. The measured
    verdict is what a named model is told beside its sentence: one that says "changed" of equal pixels is
    measured, too.
    """
    if measured is None:
        return Ruling(True, "changed" if says.changed else "unchanged", says.doubtful)
    seen = measured.verdict == "changed"
    if says.by_statements:
        sure = seen and measured.no_change < CHANGE_STANDS_BELOW
        verdict: AnswerVerdict = "changed" if says.tells and (says.changed or sure) else "noise"
        return Ruling(True, verdict, says.changed != seen or verdict != measured.verdict)
    denied = seen and not says.changed
    return Ruling(says.named or not measured.changed, measured.verdict, measured.doubtful or denied)
