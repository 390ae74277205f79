"""Write ``summary.md``: the comment for a pull request. It fits into one comment and contains no picture."""

import re
from collections.abc import Iterable, Sequence

from whatchanged.compare.comparison import Comparison
from whatchanged.compare.groups import OutcomeGroup
from whatchanged.compare.run import Outcome
from whatchanged.compare.words import (
    group_sentence,
    headline,
    looked_by,
    otherwise,
    outcome_sentence,
    variants,
)
from whatchanged.words import counted

MOST_CHARACTERS = 60_000
"""The largest number of characters.

GitHub allows 65,536 in a comment, and some characters may take several bytes.
"""
MOST_GROUPS = 40
MOST_NAMES = 12
"""The largest number of names listed for a group in addition to its odd members."""
MOST_LISTED = 50
"""The largest number of files listed in each further section."""
LONGEST = 300
"""The largest number of characters of one name or sentence."""


def summary(comparison: Comparison) -> str:
    """Return the text in Markdown, at most ``MOST_CHARACTERS`` long."""
    lines = [f"### {_title(comparison)}", "", headline(comparison), "", _plain(looked_by(comparison)), ""]
    if otherwise(comparison):
        lines += [_plain(otherwise(comparison)), ""]
    lines += _failed(comparison)
    changed = [group for group in comparison.groups if group.changed]
    if changed:
        lines += [f"**What changed, in {counted(len(changed), 'group')} by cause**", ""]
        for group in changed[:MOST_GROUPS]:
            lines += _group(comparison, group)
        if len(changed) > MOST_GROUPS:
            lines += [f"- and {counted(len(changed) - MOST_GROUPS, 'more group')}; see `index.html`", ""]
    lines += _listed("Changed, each in its own way", comparison.alone)
    for status in ("added", "removed", "renamed"):
        lines += _listed(status.capitalize(), [one for one in comparison.of_status(status) if not one.failed])
    lines += _noise(comparison)
    lines += _listed("Differ only in ignored places", comparison.only_ignored)
    if comparison.unused:
        lines += [f"**Ignored boxes that touch no difference any more: {len(comparison.unused):,}**", ""]
        lines += [
            *_bullets((f"`{_plain(str(one))}`" for one in comparison.unused), len(comparison.unused)),
            "",
        ]
    lines += [*(f"_{_plain(note)}_" for note in comparison.matched.notes), ""]
    lines.append(
        f"Compared: {_plain(comparison.matched.source)}. Pictures: `index.html`; data: `results.jsonl`."
    )
    return _truncated("\n".join(lines) + "\n")


def _title(comparison: Comparison) -> str:
    """Return the first line, which counts changed and failed pictures separately."""
    moved = len(comparison.changed) + sum(
        len([one for one in comparison.of_status(status) if not one.failed])
        for status in ("added", "removed")
    )
    if comparison.failed and moved:
        return f"Pictures changed: {moved:,}; not compared: {len(comparison.failed):,}"
    if comparison.failed:
        return f"Pictures not compared: {len(comparison.failed):,}"
    return f"Pictures changed: {moved:,}" if moved else "No picture changed"


def _failed(comparison: Comparison) -> list[str]:
    if not comparison.failed:
        return []
    told = (f"{_code(one.pair.pair_id)}: {_plain(one.error)}" for one in comparison.failed)
    return [
        f"**Could not be compared: {len(comparison.failed):,}**",
        "",
        *_bullets(told, len(comparison.failed)),
        "",
    ]


def _group(comparison: Comparison, group: OutcomeGroup) -> list[str]:
    """Return a group's sentence, its odd members with their further changes, and its other members."""
    lines = [f"- **Group {group.number}**: {_plain(group_sentence(comparison, group))}"]
    for index, beyond in list(zip(group.odd, group.beyond, strict=True))[:MOST_NAMES]:
        name = _code(comparison.outcomes[index].pair.pair_id)
        lines.append(f"  - {name} too: {_plain(' '.join(beyond))}")
    names = [comparison.outcomes[position].pair.pair_id for position in group.members[len(group.odd) :]]
    told = variants(names)
    if told:
        more = f" and {len(told) - MOST_NAMES:,} more" if len(told) > MOST_NAMES else ""
        lines.append(f"  - {', '.join(_code(name) for name in told[:MOST_NAMES])}{more}")
    return [*lines, ""]


def _listed(title: str, outcomes: Sequence[Outcome]) -> list[str]:
    if not outcomes:
        return []
    told = (
        _code(one.pair.pair_id)
        if one.answer is None
        else f"{_code(one.pair.pair_id)}: {_plain(outcome_sentence(one))}"
        for one in outcomes
    )
    return [f"**{title}: {len(outcomes):,}**", "", *_bullets(told, len(outcomes)), ""]


def _noise(comparison: Comparison) -> list[str]:
    if not comparison.noise:
        return []
    told = variants([one.pair.pair_id for one in comparison.noise])
    lines = _bullets(map(_code, told), len(told))
    head = f"**Differ without a visible change: {len(comparison.noise):,}**"
    return ["<details><summary>", "", head, "", "</summary>", "", *lines, "", "</details>", ""]


def _bullets(entries: Iterable[str], count: int) -> list[str]:
    lines = [f"- {text}" for _, text in zip(range(MOST_LISTED), entries, strict=False)]
    return lines if count <= MOST_LISTED else [*lines, f"- and {count - MOST_LISTED:,} more"]


def _code(name: str) -> str:
    """Return a name as code on one line. The name may contain any characters."""
    flat = re.sub(r"[\s`]+", " ", name)
    return f"`{_shortened(flat)}`"


def _plain(text: str) -> str:
    """Return the text escaped for Markdown: without links, markup and mentions of people."""
    flat = " ".join(text.split())
    return re.sub(r"([\\`*_\[\]<>|~@#!&])", r"\\\1", _shortened(flat)).replace(r"\@", "@\N{ZERO WIDTH SPACE}")


def _shortened(text: str) -> str:
    printable = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)
    return printable if len(printable) <= LONGEST else printable[: LONGEST - 3] + "..."


def _truncated(text: str) -> str:
    """Return the text. A text that is too long is truncated after a complete line."""
    if len(text) <= MOST_CHARACTERS:
        return text
    end = "\n\nThe rest is in `index.html` and `results.jsonl`.\n"
    kept = text[: MOST_CHARACTERS - len(end) - len("</details>")].rpartition("\n")[0]
    open_details = kept.count("<details>") > kept.count("</details>")
    return kept + ("\n\n</details>" if open_details else "") + end
