"""``index.html``: the comparison as a page to look at, its groups first."""

from collections.abc import Sequence

from whatchanged.compare.comparison import Comparison
from whatchanged.compare.lines import result_line
from whatchanged.compare.run import Outcome
from whatchanged.compare.words import headline
from whatchanged.page import Badge, Group, Page, Pair

KINDS = {
    "failed": "Could not be compared",
    "added": "Added",
    "removed": "Removed",
    "renamed": "The same picture under another name",
}
"""What the page lists beside the groups, in this order."""


def page_of(found: Comparison) -> Page:
    """The page; pairs of identical files are counted, not listed."""
    shown = [place for place, outcome in enumerate(found.outcomes) if kind_of(outcome) != "identical"]
    where = {place: index for index, place in enumerate(shown)}
    beyond = {
        place: told for group in found.groups for place, told in zip(group.odd, group.beyond, strict=True)
    }
    groups = [
        Group(
            f"Group {group.number}. {group.sentence}",
            [where[place] for place in group.members],
            [where[place] for place in group.odd],
            closed=not group.changed,
        )
        for group in found.groups
    ]
    for kind, title in KINDS.items():
        members = [where[place] for place in shown if kind_of(found.outcomes[place]) == kind]
        if members:
            groups.append(Group(f"{title}: {len(members):,}", members))
    return Page(
        title="What changed",
        pairs=[_pair(found, place, beyond.get(place, ())) for place in shown],
        summary=[headline(found)],
        notes=_notes(found, len(found.outcomes) - len(shown)),
        groups=groups,
    )


def kind_of(outcome: Outcome) -> str:
    """One word for what became of a pair."""
    if outcome.failed:
        return "failed"
    if outcome.answer is None or outcome.pair.status == "renamed":
        return outcome.pair.status
    if outcome.changed:
        return "changed"
    return "noise" if outcome.noise else "identical"


def _pair(found: Comparison, place: int, beyond: Sequence[str]) -> Pair:
    outcome = found.outcomes[place]
    number = found.group_of.get(place)
    facts = [f"Beside what the group shares: {' '.join(beyond)}"] if beyond else []
    kind = kind_of(outcome)
    return Pair(
        id=outcome.pair.pair_id,
        before=outcome.pair.before,
        after=outcome.pair.after,
        line=result_line(outcome, number),
        ignored=outcome.boxes,
        badges=[Badge(kind)] if kind in ("added", "removed", "renamed") else [],
        facts=facts,
        tags={"result": kind} if number is None else {"result": kind, "group": str(number)},
    )


def _notes(found: Comparison, identical: int) -> list[str]:
    notes = [f"Compared: {found.matched.source}."]
    if identical:
        notes.append(f"Pairs that are the same, not listed: {identical:,}.")
    notes += [f"This ignored box touches no difference any more: {one}" for one in found.idle]
    return [*notes, *found.matched.notes]
