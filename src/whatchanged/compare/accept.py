"""Accepting: new pictures take the place of old ones, for groups and files that a person names."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from whatchanged.compare.comparison import Comparison
from whatchanged.compare.run import Outcome
from whatchanged.datasets.picture_files import composed
from whatchanged.errors import OutputError, WhatchangedError
from whatchanged.files import clear_drafts, whole
from whatchanged.links import check_link
from whatchanged.opening import regular


@dataclass(frozen=True)
class Copy:
    """One picture to copy: from where, to where."""

    source: Path
    target: Path


def plan(comparison: Comparison, wanted: Sequence[str]) -> list[Copy]:
    """The copies that accept what is named: a group's number, or a pair's name.

    Raises WhatchangedError where something named is not there or cannot be accepted, or where a link among
    the old pictures leads elsewhere; nothing is copied then.
    """
    if comparison.matched.accepted:
        raise WhatchangedError(
            f"--accept cannot copy pictures of {comparison.matched.source}: {comparison.matched.accepted}."
        )
    copies: dict[Path, Copy] = {}
    for name in wanted:
        for outcome in _named(comparison, name):
            copy = _copy(comparison, outcome)
            _check_target(copy.target, comparison.matched.old)
            if copies.setdefault(copy.target, copy) != copy:
                raise WhatchangedError(
                    f"--accept {name}: {copy.source} and {copies[copy.target].source} would both become"
                    f" {copy.target}. Accept one of them."
                )
    return list(copies.values())


def carry_out(copies: Sequence[Copy]) -> None:
    """Copy every picture, each whole or not at all. Raises OutputError that says how many were copied.

    A picture that is replaced hands on who may read and write it. What a killed process left among the old
    pictures goes.
    """
    for folder in {copy.target.parent for copy in copies}:
        clear_drafts(folder)
    for done, copy in enumerate(copies):
        try:
            copy.target.parent.mkdir(parents=True, exist_ok=True)
            with whole(copy.target.resolve()) as draft:
                shutil.copyfile(regular(copy.source), draft)
        except OutputError as error:  # the disk is full: the error names the file, and says what to do
            raise OutputError(f"{error} {_accepted(done, copies)}") from error
        except OSError as error:
            raise OutputError(
                f"{copy.target}: cannot be replaced ({error.strerror or error}); {_accepted(done, copies)}"
            ) from error


def _accepted(done: int, copies: Sequence[Copy]) -> str:
    """How far the copying came."""
    return f"{done:,} of {len(copies):,} were accepted before it."


def _named(comparison: Comparison, name: str) -> list[Outcome]:
    group = next((group for group in comparison.groups if str(group.number) == name), None)
    spellings = [one for one in comparison.outcomes if composed(one.pair.pair_id) == composed(name)]
    exact = [one for one in spellings if one.pair.pair_id == name]
    outcome = next(iter(exact or spellings), None)
    if outcome is not None and not exact and len(spellings) > 1:
        outcome = None  # two files in one folder, whose names look alike
    if group is not None and outcome is not None:
        raise WhatchangedError(
            f"--accept {name}: both a group and a pair are called so. Give the pairs of the list other ids."
        )
    if group is not None:
        return [comparison.outcomes[index] for index in group.members]
    if outcome is None and name.isdecimal():
        raise WhatchangedError(
            f"--accept {name}: there is no such group; there are {len(comparison.groups):,}."
        )
    if outcome is None:
        raise WhatchangedError(f"--accept {name}: no pair has this name. Give its id of results.jsonl.")
    return [outcome]


def _copy(comparison: Comparison, outcome: Outcome) -> Copy:
    """The copy that accepts one pair. Raises WhatchangedError where there is nothing to copy."""
    pair = outcome.pair
    why = ""
    if outcome.failed:
        why = f"it could not be compared: {outcome.error}"
    elif pair.after is None:
        why = "it was removed; delete the old picture yourself if that is right"
    elif pair.status == "renamed":
        why = f"it is the same picture as {pair.was}; move the old one yourself if that is right"
    elif pair.before is None and comparison.matched.old is None:
        why = "there is no old picture, and no folder to put the new one in"
    if why or pair.after is None:
        raise WhatchangedError(f"--accept {pair.pair_id}: {why}.")
    if pair.before is not None:
        return Copy(pair.after, pair.before)
    assert comparison.matched.old is not None
    target = comparison.matched.old / pair.pair_id
    target = target.with_stem(target.stem + comparison.matched.ending)
    if target.is_symlink():
        raise WhatchangedError(f"--accept {pair.pair_id}: {target} is a link, which was left out. Remove it.")
    return Copy(pair.after, target)


def _check_target(target: Path, old: Path | None) -> None:
    """That no link leads from a picture's place to somewhere else. Raises OutputError.

    old: the folder of the old pictures; None where they have none in common.
    """
    check_link(target)
    if old is not None and not target.parent.resolve().is_relative_to(old.resolve()):
        raise OutputError(
            f"{target}: its folder is a link that leads out of {old}. Remove the link, or copy the picture"
            " yourself."
        )
