"""Species as ranges of appearances, and genera of similar species.

The seed determines everything. Species number k does not depend on the number of species.
"""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from whatchanged.worlds.birds.bird import COLORED, COLORS, MEASURED, PATTERNED, PATTERNS, Bird

PER_GENUS = 3
"""The number of species in a genus."""
CHANGES = 3
"""The number of traits in which a species differs from its genus."""
SPREAD = 0.12
"""Half the range of the lengths and the size within a species."""
VARIANT = 0.5
"""The probability that a species has two forms. The second form has another colour in one part."""


@dataclass(frozen=True)
class Species:
    """The average bird of a species, and the part that has another colour in half of the birds (or "")."""

    number: int
    genus: int
    name: str
    middle: Bird
    variant_part: str
    variant_color: str

    def bird(self, rng: np.random.Generator) -> Bird:
        """Return a random bird of this species.

        Lengths and size vary, and one part may have its second colour.
        """
        lengths: dict[str, Any] = {
            name: float(np.clip(getattr(self.middle, name) + rng.uniform(-SPREAD, SPREAD), 0, 1))
            for name in ("beak_length", "tail_length", "legs_length", "size")
        }
        bird = replace(self.middle, **lengths)
        if self.variant_part and rng.random() < 0.5:
            bird = replace(bird, **dict[str, Any]({self.variant_part: self.variant_color}))
        return bird


def species(seed: int, number: int) -> Species:
    """Return the species with this number in the world with this seed."""
    genus = number // PER_GENUS
    middle = _any_bird(np.random.default_rng((seed, 1, genus)))
    rng = np.random.default_rng((seed, 2, number))
    other = _any_bird(rng)
    traits = [field.name for field in fields(Bird) if not field.name.endswith("_mark")]
    for trait in rng.permutation(traits)[:CHANGES]:
        middle = replace(middle, **{str(trait): getattr(other, str(trait))})
    part = str(rng.choice(COLORED)) if rng.random() < VARIANT else ""
    colors = [color for color in COLORS if part and color != getattr(middle, part)]
    variant = str(rng.choice(colors)) if part else ""
    return Species(number, genus, _name(seed, genus, number), _visible(middle), part, variant)


def _any_bird(rng: np.random.Generator) -> Bird:
    colors: dict[str, Any] = {part: str(rng.choice(COLORS)) for part in COLORED}
    lengths: dict[str, Any] = {f"{part}_length": float(rng.random()) for part in MEASURED}
    patterns: dict[str, Any] = {
        f"{part}_pattern": str(rng.choice(PATTERNS, p=(0.5, 0.25, 0.25))) for part in PATTERNED
    }
    marks: dict[str, Any] = {f"{part}_mark": str(rng.choice(COLORS)) for part in PATTERNED}
    stripe = str(rng.choice(COLORS)) if rng.random() < 0.4 else ""
    size = float(rng.random())
    crest = bool(rng.random() < 0.3)
    return Bird(**colors, **lengths, **patterns, **marks, size=size, stripe=stripe, crest=crest)


def _visible(bird: Bird) -> Bird:
    """Return the bird with every mark in a colour that differs from the colour beneath it."""
    for name, under in (("breast_mark", bird.breast), ("wings_mark", bird.wings), ("stripe", bird.head)):
        if getattr(bird, name) == under:
            bird = replace(bird, **dict[str, Any]({name: "white" if under != "white" else "black"}))
    return bird


def _name(seed: int, genus: int, number: int) -> str:
    """Return a made-up name of two words with numbers. No two species have the same name."""
    rng = np.random.default_rng((seed, 3, genus))
    own = np.random.default_rng((seed, 4, number))
    syllables = ("ba", "co", "di", "fu", "ga", "lo", "mi", "nu", "pe", "ra", "su", "ti", "vo", "ze")
    first = "".join(str(s) for s in rng.choice(syllables, 3)).capitalize()
    second = "".join(str(s) for s in own.choice(syllables, 3))
    return f"{first}{genus} {second}{number}"
