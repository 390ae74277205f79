"""Make ``index.html``: the comparison as a page, with the groups first."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from whatchanged.compare.comparison import Comparison
from whatchanged.compare.groups import OutcomeGroup
from whatchanged.compare.lines import result_line
from whatchanged.compare.record import Record
from whatchanged.compare.run import Outcome
from whatchanged.compare.words import headline, ignored_of, looked_by, otherwise
from whatchanged.page import Badge, Group, Page, Pair, Review

KINDS = {
    "failed": "Could not be compared",
    "added": "Added",
    "removed": "Removed",
    "renamed": "The same picture under another name",
    "changed": "Changed, each in its own way",
    "ignored": "Differ only in ignored places",
    "noise": "Differ without a visible change",
}
"""The sections that the page lists in addition to the groups, in this order."""


def page_of(comparison: Comparison, record: Record | None = None, folder: Path = Path()) -> Page:
    """Return the page. Pairs of identical files are counted but not listed.

    record: the record of the comparison, for a page on which pairs can be accepted and rejected.
    folder: the folder of results, as the user named it.
    """
    shown = [index for index, outcome in enumerate(comparison.outcomes) if kind_of(outcome) != "identical"]
    where = {position: index for index, position in enumerate(shown)}
    beyond = {
        index: told
        for group in comparison.groups
        for index, told in zip(group.odd, group.beyond, strict=True)
    }
    groups = [
        Group(
            f"Group {group.number}. {group.sentence}",
            [where[index] for index in group.members],
            [where[index] for index in group.odd],
            closed=not group.changed,
            command=_command(comparison, group, record, folder),
        )
        for group in comparison.groups
    ]
    for kind, title in KINDS.items():
        members = [
            where[index]
            for index in shown
            if kind_of(comparison.outcomes[index]) == kind and index not in comparison.group_of
        ]
        if members:
            groups.append(Group(f"{title}: {len(members):,}", members, closed=kind == "noise"))
    return Page(
        title="What changed",
        pairs=[_pair(comparison, index, beyond.get(index, ()), record) for index in shown],
        summary=[text for text in (headline(comparison), otherwise(comparison)) if text],
        notes=_notes(comparison, len(comparison.outcomes) - len(shown)),
        groups=groups,
        review=None if record is None else _review(record, folder),
    )


def _review(record: Record, folder: Path) -> Review:
    """Return the instructions for applying the decisions."""
    if record.tool:
        return Review(record.results, why=f"These pictures are not copied: {record.tool}.")
    command = ["whatchanged", "accept", str(folder), "--decisions", "decisions.json"]
    return Review(record.results, shlex.join(command) if str(folder).isprintable() else "")


def _command(comparison: Comparison, group: OutcomeGroup, record: Record | None, folder: Path) -> str:
    """Return the shell command that accepts a group, including its odd members; "" if no command can do this.

    The result is also "" for a name with characters that a terminal might interpret, because such a command
    is not safe to paste.
    """
    names = [comparison.outcomes[index].pair.pair_id for index in group.odd]
    words = [str(folder), *names]
    if record is None or record.tool or not all(word.isprintable() for word in words):
        return ""
    end = ["--"] if any(name.startswith("-") for name in names) else []
    return shlex.join(["whatchanged", "accept", str(folder), *end, str(group.number), *names])


def kind_of(outcome: Outcome) -> str:
    """Return one word for the result of a pair."""
    if outcome.failed:
        return "failed"
    if outcome.answer is None or outcome.pair.status == "renamed":
        return outcome.pair.status
    if outcome.changed:
        return "changed"
    if outcome.ignored:
        return "ignored"
    return "noise" if outcome.noise else "identical"


def _pair(comparison: Comparison, index: int, beyond: Sequence[str], record: Record | None) -> Pair:
    outcome = comparison.outcomes[index]
    number = comparison.group_of.get(index)
    facts = [f"Beside what the group shares: {' '.join(beyond)}"] if beyond else []
    facts += [ignored_of(outcome)] if ignored_of(outcome) else []
    kind = kind_of(outcome)
    return Pair(
        id=outcome.pair.pair_id,
        before=outcome.pair.before,
        after=outcome.pair.after,
        line=result_line(outcome, number),
        ignored=outcome.boxes,
        badges=[Badge(kind)] if kind in ("added", "removed", "renamed") else [],
        facts=facts,
        fixed="" if record is None else record.pairs[index].why,
        tags={"result": kind} if number is None else {"result": kind, "group": str(number)},
    )


def _notes(comparison: Comparison, identical: int) -> list[str]:
    notes = [f"Compared: {comparison.matched.source}.", looked_by(comparison)]
    if identical:
        notes.append(f"Pairs that are the same, not listed: {identical:,}.")
    notes += [f"This ignored box touches no difference any more: {one}" for one in comparison.unused]
    return [*notes, *comparison.matched.notes]
