"""Check the words in a template's slots against a change: nouns, names, positions, amounts, colours."""

import re

from whatchanged import words
from whatchanged.worlds import Box
from whatchanged.worlds.screens.elements import fitting
from whatchanged.worlds.screens.slots import AMOUNT, COUNTS, PLURAL_OF, Size, growth_of, hue_of, more, step_of
from whatchanged.worlds.screens.truth import ScreenChange

POSITION_TOLERANCE = 0.08
"""The largest error allowed in a position, as a fraction of the picture's width or height."""
AMOUNT_OFF = 0.1
"""The largest relative error allowed in an amount of pixels. An error of one pixel is always allowed."""
_NUMBERS = {word: number for number, word in COUNTS.items()}


def noun_fits(noun: str, change: ScreenChange) -> bool:
    """Return whether a noun, singular or plural, is correct for the changed element."""
    return not {noun, PLURAL_OF.get(noun, noun)}.isdisjoint(fitting(change.element))


def name_fits(name: str, change: ScreenChange) -> bool:
    """Return whether a quoted name is the element's name, or its text before or after the change."""
    known = (change.name, change.values.get("text_before"), change.values.get("text_after"))
    return any(isinstance(text, str) and _plain(text) == _plain(name) for text in known)


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def count_fits(count: str, change: ScreenChange) -> bool:
    """Return whether the stated count equals the number of similar elements that changed."""
    number = _NUMBERS.get(count) or (int(count) if count.isdigit() else 0)
    return number == max(1, len(change.boxes))


def position_fits(position: str, change: ScreenChange, sizes: tuple[Size, Size]) -> bool:
    """Return whether a phrase describes the position of the change.

    The position of any of the similar elements counts, before or after the change. ``sizes`` holds the
    (width, height) of both pictures in pixels.
    """
    pairs = ((change.box_before, change.box_after), *change.boxes)
    return any(
        position in position_phrases_near(box, size)
        for pair in pairs
        for box, size in zip(pair, sizes, strict=True)
        if box is not None
    )


def position_phrases_near(box: Box, size: Size) -> set[str]:
    """Return the position phrases for a box and for copies of it shifted by up to ``POSITION_TOLERANCE``."""
    results = set()
    for across in (-POSITION_TOLERANCE, 0.0, POSITION_TOLERANCE):
        for down in (-POSITION_TOLERANCE, 0.0, POSITION_TOLERANCE):
            dx, dy = round(across * size[0]), round(down * size[1])
            results.add(words.position_phrase((box[0] + dx, box[1] + dy, box[2] + dx, box[3] + dy), size))
    return results


def way_fits(way: str, change: ScreenChange) -> bool:
    """Return whether the stated directions and amounts of a movement are correct."""
    return moves_by(way, step_of(change))


def moves_by(way: str, step: tuple[int, int]) -> bool:
    """Return whether words such as "down by 24 pixels" describe this step (right, down) in pixels."""
    said = {"right": 0, "down": 0}
    for direction, amount in re.findall(rf"(left|right|up|down) by ({AMOUNT})", way):
        axis = "right" if direction in ("left", "right") else "down"
        said[axis] += int(amount.replace(",", "")) * (1 if direction == axis else -1)
    return all(_near(said[axis], true) for axis, true in zip(("right", "down"), step, strict=True))


def _near(stated: int, true: int) -> bool:
    return abs(stated - true) <= max(1, AMOUNT_OFF * abs(true))


def direction_fits(direction: str, change: ScreenChange) -> bool:
    """Return whether the stated direction of a movement is correct.

    If the words omit one component of the movement, that component must not be larger than the stated one.
    """
    dx, dy = step_of(change)
    said = set(direction.split()) & {"left", "right", "up", "down"}
    true = {"right" if dx > 0 else "left"} if dx else set()
    true |= {"down" if dy > 0 else "up"} if dy else set()
    main = true if len(said) > 1 else {_main(dx, dy)}
    return bool(said) and said <= true and (len(said) > 1 or said == main or abs(dx) == abs(dy))


def _main(dx: int, dy: int) -> str:
    if abs(dx) > abs(dy):
        return "right" if dx > 0 else "left"
    return "down" if dy > 0 else "up"


def growth_fits(growth: str, change: ScreenChange) -> bool:
    """Return whether the element became wider or higher by the stated amount.

    If no amount is stated, any amount in the stated direction is correct.
    """
    true = dict(zip(("wider", "higher"), growth_of(change), strict=True))
    opposite = {"narrower": "wider", "lower": "higher"}
    for amount, word in re.findall(
        rf"(?:({AMOUNT}) pixels? )?(wider|narrower|higher|lower|larger|smaller)", growth
    ):
        if word in ("larger", "smaller"):
            total = sum(true.values()) or more(change)
            if (total > 0) != (word == "larger") or total == 0:
                return False
            continue
        side = opposite.get(word, word)
        grown = true[side] if side == word else -true[side]
        if grown <= 0 or (amount and not _near(int(amount.replace(",", "")), grown)):
            return False
    return True


def color_fits(color: str, true: str) -> bool:
    """Return whether a colour name is the true name, or the true name without "dark" or "light"."""
    return bool(true) and color in (true, hue_of(true))
