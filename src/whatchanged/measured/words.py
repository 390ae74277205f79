"""Plain words for places, amounts and the whole answer."""

from collections.abc import Sequence

from whatchanged.measured.result import Box
from whatchanged.plurals import counted

SAME = "nothing changed"
NOISE = "nothing visible changed"


def position_phrase(box: Box, size: tuple[int, int]) -> str:
    """Where a box lies in a picture of this size: "at the lower right", "across the top", "everywhere"."""
    width, height = size
    across = _third((box[0] + box[2]) / 2 / width, (box[2] - box[0]) / width, ("left", "", "right"))
    down = _third((box[1] + box[3]) / 2 / height, (box[3] - box[1]) / height, ("upper", "", "lower"))
    wide, high = across is None, down is None
    if wide and high:
        return "over the whole picture"
    if wide:
        return {"upper": "across the top", "": "across the middle", "lower": "across the bottom"}[down or ""]
    if high:
        return {"left": "down the left side", "": "down the middle", "right": "down the right side"}[
            across or ""
        ]
    if not across and not down:
        return "in the middle"
    if not across:
        return {"upper": "at the top", "lower": "at the bottom"}[down or ""]
    if not down:
        return f"at the {across}"
    return f"at the {down} {across}"


def percent(share: float) -> str:
    """A share as a person reads it: "2.1 %", "less than 0.1 %"."""
    value = 100 * share
    if value < 0.1:
        return "less than 0.1 %"
    return f"{value:.1f} %" if value < 10 else f"{value:.0f} %"


def pixels(count: int) -> str:
    """ "1 pixel", "24 pixels"."""
    return counted(count, "pixel")


def way(dx: int, dy: int) -> str:
    """Direction and amount of a motion: "down by 24 pixels", "left by 3 and up by 2 pixels"."""
    across = f"{'right' if dx > 0 else 'left'} by {pixels(abs(dx))}" if dx else ""
    down = f"{'down' if dy > 0 else 'up'} by {pixels(abs(dy))}" if dy else ""
    return " and ".join(part for part in (across, down) if part)


def joined(sentences: Sequence[str]) -> str:
    """Statements as one sentence."""
    return "; ".join(sentences)


def capitalised(text: str) -> str:
    """With a capital letter and a full stop."""
    return f"{text[:1].upper()}{text[1:]}."


def lowered(sentence: str) -> str:
    """A sentence with a small first letter."""
    return sentence[:1].lower() + sentence[1:]


def _third(centre: float, extent: float, names: tuple[str, str, str]) -> str | None:
    """The name of the third that the centre lies in, None where most of the side is covered."""
    if extent > 0.7:
        return None
    return names[0] if centre < 0.4 else names[2] if centre > 0.6 else names[1]
