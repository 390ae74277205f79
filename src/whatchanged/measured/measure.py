"""The measured answer for any two pictures: no model, only what can be counted."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from whatchanged.errors import WhatchangedError
from whatchanged.images import Source, kept, picture_size
from whatchanged.measured import gate, hidden, sentences, words
from whatchanged.measured.canvas import compare_sizes, idle_boxes, turn_statement, without_boxes
from whatchanged.measured.changes import find_changes
from whatchanged.measured.gate import Visibility, visibility
from whatchanged.measured.reading import Picture, Pixels, read_picture, same_bytes
from whatchanged.measured.regions import WEAKER
from whatchanged.measured.result import Box, Measured, Statement
from whatchanged.measured.signature import signature

Size = tuple[int, int]

TURN_SHARE = 0.02
"""Share of the pixels that must differ visibly before a turn or a mirroring is looked for."""


def measure(
    before: Source,
    after: Source,
    sensitivity: float = 1.0,
    strict: bool = False,
    ignore: Sequence[Box] = (),
) -> Measured:
    """What differs between two pictures.

    sensitivity  2 finds differences half as strong as 1 does, 0.5 only those twice as strong
    strict       every pixel that differs is a change
    ignore       boxes in which differences do not count: of both pictures, or, of two sizes, of the one after

    Raises ImageError where a picture cannot be read.
    """
    check_sensitivity(sensitivity)
    before, after = kept(before), kept(after)
    if same_bytes(before, after):
        return of_same_bytes(before, ignore)
    return measure_read(
        (read_picture(before), read_picture(after)), (before, after), sensitivity, strict, ignore
    )


def of_same_bytes(source: Source, ignore: Sequence[Box] = ()) -> Measured:
    """The answer for two files of the same bytes, of which ``source`` is one; nothing is decoded."""
    return _unchanged("identical", picture_size(source, least=1), tuple(range(len(ignore))))


def measure_read(
    pictures: tuple[Picture, Picture],
    sources: tuple[Source, Source],
    sensitivity: float = 1.0,
    strict: bool = False,
    ignore: Sequence[Box] = (),
) -> Measured:
    """As ``measure``, of pictures that were read before; their sources are asked for later frames."""
    one, other = pictures
    threshold = 0.0 if strict else 1.0 / sensitivity
    if one.size != other.size:
        return _of_other_sizes(one, other, threshold, ignore)
    answer = _of_one_size(one, other, threshold, ignore)
    if answer.verdict == "changed":
        return answer
    return hidden.look_closer(answer, one, other, sources, threshold)


def check_sensitivity(sensitivity: float) -> None:
    """Raises WhatchangedError where it is no number above 0."""
    if not 0 < sensitivity < math.inf:
        raise WhatchangedError(f"The sensitivity is {sensitivity:g}; give a number above 0, 1 is usual.")


def _of_one_size(one: Picture, other: Picture, threshold: float, ignore: Sequence[Box]) -> Measured:
    """Two pictures of one size, as they are shown on white."""
    before, after = one.on_white, other.on_white
    idle = idle_boxes(before, after, ignore)
    after = without_boxes(after, before, ignore)
    if np.array_equal(before, after):
        verdict = "noise" if len(idle) < len(ignore) else "identical"
        return _unchanged(verdict, one.size, idle)
    return answer_of(before, after, visibility(before, after), threshold, idle)


def answer_of(
    before: Pixels, after: Pixels, seen: Visibility, threshold: float, idle: tuple[int, ...] = ()
) -> Measured:
    """The answer for pixels of one size that differ."""
    size = (before.shape[1], before.shape[0])
    visible = seen.visible(threshold)
    changed = seen.score >= threshold
    score = seen.score / threshold if threshold else gate.CERTAIN
    share = float(np.count_nonzero(visible)) / visible.size
    turn = turn_statement(before, after) if share >= TURN_SHARE else None
    told = changed or gate.is_doubtful(score)
    statements = tuple(find_changes(before, after, seen, min(threshold, seen.score))) if told else ()
    if turn is not None:
        statements = (turn,)
    return Measured(
        verdict="changed" if changed else "noise",
        doubtful=gate.is_doubtful(score),
        no_change=gate.probability_of_no_change(score),
        score=seen.score,
        share=share,
        statements=statements,
        sentence=_sentence(statements, changed),
        notes=(),
        size_before=size,
        size_after=size,
        signature=signature(before, after, _counted(seen, threshold), statements),
        idle=idle,
    )


def _counted(seen: Visibility, threshold: float) -> NDArray[np.bool_]:
    """The pixels that a signature is made of: those near the threshold or above, or all that differ."""
    strong = seen.visible(WEAKER * threshold)
    return strong if strong.any() else seen.differs


def _sentence(statements: Sequence[Statement], changed: bool) -> str:
    """The whole answer in words; of what is doubtful it says so."""
    if changed:
        return sentences.together(statements)
    if statements:
        return f"Perhaps nothing visible changed; if anything: {sentences.lowered(statements[0].sentence)}"
    return words.capitalised(words.NOISE)


def _unchanged(verdict: str, size: Size, idle: tuple[int, ...]) -> Measured:
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
        idle=idle,
    )


def _of_other_sizes(one: Picture, other: Picture, threshold: float, ignore: Sequence[Box]) -> Measured:
    """Two pictures of two sizes."""
    laid = compare_sizes(one.on_white, other.on_white, threshold, ignore)
    differs = _counted(visibility(laid.before, other.on_white), threshold)
    return Measured(
        verdict="changed",
        doubtful=False,
        no_change=0.0,
        score=gate.CERTAIN,
        share=min(1.0, sum(statement.share for statement in laid.statements)),
        statements=tuple(laid.statements),
        sentence=sentences.together(laid.statements),
        notes=(),
        size_before=one.size,
        size_after=other.size,
        signature=signature(laid.before, other.on_white, differs, laid.statements),
        idle=laid.idle,
    )
