"""The measured answer for any two pictures: no model, only what can be counted."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from whatchanged import words
from whatchanged.errors import WhatchangedError
from whatchanged.images import PictureSource, kept, picture_size
from whatchanged.measured.amounts.refine import refined
from whatchanged.measured.compared import Compared
from whatchanged.measured.pixels import gate
from whatchanged.measured.pixels.gate import Visibility
from whatchanged.measured.pixels.reading import Picture, read_picture, same_bytes
from whatchanged.measured.pixels.regions import WEAKER
from whatchanged.measured.policy import DEFAULT, Policy
from whatchanged.measured.result import Box, Measured, Statement
from whatchanged.measured.rules import hidden, sentences
from whatchanged.measured.rules.canvas import turn_statement
from whatchanged.measured.rules.changes import in_words
from whatchanged.measured.signature import signature

Size = tuple[int, int]

TURN_SHARE = 0.02
"""Share of the pixels that must differ visibly before a turn or a mirroring is looked for."""


def measure(
    before: PictureSource,
    after: PictureSource,
    sensitivity: float = 1.0,
    strict: bool = False,
    ignore: Sequence[Box] = (),
    policy: Policy = DEFAULT,
) -> Measured:
    """What differs between two pictures.

    sensitivity  2 finds differences half as strong as 1 does, 0.5 only those twice as strong
    strict       every pixel that differs is a change
    ignore       boxes in which differences do not count: of both pictures, or, of two sizes, of the one after
    policy       from which size on a change counts; its own sensitivity multiplies with ``sensitivity``

    Raises ImageError where a picture cannot be read.
    """
    check_sensitivity(sensitivity)
    before, after = kept(before), kept(after)
    if same_bytes(before, after):
        return of_same_bytes(before, ignore)
    one, other = read_picture(before), read_picture(after)
    compared = Compared(one.on_white, other.on_white, ignore, policy)
    return measure_read((one, other), (before, after), compared, sensitivity, strict)


def of_same_bytes(source: PictureSource, ignore: Sequence[Box] = ()) -> Measured:
    """The answer for two files of the same bytes, of which ``source`` is one; nothing is decoded."""
    return _unchanged("identical", picture_size(source, least=1), tuple(range(len(ignore))))


def measure_read(
    pictures: tuple[Picture, Picture],
    sources: tuple[PictureSource, PictureSource],
    compared: Compared,
    sensitivity: float = 1.0,
    strict: bool = False,
) -> Measured:
    """As ``measure``, of pictures that were read before; their sources are asked for later frames.

    compared: the pictures on white, what is ignored of them, and the policy.
    """
    threshold = threshold_of(compared.policy, sensitivity, strict)
    if not compared.one_size:
        return _of_two_sizes(compared, threshold)
    answer = _of_one_size(compared, threshold)
    if answer.verdict == "changed":
        return answer
    return hidden.look_closer(answer, *pictures, sources, threshold)


def threshold_of(policy: Policy, sensitivity: float = 1.0, strict: bool = False) -> float:
    """The strength from which on a difference is a change; 0 where every pixel is one."""
    return 0.0 if strict or policy.every_pixel else 1.0 / (sensitivity * policy.sensitivity)


def check_sensitivity(sensitivity: float) -> None:
    """Raises WhatchangedError where it is no number above 0."""
    if not 0 < sensitivity < math.inf:
        raise WhatchangedError(f"The sensitivity is {sensitivity:g}; give a number above 0, 1 is usual.")


def _of_one_size(compared: Compared, threshold: float) -> Measured:
    """Two pictures of one size."""
    before, after = compared.before, compared.after
    size = (after.shape[1], after.shape[0])
    if np.array_equal(before, after):
        verdict = "noise" if len(compared.unused) < len(compared.ignore) else "identical"
        return _unchanged(verdict, size, compared.unused)
    seen = compared.seen
    visible = seen.visible(threshold)
    changed = seen.score >= threshold
    score = seen.score / threshold if threshold else gate.CERTAIN
    share = float(np.count_nonzero(visible)) / visible.size
    turn = turn_statement(before, after) if share >= TURN_SHARE else None
    told = changed or gate.is_doubtful(score)
    changes = refined(compared.changes(min(threshold, seen.score)), before, after) if told else ()
    statements = tuple(in_words(changes, size))
    if turn is not None:
        statements = (turn,)
    return Measured(
        verdict="changed" if changed else "noise",
        doubtful=gate.is_doubtful(score),
        no_change=gate.probability_of_no_change(score),
        score=seen.score,
        share=share,
        statements=statements,
        sentence=_sentence(statements, changed, gate.is_doubtful(score)),
        notes=(),
        size_before=size,
        size_after=size,
        signature=signature(before, after, _counted(seen, threshold), statements),
        idle=compared.unused,
    )


def _counted(seen: Visibility, threshold: float) -> NDArray[np.bool_]:
    """The pixels that a signature is made of: those near the threshold or above, or all that differ."""
    strong = seen.visible(WEAKER * threshold)
    return strong if strong.any() else seen.differs


def _sentence(statements: Sequence[Statement], changed: bool, doubtful: bool) -> str:
    """The whole answer in words; of what is doubtful it says so."""
    if changed:
        return sentences.together(statements) if statements else words.capitalised("something faint changed")
    if statements:
        return f"Perhaps nothing visible changed; if anything: {words.lowered(statements[0].sentence)}"
    if doubtful:
        return words.capitalised(f"perhaps {words.NOISE}")
    return words.capitalised(words.NOISE)


def _unchanged(verdict: str, size: Size, unused: tuple[int, ...]) -> Measured:
    """Equal pixels, or equal but where differences are ignored."""
    same = verdict == "identical"
    return Measured(
        verdict="identical" if same else "noise",
        doubtful=False,
        no_change=1.0,
        score=0.0,
        share=0.0,
        statements=(),
        sentence=words.capitalised(words.SAME if same else words.NOISE),
        notes=(),
        size_before=size,
        size_after=size,
        idle=unused,
    )


def _of_two_sizes(compared: Compared, threshold: float) -> Measured:
    """Two pictures of two sizes."""
    before, after = compared.before, compared.after
    aligned = compared.aligned(threshold)
    changes = refined(aligned.changes, aligned.before, after)
    statements = in_words(changes, (after.shape[1], after.shape[0]), aligned.whole)
    return Measured(
        verdict="changed",
        doubtful=False,
        no_change=0.0,
        score=gate.CERTAIN,
        share=min(1.0, sum(statement.share for statement in statements)),
        statements=tuple(statements),
        sentence=sentences.together(statements),
        notes=(),
        size_before=(before.shape[1], before.shape[0]),
        size_after=(after.shape[1], after.shape[0]),
        signature=signature(aligned.before, after, _counted(aligned.seen, threshold), statements),
        idle=aligned.unused,
    )
