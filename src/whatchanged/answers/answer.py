"""The answer for a pair of pictures, from a model or measured, and its JSON form."""

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from PIL import Image

from whatchanged.answers.outlines import outlined
from whatchanged.captioner.notebook import as_html
from whatchanged.errors import ShapeError
from whatchanged.images import PictureSource
from whatchanged.measured import Measured, Statement
from whatchanged.measured.pixels.reading import read_picture
from whatchanged.measured.policy import DEFAULT

if TYPE_CHECKING:
    from whatchanged.captioner.description import Description

AnswerVerdict = Literal["identical", "noise", "ignored", "changed", "unchanged"]
"""The verdicts: the pixels are equal; differences too small to name; such, plus others in ignored regions; a
visible change; differences of viewpoint and light only.
"""

MEASURED = "measured"
"""The value of ``Answer.answer`` where no model answered."""


@dataclass(frozen=True, eq=False)
class Answer:
    """The answer for a pair of pictures.

    >>> import whatchanged
    >>> answer = whatchanged.describe("before.png", "before.png")
    >>> answer.verdict, answer.changed, answer.no_change, answer.answer
    ('identical', False, 1.0, 'measured')
    >>> list(answer.as_json())[:3]
    ['caption', 'no_change', 'verdict']
    >>> whatchanged.describe("before.png", "after.png").heatmap().mode
    'RGB'

    sentence     what changed, in one sentence
    no_change    the probability that nothing visible changed
    verdict      identical, noise, changed; ignored where the pictures differ visibly only in ignored
                 regions; unchanged where a model says so, in a world in which viewpoint and light may differ
    doubtful     the verdict is close, or sentence and probability disagree; it counts as changed
    answer       the name of the model whose sentence it is, or "measured"
    size_before  width and height in pixels
    size_after   likewise
    changes      statements, best first; none where a model wrote its sentence word by word
    unfamiliar   whether a picture is unlike what the answering model knows; None where nobody can tell
    description  what a model said word by word, with its heat maps; else None
    measured     the measured answer beneath; None where a model's sentence did not need it
    sources      the pictures, as they were given
    policy       the name of the policy by which a change counts
    ignored      the part of the picture after in which differences did not count
    """

    sentence: str
    no_change: float
    verdict: AnswerVerdict
    doubtful: bool
    answer: str
    size_before: tuple[int, int]
    size_after: tuple[int, int]
    changes: tuple[Statement, ...] = ()
    unfamiliar: bool | None = None
    description: "Description | None" = field(default=None, repr=False)
    measured: Measured | None = field(default=None, repr=False)
    sources: tuple[PictureSource, PictureSource] | None = field(default=None, repr=False)
    policy: str = DEFAULT.name
    ignored: float = 0.0

    @property
    def as_measured(self) -> Measured | None:
        """The old name of ``measured``, until 0.4."""
        told = "Answer.as_measured is Answer.measured now. The old name will be removed in 0.4."
        warnings.warn(told, DeprecationWarning, stacklevel=2)
        return self.measured

    @property
    def changed(self) -> bool:
        """Whether an exit code should report a change: changed, or too close to tell."""
        return self.verdict == "changed" or self.doubtful

    def heatmap(self) -> Image.Image:
        """Return both pictures side by side, with contour lines of a model's attention, or boxes around what
        changed.

        Raises ShapeError where the pictures are not known, ImageError where they cannot be read.
        """
        if self.description is not None:
            return self.description.heatmap()
        if self.sources is None:
            raise ShapeError("The pictures of this answer are not known.")
        # Read again: an answer that kept its pixels would hold a folder's pictures in memory.
        before, after = (Image.fromarray(read_picture(source).on_white) for source in self.sources)
        return outlined(before, after, self.changes)

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows."""
        facts = f"{self.verdict}; probability that nothing changed: {self.no_change:.2f}; {self.answer}"
        if self.unfamiliar:
            facts += ": the pictures look unlike anything that it has seen"
        return as_html(self.sentence, facts, None if self.sources is None else self.heatmap())

    def as_json(
        self,
        pair_id: str | None = None,
        before: str | None = None,
        after: str | None = None,
        group: int | None = None,
    ) -> dict[str, Any]:
        """Return the fields of one line of output, in order; fields that are None or do not apply are
        absent.
        """
        # The order is that of the fields on disk, which people and tools read (docs/promises.md).
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
        if self.description is None:
            fields["changes"] = [statement.as_json() for statement in self.changes]
        return {key: value for key, value in fields.items() if value is not None}
