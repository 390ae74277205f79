"""Policies by patterns of names: a file that a person writes.

    {"icons/*": "design-system",
     "plots/*": {"policy": "lenient", "fill": 8},
     "home.png": {"every_pixel": true}}

A key is a pattern for the names of pairs (``*`` fits any characters); the last one that fits a pair holds. A
value is a policy's name, or its limits that differ from those of ``policy`` (of the command's, if none).
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
    """The policy of the pairs that a pattern fits."""

    pattern: str
    policy: Policy


def read_policies(path: Path, usual: Policy) -> tuple[PolicyFor, ...]:
    """The policies of a file. usual: what limits are changed of where none is named.

    Raises WhatchangedError that names the place of a mistake.
    """
    return tuple(
        PolicyFor(pattern, _policy(f"{path}, {pattern!r}", value, usual))
        for pattern, value in read_document(path).items()
    )


def policy_of(policies: Sequence[PolicyFor], usual: Policy, pair_id: str) -> Policy:
    """The policy of a pair."""
    return next((one.policy for one in reversed(policies) if fits(pair_id, one.pattern)), usual)


def _policy(where: str, value: Any, usual: Policy) -> Policy:
    """One value of the file."""
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
        told = ", ".join(f"{name} {limits[name]}" for name in LIMITS if name in limits)
        return replace(policy, name=f"{policy.name}, {told}", **limits)
    except WhatchangedError as error:
        raise WhatchangedError(f"{where}: {error}") from error
