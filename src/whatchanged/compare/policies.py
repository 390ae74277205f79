"""Policies by patterns of names, from a file that a person writes.

    {"icons/*": "design-system",
     "plots/*": {"policy": "lenient", "fill": 8},
     "home.png": {"every_pixel": true}}

A key is a pattern for the names of pairs (``*`` matches any characters). If several patterns match a pair,
the last one applies. A value is the name of a policy, or a ``policy`` with other limits. If a value has
limits without a ``policy``, the limits replace the limits of the command's policy.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from whatchanged.compare.ignore import fits, read_document
from whatchanged.errors import WhatchangedError
from whatchanged.measured.policy import Policy, find_policy

LIMITS = tuple(one.name for one in fields(Policy) if one.name != "name")


@dataclass(frozen=True)
class PolicyFor:
    """The policy for the pairs that a pattern matches."""

    pattern: str
    policy: Policy


def read_policies(path: Path, usual: Policy) -> tuple[PolicyFor, ...]:
    """Return the policies in a file.

    usual: the policy whose limits are modified if an entry names no policy.

    Raises WhatchangedError with the position of the fault in the file.
    """
    return tuple(
        PolicyFor(pattern, _policy(f"{path}, {pattern!r}", value, usual))
        for pattern, value in read_document(path).items()
    )


def policy_of(policies: Sequence[PolicyFor], usual: Policy, pair_id: str) -> Policy:
    """Return the policy of a pair."""
    return next((one.policy for one in reversed(policies) if fits(pair_id, one.pattern)), usual)


def _policy(where: str, value: Any, usual: Policy) -> Policy:
    """Return the policy for one value in the file.

    where: the beginning of the message of a WhatchangedError.
    """
    try:
        if isinstance(value, str):
            return find_policy(value)
        if not isinstance(value, dict):
            raise WhatchangedError(f"wanted a policy's name or its limits, not {value!r}.")
        limits = dict(value)
        named = limits.pop("policy", usual.name)
        policy = usual if named == usual.name else find_policy(str(named))
        unknown = set(limits) - set(LIMITS)
        if unknown:
            raise WhatchangedError(f"there is no limit {min(unknown)!r}; there are {', '.join(LIMITS)}.")
        if not limits:
            return policy
        changed = ", ".join(f"{name} {limits[name]}" for name in LIMITS if name in limits)
        return replace(policy, name=f"{policy.name}, {changed}", **limits)
    except WhatchangedError as error:
        raise WhatchangedError(f"{where}: {error}") from error
