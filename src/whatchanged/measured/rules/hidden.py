"""Differences that are invisible over white, such as transparency or a colour profile. They are always
reported."""

from dataclasses import replace

import numpy as np

from whatchanged import words
from whatchanged.images import PictureSource
from whatchanged.measured.pixels import gate
from whatchanged.measured.pixels.gate import visibility
from whatchanged.measured.pixels.reading import (
    Picture,
    Pixels,
    first_other_frame,
    in_common_colors,
    read_picture,
)
from whatchanged.measured.result import Box, Measured, Statement
from whatchanged.words import counted


def look_closer(
    answer: Measured,
    one: Picture,
    other: Picture,
    sources: tuple[PictureSource, PictureSource],
    threshold: float,
) -> Measured:
    """Return the answer for pictures without a visible difference over white, after a comparison of all other
    data.

    Alpha, colour profile and later frames affect what is visible elsewhere, so they are compared as pictures.
    Bit depth, the stored orientation and fully transparent colours are reported in notes.
    """
    for text, before, after in _other_looks(one, other):
        if not np.array_equal(before, after):
            seen = visibility(before, after)
            if seen.score >= threshold:
                return _changed(answer, text, seen.score, threshold)
            answer = _noted(answer, f"{text}, by less than can be seen")
    if max(one.frames, other.frames) > 1:
        if one.frames != other.frames:
            text = f"the animation has {counted(other.frames, 'frame')} instead of {one.frames}"
            return _changed(answer, text, gate.CERTAIN, threshold)
        frame = first_other_frame(*sources)
        if frame is not None:
            text = f"the animation differs from frame {frame + 1} of {one.frames} on"
            return _later_frame(answer, text, sources, frame, threshold)
    for text in _hidden_differences(one, other):
        answer = _noted(answer, text)
    return answer


def _other_looks(one: Picture, other: Picture) -> list[tuple[str, Pixels, Pixels]]:
    """Return the pictures as they appear elsewhere: over black, and on a screen with standard colours."""
    looks = []
    if one.on_black is not None or other.on_black is not None:
        shown = [p.on_white if p.on_black is None else p.on_black for p in (one, other)]
        looks.append(("the transparency changed", shown[0], shown[1]))
    if one.profile != other.profile:
        looks.append(("the colour profile changed", in_common_colors(one), in_common_colors(other)))
    return looks


def _hidden_differences(one: Picture, other: Picture) -> list[str]:
    """Return notes about the invisible differences."""
    notes = []
    if one.profile != other.profile and np.array_equal(in_common_colors(one), in_common_colors(other)):
        notes.append("the files hold two colour profiles, which show the same colours")
    if one.turn != other.turn:
        notes.append("the files store the picture turned in two ways; upright they look the same")
    if one.deep or other.deep:
        notes.append("the files hold more than 8 bits a colour, of which 8 were compared")
    elif one.stored is not None and other.stored is not None:
        if one.stored.dtype != other.stored.dtype or not np.array_equal(one.stored, other.stored):
            notes.append("the stored values differ by less than 8 bits can show")
    elif (one.stored is None) != (other.stored is None):
        notes.append("the files hold colours in two ways")
    if one.hidden is not None and other.hidden is not None and not np.array_equal(one.hidden, other.hidden):
        notes.append("colours differ where nothing shows through")
    return notes


def _noted(answer: Measured, text: str) -> Measured:
    """Return the answer with an additional note. Its verdict is no longer identical."""
    notes = (*answer.notes, words.capitalised(text))
    parts = [words.NOISE, *(words.lowered(note)[:-1] for note in notes)]
    sentence = words.capitalised(words.joined(parts))
    return replace(answer, verdict="noise", notes=notes, sentence=sentence)


def _changed(answer: Measured, text: str, score: float, threshold: float) -> Measured:
    """Return the answer for a hidden difference that is visible elsewhere."""
    box: Box = (0, 0, *answer.size_after)
    statement = Statement(
        kind=None,
        box_before=box,
        box_after=box,
        sentence=words.capitalised(text),
        confidence=0.9,
        share=1.0,
        values={"aspect": "hidden"},
        boxes=(box,),
    )
    return replace(
        answer,
        verdict="changed",
        doubtful=False,
        no_change=gate.probability_of_no_change(score / threshold if threshold else gate.CERTAIN),
        score=score,
        share=1.0,
        statements=(statement,),
        sentence=statement.sentence,
    )


def _later_frame(
    answer: Measured, text: str, sources: tuple[PictureSource, PictureSource], frame: int, threshold: float
) -> Measured:
    """Return the answer for later frames that differ. It is changed if the first such frame differs
    visibly."""
    before, after = (read_picture(source, frame).on_white for source in sources)
    if before.shape != after.shape:
        return _changed(answer, text, gate.CERTAIN, threshold)
    seen = visibility(before, after)
    if seen.score >= threshold:
        return _changed(answer, text, seen.score, threshold)
    return _noted(answer, f"{text}, by less than can be seen")
