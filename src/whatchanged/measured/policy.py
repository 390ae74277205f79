"""Policies: from which size on a change counts, by name."""

from dataclasses import dataclass, fields
from typing import Any

from whatchanged.errors import WhatchangedError


@dataclass(frozen=True)
class Policy:
    """What counts as a change.

    name         what outputs call it
    shift        pixels by which a part whose edges are sharp lies elsewhere: 1 counts a move by one whole
                 pixel, 2 takes it for noise
    radius       pixels by which the radius of corners changes
    weight       the share by which the ink of text and markers grows or shrinks
    fill         levels from one fill to the other, of the channel that differs most
    color        the same of borders and text
    sensitivity  of all else: 2 finds differences half as strong as 1 does
    every_pixel  whether whatever differs is a change
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
        """Name and limits as they are written into outputs."""
        return {one.name: getattr(self, one.name) for one in fields(self)}


DEFAULT = Policy("default")
POLICIES = {
    policy.name: policy
    for policy in (
        Policy("lenient", shift=2, radius=4.0, weight=0.3, fill=12, color=25, sensitivity=0.8),
        DEFAULT,
        Policy("design-system", shift=1, radius=0.5, weight=0.12, fill=2, color=2, sensitivity=1.25),
    )
}


def find_policy(name: str) -> Policy:
    """The policy of a name. Raises WhatchangedError where there is none."""
    if name not in POLICIES:
        raise WhatchangedError(f"There is no policy {name!r}; there are {', '.join(POLICIES)}.")
    return POLICIES[name]
