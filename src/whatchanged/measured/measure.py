"""The measured answer for any two pictures, computed without a model."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from whatchanged import words
from whatchanged.errors import WhatchangedError
from whatchanged.images import PictureSource, kept, picture_size
from whatchanged.measured.amounts.isolated import lines_in_other_type
from whatchanged.measured.amounts.refine import refined
from whatchanged.measured.amounts.slanted import slanted_lines
from whatchanged.measured.compared import Compared
from whatchanged.measured.pixels import gate
from whatchanged.measured.pixels.gate import Visibility
from whatchanged.measured.pixels.reading import Picture, read_picture, same_bytes
from whatchanged.measured.pixels.regions import WEAKER
from whatchanged.measured.policy import DEFAULT, Policy
from whatchanged.measured.result import Box, Measured, Statement
from whatchanged.measured.rules import hidden, sentences
from whatchanged.measured.rules.canvas import turn_statement
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.ranking import in_words
from whatchanged.measured.signature import signature

Size = tuple[int, int]

TURN_SHARE = 0.02
"""The pictures are tested for a turn or a mirroring only if at least this fraction of their pixels differs
visibly."""
LEAST_IN_TYPE = 0.05
"""The least score, as a fraction of the threshold, from which differences may be text in another type.
Drawn lines that became italic scored 0.08 to 0.89."""


def measure(
    before: PictureSource,
    after: PictureSource,
    sensitivity: float = 1.0,
    strict: bool = False,
    ignore: Sequence[Box] = (),
    policy: Policy = DEFAULT,
) -> Measured:
    """Measure the differences between two pictures.

    sensitivity  2 finds differences half as strong as 1 does; 0.5 finds only those twice as strong
    strict       whether every differing pixel is a change
    ignore       boxes in which differences do not count: of both pictures, or of the picture after if the
                 sizes differ
    policy       the limits at which a difference counts as a change; its sensitivity is multiplied by
                 ``sensitivity``

    Raises ImageError if a picture cannot be read.
    """
    check_sensitivity(sensitivity)
    before, after = kept(before), kept(after)
    if same_bytes(before, after):
        return of_same_bytes(before, ignore)
    one, other = read_picture(before), read_picture(after)
    compared = Compared(one.on_white, other.on_white, ignore, policy)
    return measure_read((one, other), (before, after), compared, sensitivity, strict)


def of_same_bytes(source: PictureSource, ignore: Sequence[Box] = ()) -> Measured:
    """Return the answer for two files with the same bytes, without decoding them. ``source`` is one of the
    files."""
    return _unchanged("identical", picture_size(source, least=1), tuple(range(len(ignore))))


def measure_read(
    pictures: tuple[Picture, Picture],
    sources: tuple[PictureSource, PictureSource],
    compared: Compared,
    sensitivity: float = 1.0,
    strict: bool = False,
) -> Measured:
    """Measure the differences between two pictures that are already decoded, like ``measure``.

    sources: the files of the pictures, from which later frames are read.
    compared: the pictures over white, the ignored boxes and the policy.
    """
    threshold = threshold_of(compared.policy, sensitivity, strict)
    if not compared.one_size:
        return _of_two_sizes(compared, threshold)
    answer = _of_one_size(compared, threshold)
    if answer.verdict == "changed":
        return answer
    may_be_type = answer.verdict == "noise" and answer.score >= LEAST_IN_TYPE * threshold
    lines = _lines_in_other_type(compared) if may_be_type else []
    if lines:
        return _of_lines(answer, compared, lines, threshold)
    return hidden.look_closer(answer, *pictures, sources, threshold)


def _lines_in_other_type(compared: Compared) -> list[DetectedChange]:
    """Return the lines of text that became italic or upright, or else those in another type."""
    before, after = compared.before, compared.after
    return slanted_lines(before, after) or lines_in_other_type(before, after)


def threshold_of(policy: Policy, sensitivity: float = 1.0, strict: bool = False) -> float:
    """Return the least strength of a change; 0 if every differing pixel is a change."""
    return 0.0 if strict or policy.every_pixel else 1.0 / (sensitivity * policy.sensitivity)


def check_sensitivity(sensitivity: float) -> None:
    """Raise WhatchangedError if the sensitivity is not a positive finite number."""
    if not 0 < sensitivity < math.inf:
        raise WhatchangedError(f"The sensitivity is {sensitivity:g}; give a number above 0, 1 is usual.")


def _of_one_size(compared: Compared, threshold: float) -> Measured:
    """Return the answer for two pictures of one size."""
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


def _of_lines(
    answer: Measured, compared: Compared, lines: Sequence[DetectedChange], threshold: float
) -> Measured:
    """Return the answer for lines of text in another type.

    Their strokes move by so few pixels that nothing else in the answer shows it.
    """
    before, after = compared.before, compared.after
    score = max(answer.score, threshold)
    statements = tuple(in_words(lines, (after.shape[1], after.shape[0])))
    return replace(
        answer,
        verdict="changed",
        doubtful=False,
        no_change=gate.probability_of_no_change(1.0),
        score=score,
        share=min(1.0, sum(one.share for one in statements)),
        statements=statements,
        sentence=sentences.together(statements),
        signature=signature(before, after, _counted(compared.seen, threshold), statements),
    )


def _counted(seen: Visibility, threshold: float) -> NDArray[np.bool_]:
    """Return the mask from which a signature is computed.

    It contains the pixels near or above the threshold, or all differing pixels if there are none.
    """
    strong = seen.visible(WEAKER * threshold)
    return strong if strong.any() else seen.differs


def _sentence(statements: Sequence[Statement], changed: bool, doubtful: bool) -> str:
    """Return the sentence of the entire answer. It mentions a doubtful verdict."""
    if changed:
        return sentences.together(statements) if statements else words.capitalised("something faint changed")
    if statements:
        return f"Perhaps nothing visible changed; if anything: {words.lowered(statements[0].sentence)}"
    if doubtful:
        return words.capitalised(f"perhaps {words.NOISE}")
    return words.capitalised(words.NOISE)


def _unchanged(verdict: str, size: Size, unused: tuple[int, ...]) -> Measured:
    """Return the answer for pictures that are equal, or equal outside the ignored boxes."""
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
    """Return the answer for two pictures of different sizes."""
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
