"""Named policies: sets of limits at which a difference counts as a change."""

from dataclasses import dataclass, fields
from typing import Any

from whatchanged.errors import WhatchangedError


@dataclass(frozen=True)
class Policy:
    """The limits at which a difference counts as a change.

    name         the name in outputs
    shift        the movement, in pixels, of a part with sharp edges: 1 counts a move by one whole pixel, 2
                 treats it as noise
    radius       the change of the corner radius in pixels
    weight       the relative change of the ink of text and markers
    fill         the change of a fill, in levels of the channel that differs most
    color        the same change for borders and text
    sensitivity  the sensitivity to all other differences: 2 finds differences half as strong as 1 does
    every_pixel  whether every differing pixel is a change
    """

    name: str
    shift: int = 1
    radius: float = 1.0
    weight: float = 0.195
    fill: int = 4
    color: int = 5
    sensitivity: float = 1.0
    every_pixel: bool = False

    def __post_init__(self) -> None:
        for one in fields(self)[1:]:
            value = getattr(self, one.name)
            if one.name == "every_pixel":
                right = isinstance(value, bool)
            else:
                right = type(value) in ((int,) if one.type is int else (int, float)) and 0 < value < 1000
            if not right:
                wanted = "true or false" if one.name == "every_pixel" else f"a number above 0, as {one.type}"
                raise WhatchangedError(f"The policy's {one.name} is {value!r}; give {wanted}.")

    def limits(self) -> dict[str, Any]:
        """Return the name and the limits as they are written into outputs."""
        return {one.name: getattr(self, one.name) for one in fields(self)}


DEFAULT = Policy("default")
POLICIES = {
    policy.name: policy
    for policy in (
        Policy("lenient", shift=2, radius=4.0, weight=0.3, fill=6, color=25, sensitivity=0.8),
        DEFAULT,
        Policy("design-system", shift=1, radius=0.5, weight=0.12, fill=2, color=2, sensitivity=1.25),
    )
}


def find_policy(name: str) -> Policy:
    """Return the policy with a name. Raises WhatchangedError if there is no such policy."""
    if name not in POLICIES:
        raise WhatchangedError(f"There is no policy {name!r}; there are {', '.join(POLICIES)}.")
    return POLICIES[name]
