"""Statements in plain words: what happened, where, by how much. Nothing is named that was not measured."""

from collections.abc import Sequence
from typing import Any

from whatchanged import words
from whatchanged.measured.result import Box, Statement
from whatchanged.measured.rules.kinds import Finding

MOST = 3
"""Statements that the sentence of the whole answer holds."""
MOSTLY = 0.5
"""Share of the picture from which on no one thing is said to have come, gone or been exchanged."""


def statement(
    finding: Finding,
    box_before: Box | None,
    box_after: Box | None,
    pixels: int,
    size: tuple[int, int],
    cause: bool = True,
    boxes: tuple[Box, ...] = (),
) -> Statement:
    """One statement with its words; ``cause`` is false for what another statement brought about."""
    box = box_after or box_before
    if box is None:
        raise ValueError("a statement needs a place")
    share = min(1.0, pixels / (size[0] * size[1]))  # places of one change may overlap
    text = _text(finding, box_before, box_after, words.position_phrase(box, size), share, cause)
    return Statement(
        kind=finding.kind,
        box_before=box_before,
        box_after=box_after,
        sentence=words.capitalised(text),
        confidence=finding.confidence,
        share=share,
        values={"aspect": finding.aspect, **finding.values},
        boxes=boxes or (box,),
        follows=not cause,
    )


def together(statements: Sequence[Statement]) -> str:
    """The first statements as one sentence."""
    parts = [words.lowered(one.sentence)[:-1] for one in statements[:MOST]]
    if len(statements) > MOST:
        more = len(statements) - MOST
        parts.append(f"{more} more {'place differs' if more == 1 else 'places differ'}")
    return words.capitalised(words.joined(parts))


def _text(
    finding: Finding, before: Box | None, after: Box | None, position: str, share: float, cause: bool
) -> str:
    """The words of one statement, without capital and full stop."""
    amount = f"({words.percent(share)} of the picture)"
    kind, aspect, values = finding.kind, finding.aspect, finding.values
    if kind == "moved" and "dx" in values:
        subject = "something" if cause else "what follows"
        return f"{subject} {position} moved {words.way(values['dx'], values['dy'])}"
    if aspect == "axis limit":
        return (
            f"what a frame holds {position} {_stretch(values)}, perhaps by another range of its axis {amount}"
        )
    if kind == "recolored" and "color_before" in values:
        step = words.step_of_codes(values["color_before"], values["color_after"])
        return f"{_subject(aspect)} {position} {step} {amount}"
    if aspect == "length" and values:
        return f"something {position} became {_length(values)}"
    if aspect == "size" and before and after:
        old, new = (f"{box[2] - box[0]} x {box[3] - box[1]}" for box in (before, after))
        if old != new:
            return f"something {position} changed its size from {old} to {new} pixels"
    if share > MOSTLY:
        return f"most of the picture differs ({words.percent(share)})"
    return f"{_PLAIN[kind]} {position} {amount}"


_PLAIN = {
    "added": "something was added",
    "removed": "something was removed",
    "moved": "something moved",
    "resized": "something changed its size",
    "recolored": "a colour changed",
    "restyled": "the shape or an edge of something changed",
    "rewritten": "something that looks like text changed",
    "replaced": "something was replaced",
    None: "something changed",
}


def _stretch(values: dict[str, Any]) -> str:
    """ "was squeezed to about 74 % of its height", "was stretched to about 120 % of its width"."""
    way = "squeezed" if values["factor"] < 1 else "stretched" if values["factor"] > 1 else "moved"
    if way == "moved":
        return f"moved {'sideways' if values['axis'] else 'upwards or downwards'}"
    return (
        f"was {way} to about {100 * values['factor']:.0f} % of its {'width' if values['axis'] else 'height'}"
    )


def _length(values: dict[str, Any]) -> str:
    """ "12 pixels wider", "3 pixels lower"."""
    across = "dx" in values
    step = values["dx"] if across else values["dy"]
    word = ("wider" if across else "higher") if step > 0 else ("narrower" if across else "lower")
    return f"{words.pixels(abs(step))} {word}"


def _subject(aspect: str) -> str:
    """What carries a colour."""
    return {"fill": "an area", "border": "a line", "ink": "what is drawn"}.get(aspect, "something")
