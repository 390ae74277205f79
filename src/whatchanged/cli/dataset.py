"""``whatchanged dataset``: what a folder or list holds."""

from pathlib import Path
from typing import Annotated

import typer


def dataset(
    folder: Annotated[
        Path, typer.Argument(help="A data set folder, or a list of pairs in CSV or JSON lines.")
    ],
    skip_missing: Annotated[
        bool,
        typer.Option(
            "--skip-missing", help="Leave out pairs whose pictures are missing instead of refusing."
        ),
    ] = False,
) -> None:
    """Say what this folder is, its splits and counts, and what is missing."""
    from collections import Counter

    from whatchanged.datasets import SPLITS, open_dataset
    from whatchanged.records import CHANGE_TYPES

    opened = open_dataset(folder, skip_missing=skip_missing)
    typer.echo(f"{opened.root}: {opened.name}, {len(opened.records):,} pairs")
    for split in SPLITS:
        records = [r for r in opened.records if r.split == split]
        if not records:
            continue
        types = Counter(r.change_type for r in records if r.change_type is not None)
        captions = [len(r.captions) for r in records]
        parts = [f"{len(records):,} pairs of {len({r.group_id for r in records}):,} groups"]
        if types:
            parts.append(", ".join(f"{kind} {types[kind]:,}" for kind in CHANGE_TYPES if types[kind]))
        parts.append(
            f"{min(captions)} to {max(captions)} captions a pair ({sum(captions):,} in all)"
            if any(captions)
            else "no captions"
        )
        typer.echo(f"  {split}: " + "; ".join(parts))
    report = opened.report
    if report.blank_captions:
        typer.echo(f"  blank captions: {report.blank_captions:,}")
    for note in report.notes:
        typer.echo(f"  note: {note}")
    if report.missing:
        first = ", ".join(str(path) for path in report.missing[:3])
        typer.echo(f"  missing pictures: {len(report.missing):,} (first: {first})")
        typer.echo(
            f"  pairs left out for it: {len(report.skipped):,} (first: {', '.join(report.skipped[:3])})"
        )
