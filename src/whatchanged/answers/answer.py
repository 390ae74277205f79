"""What is said of a pair of pictures, whoever says it, and the form that is written."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from whatchanged.measured import Measured, Statement

if TYPE_CHECKING:
    from whatchanged.captioner.runtime import Description

Verdict = Literal["identical", "noise", "changed", "unchanged"]
"""Same pixels; differences that nobody would name; a visible change; differences of view and light alone."""

MEASURED = "measured"
"""What ``Answer.answer`` is where no model answered."""


@dataclass(frozen=True, eq=False)
class Answer:
    """What is said of a pair of pictures.

    sentence     what changed, in one sentence
    no_change    the probability that nothing visible changed
    verdict      identical, noise, changed; unchanged where a model says so of a world in which viewpoint and
                 light may differ
    doubtful     the verdict is close, or sentence and probability disagree; it counts as changed
    answer       the name of the model whose sentence it is, or "measured"
    size_before  width and height in pixels
    size_after   likewise
    changes      the measured statements, best first; none where a model answered
    unfamiliar   whether a picture is unlike what the answering model knows; None where nobody can tell
    description  what the model said, with its heat maps; None where no model answered
    measured     the measured answer beneath; None where a model answered for a world in which viewpoint and
                 light may differ, as it says nothing there
    """

    sentence: str
    no_change: float
    verdict: Verdict
    doubtful: bool
    answer: str
    size_before: tuple[int, int]
    size_after: tuple[int, int]
    changes: tuple[Statement, ...] = ()
    unfamiliar: bool | None = None
    description: "Description | None" = field(default=None, repr=False)
    measured: Measured | None = field(default=None, repr=False)

    @property
    def changed(self) -> bool:
        """Whether an exit code should say so: changed, or too close to tell."""
        return self.verdict == "changed" or self.doubtful

    def as_json(
        self,
        pair_id: str | None = None,
        before: str | None = None,
        after: str | None = None,
        group: int | None = None,
    ) -> dict[str, Any]:
        """The fields of one line of output, in order; what is None or does not apply is absent."""
        fields: dict[str, Any] = {
            "id": pair_id,
            "caption": self.sentence,
            "no_change": round(self.no_change, 4),
            "verdict": self.verdict,
            "doubtful": self.doubtful,
            "answer": self.answer,
            "group": group,
            "changes": None,
            "before": before,
            "after": after,
            "size_before": list(self.size_before),
            "size_after": list(self.size_after),
            "unfamiliar": self.unfamiliar,
            "changed": self.changed,
        }
        if self.answer == MEASURED:
            fields["changes"] = [statement.as_json() for statement in self.changes]
        return {key: value for key, value in fields.items() if value is not None}
