"""The sentences that all outputs of a comparison share."""

from collections.abc import Sequence

from whatchanged.compare.comparison import Comparison
from whatchanged.compare.groups import OutcomeGroup
from whatchanged.compare.names import base_name, variant_of
from whatchanged.compare.run import Outcome
from whatchanged.words import counted, lowered, percent

NAMED = 3
"""The number of examples in a sentence."""
OTHERS_NAMED = 10
"""The largest number of pictures that are named because they differ in another way than most."""


def headline(comparison: Comparison) -> str:
    """Return a sentence that says how many pictures changed, were added, were removed or failed."""
    parts = [f"{len(comparison.changed):,} of {counted(len(comparison.outcomes), 'picture')} changed"]
    for status in ("added", "removed", "renamed"):
        count = len([one for one in comparison.of_status(status) if not one.failed])
        if count:
            parts.append(f"{count:,} {'was' if count == 1 else 'were'} {status}")
    if comparison.failed:
        parts.append(f"{len(comparison.failed):,} could not be compared")
    if comparison.noise:
        differ = "differs" if len(comparison.noise) == 1 else "differ"
        parts.append(f"{len(comparison.noise):,} {differ} without a visible change")
    if comparison.only_ignored:
        differ = "differs" if len(comparison.only_ignored) == 1 else "differ"
        parts.append(f"{len(comparison.only_ignored):,} {differ} only in ignored places")
    return "; ".join(parts) + "."


def looked_by(comparison: Comparison) -> str:
    """Return sentences about the policy of the comparison and the ignored area."""
    settings = comparison.settings
    names = dict.fromkeys([settings.policy.name, *(one.policy.name for one in settings.policies)])
    text = f"Policy: {'; '.join(names)}."
    if settings.strict:
        text += " Every pixel that differs is a change (--strict)."
    elif settings.sensitivity != 1:
        text += f" Sensitivity: {settings.sensitivity:g}."
    shares = [(one.answer.ignored, one) for one in comparison.outcomes if one.answer and one.answer.ignored]
    if shares:
        share, most = max(shares, key=lambda one: one[0])
        text += (
            f" Ignored places: in {counted(len(shares), 'picture')}, at most {percent(share)} of one"
            f" ({most.pair.pair_id})."
        )
    return text


def ignored_of(outcome: Outcome) -> str:
    """Return a sentence about the ignored fraction of a picture; "" if nothing was ignored."""
    share = 0.0 if outcome.answer is None else outcome.answer.ignored
    return f"Ignored: {percent(share)} of the picture." if share else ""


def otherwise(comparison: Comparison) -> str:
    """Return a sentence that names the pictures that differ in another way than the dominant group.

    The result is "" if there is no dominant group or no such picture.
    """
    group = comparison.dominant
    if group is None:
        return ""
    odd = {*group.odd}
    others = [
        outcome.pair.pair_id
        for index, outcome in enumerate(comparison.outcomes)
        if outcome.changed
        and outcome.answer is not None
        and (comparison.group_of.get(index) != group.number or index in odd)
    ]
    if not others:
        return ""
    only = len(group.members) - len(odd)
    more = ", ..." if len(others) > OTHERS_NAMED else ""
    differ = "this one differs" if len(others) == 1 else f"these {len(others):,} differ"
    return (
        f"{counted(only, 'picture')} differ only as all of group {group.number} do; "
        f"{differ} otherwise: {', '.join(others[:OTHERS_NAMED])}{more}."
    )


def outcome_sentence(outcome: Outcome) -> str:
    """Return the sentence about one pair."""
    if outcome.failed:
        return f"Could not be compared: {outcome.error}"
    if outcome.answer is not None:
        return outcome.answer.sentence
    return "The picture was added." if outcome.pair.status == "added" else "The picture was removed."


def group_sentence(comparison: Comparison, group: OutcomeGroup) -> str:
    """Return a sentence with the size of a group, its common change, and its odd members."""
    sentence = f"{counted(len(group.members), 'picture')}: {lowered(group.sentence)}"
    if 0 < group.changed < len(group.members):
        sentence += f" In {len(group.members) - group.changed:,} of them not visibly."
    odd = group.odd
    if odd:
        names = ", ".join(comparison.outcomes[index].pair.pair_id for index in odd[:NAMED])
        more = ", ..." if len(odd) > NAMED else ""
        verb = "shows" if len(odd) == 1 else "show"
        sentence += f" {len(odd):,} of them {verb} something else too: {names}{more}."
    return sentence


def variants(names: Sequence[str]) -> list[str]:
    """Return names in their original order, with variants by browser, theme or size combined.

    ["a-chromium.png", "b.png", "a-firefox.png"] -> ["a-chromium.png (also firefox)", "b.png"]
    """
    together: dict[str, list[str]] = {}
    for name in names:
        together.setdefault(base_name(name), []).append(name)
    told = []
    for alike in together.values():
        others = [variant_of(name) or name for name in alike[1:]]
        told.append(alike[0] if not others else f"{alike[0]} (also {', '.join(others)})")
    return told
