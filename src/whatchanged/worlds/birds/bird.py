"""Birds as data: the appearance of a bird."""

from dataclasses import dataclass, fields
from typing import Any

COLORS = ("black", "white", "grey", "brown", "tan", "yellow", "orange", "red", "green", "blue")
PATTERNS = ("plain", "spotted", "striped")
COLORED = ("beak", "head", "breast", "wings", "tail", "legs")
"""The parts that have a colour. The back has the colour of the wings."""
MEASURED = ("beak", "tail", "legs")
"""The parts that have a length. Lengths range from 0, the shortest of all birds, to 1."""
PATTERNED = ("breast", "wings")


@dataclass(frozen=True)
class Bird:
    """One bird. Colours are from ``COLORS``, patterns from ``PATTERNS``. Lengths and size range from 0 to 1.

    ``breast_mark`` and ``wings_mark`` are the colours of the patterns. ``stripe`` is the colour of a stripe
    through the eye; "" if there is none.
    """

    beak: str
    head: str
    breast: str
    wings: str
    tail: str
    legs: str
    beak_length: float
    tail_length: float
    legs_length: float
    size: float
    breast_pattern: str
    wings_pattern: str
    breast_mark: str
    wings_mark: str
    stripe: str
    crest: bool

    def length(self, part: str) -> float:
        """Return the length of a measured part, from 0 to 1."""
        return float(getattr(self, f"{part}_length"))

    def pattern(self, part: str) -> tuple[str, str]:
        """Return the pattern of a patterned part and the colour of its marks."""
        return getattr(self, f"{part}_pattern"), getattr(self, f"{part}_mark")


def bird_from_json(traits: Any) -> Bird:
    """Return the bird that a JSON object describes.

    Raises ValueError if a trait is missing, unknown or out of range.
    """
    names = {trait.name for trait in fields(Bird)}
    if not isinstance(traits, dict) or traits.keys() != names:
        raise ValueError(f"wanted an object with {', '.join(sorted(names))}")
    for name, value in traits.items():
        if name == "crest":
            right = isinstance(value, bool)
        elif name == "size" or name.endswith("_length"):
            right = type(value) in (int, float) and 0 <= value <= 1
        elif name.endswith("_pattern"):
            right = value in PATTERNS
        else:
            right = value in COLORS or (name == "stripe" and value == "")
        if not right:
            raise ValueError(f"{name} is {value!r}")
    return Bird(**traits)
