"""The words that all outputs of a comparison share."""

from collections.abc import Sequence

from whatchanged.compare.comparison import Comparison
from whatchanged.compare.groups import Group
from whatchanged.compare.run import Outcome
from whatchanged.measured.groups import VARIANT_WORDS, base_name

NAMED = 3
"""Examples that a sentence names."""


def counted(count: int, noun: str) -> str:
    """ "1 picture", "1,234 pictures"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def headline(found: Comparison) -> str:
    """One sentence: how many changed, were added, removed or failed."""
    parts = [f"{len(found.changed):,} of {counted(len(found.outcomes), 'picture')} changed"]
    for status in ("added", "removed", "renamed"):
        count = len([one for one in found.of_status(status) if not one.failed])
        if count:
            parts.append(f"{count:,} {'was' if count == 1 else 'were'} {status}")
    if found.failed:
        parts.append(f"{len(found.failed):,} could not be compared")
    if found.noise:
        differ = "differs" if len(found.noise) == 1 else "differ"
        parts.append(f"{len(found.noise):,} {differ} invisibly")
    return "; ".join(parts) + "."


def outcome_sentence(outcome: Outcome) -> str:
    """What is said of one pair."""
    if outcome.failed:
        return f"Could not be compared: {outcome.error}"
    if outcome.answer is not None:
        return outcome.answer.sentence
    return "The picture was added." if outcome.pair.status == "added" else "The picture was removed."


def group_sentence(found: Comparison, group: Group) -> str:
    """How many pictures share what, and which of them show something else as well."""
    sentence = f"{counted(len(group.members), 'picture')}: {lowered(group.sentence)}"
    if 0 < group.changed < len(group.members):
        sentence += f" In {len(group.members) - group.changed:,} of them invisibly."
    odd = group.odd
    if odd:
        names = ", ".join(found.outcomes[place].pair.pair_id for place in odd[:NAMED])
        more = ", ..." if len(odd) > NAMED else ""
        verb = "shows" if len(odd) == 1 else "show"
        sentence += f" {len(odd):,} of them {verb} something else too: {names}{more}."
    return sentence


def variants(names: Sequence[str]) -> list[str]:
    """Names with those that differ in browser, theme or size only told together, in their first order.

    ["a-chromium.png", "b.png", "a-firefox.png"] -> ["a-chromium.png (also firefox)", "b.png"]
    """
    together: dict[str, list[str]] = {}
    for name in names:
        together.setdefault(base_name(name), []).append(name)
    told = []
    for alike in together.values():
        others = [_variant(name) or name for name in alike[1:]]
        told.append(alike[0] if not others else f"{alike[0]} (also {', '.join(others)})")
    return told


def lowered(sentence: str) -> str:
    """A sentence with a small first letter."""
    return sentence[:1].lower() + sentence[1:]


def _variant(name: str) -> str:
    """The words of a name that say under which browser, theme or size it was made."""
    words = [word for word in _split(name) if word.lower() in VARIANT_WORDS or _is_size(word)]
    return " ".join(words)


def _split(name: str) -> list[str]:
    stem = name.rpartition(".")[0] or name
    return "".join(letter if letter.isalnum() else " " for letter in stem).split()


def _is_size(word: str) -> bool:
    return word.replace("x", "", 1).removesuffix("px").removesuffix("w").isdigit() and len(word) > 2
