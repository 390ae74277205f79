"""A page about a data set, with the counts of the data set and with sample pairs and their annotations."""

from collections.abc import Sequence

from whatchanged.datasets import Dataset, unit
from whatchanged.datasets.reading import SPLITS
from whatchanged.datasets.statistics import Summary
from whatchanged.page import Badge, Group, Page, Pair, Table
from whatchanged.records import PairRecord, corners

MOST_CAPTIONS = 12
MOST_REMARKS = 20


def sample_page(dataset: Dataset, summaries: Sequence[Summary], samples: int = 12) -> Page:
    """Return the page.

    samples: the number of pairs from each split. These pairs are spread evenly over the split, in the order
    of the records.
    """
    what = unit(dataset.records)
    pairs: list[Pair] = []
    groups = []
    for split in SPLITS:
        records = [record for record in dataset.records if record.split == split]
        chosen = spread(records, samples)
        if chosen:
            members = range(len(pairs), len(pairs) + len(chosen))
            groups.append(Group(f"from the {len(records):,} of the {split} split", members))
            pairs += [_pair(record, dataset.class_names) for record in chosen]
    return Page(
        title=f"{dataset.name}: {len(dataset.records):,} {what}",
        pairs=pairs,
        summary=[str(dataset.root)],
        tables=[_table(summaries)],
        notes=_remarks(dataset),
        groups=groups,
    )


def spread(records: Sequence[PairRecord], most: int) -> list[PairRecord]:
    """Return at most ``most`` records, spread evenly over all records."""
    if len(records) <= most:
        return list(records)
    return [records[(2 * i + 1) * len(records) // (2 * most)] for i in range(most)]


def _remarks(dataset: Dataset) -> list[str]:
    """Return the remarks of the data set's report as lines."""
    report = dataset.report
    remarks = [*report.differences, *report.notes]
    remarks += [f"left out: {text}" for text in report.damaged[:MOST_REMARKS]]
    if report.missing:
        remarks.append(f"missing pictures: {len(report.missing):,}, pairs left out: {len(report.skipped):,}")
    return remarks


def _table(summaries: Sequence[Summary]) -> Table:
    """Return the counts of every split as a table."""
    head = ("split", "records", "groups", "captions", "captions each", "words a caption", "different words")
    rows = [
        (
            s.split,
            f"{s.pairs:,}",
            f"{s.groups:,}",
            f"{s.captions:,}",
            f"{s.captions_a_pair.least} - {s.captions_a_pair.most} (mean {s.captions_a_pair.mean:.1f})",
            f"{s.words_a_caption.least} - {s.words_a_caption.most} (mean {s.words_a_caption.mean:.1f})",
            f"{s.vocabulary:,}",
        )
        for s in summaries
    ]
    return "Splits", [head, *rows]


def _pair(record: PairRecord, class_names: Sequence[str]) -> Pair:
    """Return the entry of the page for one record, with captions and other annotations."""
    kind = record.change_type or {True: "changed", False: "none", None: None}[record.changed]
    tags: dict[str, str] = {"split": record.split}
    if kind:
        tags["type"] = kind
    return Pair(
        id=record.pair_id,
        before=record.before,
        after=record.after,
        references=record.captions[:MOST_CAPTIONS],
        boxes=(corners(record.boxes[0]), corners(record.boxes[1])),
        badges=[Badge(kind)] if kind else (),
        facts=_facts(record, class_names),
        tags=tags,
    )


def _facts(record: PairRecord, class_names: Sequence[str]) -> list[str]:
    """Return the annotations other than captions and boxes as lines."""
    facts = []
    if not record.captions:
        facts.append("no captions")
    if len(record.captions) > MOST_CAPTIONS:
        facts.append(f"{len(record.captions) - MOST_CAPTIONS} more captions")
    if record.labels is not None:
        named = all(0 <= label < len(class_names) for label in record.labels)
        facts.append("class " + ", ".join(class_names[i] if named else str(i) for i in record.labels))
    if record.same_class is not None:
        facts.append("same class" if record.same_class else "different classes")
    if record.viewpoint_iou is not None:
        facts.append(f"overlap of the views {record.viewpoint_iou:.2f}")
    return [*facts, *(f"{key}: {value}" for key, value in record.extra.items())]
