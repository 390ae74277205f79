"""``whatchanged dataset``: print the content of a data set folder or list, and what is missing."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whatchanged.cli import completion
from whatchanged.cli.console import check_embed, check_output, check_outputs, note, show
from whatchanged.cli.options import WRITTEN, Embed

if TYPE_CHECKING:
    from whatchanged.datasets import Dataset, DatasetReport
    from whatchanged.datasets.statistics import Summary

EXAMPLES = (
    "whatchanged dataset path/to/spot-the-diff",
    "whatchanged dataset --list",
)

NAMED = 3
KINDS = {
    "pair_caption": "pairs with captions",
    "single_caption": "single pictures with captions",
    "pair_label": "pairs with class labels",
    "single_label": "single pictures with class labels",
}


def dataset(
    folder: Annotated[
        Path | None,
        typer.Argument(
            help="A data set folder, or a list of pairs in CSV or JSON lines; left out, the data sets that"
            " can be read are listed.",
            show_default=False,
        ),
    ] = None,
    skip_missing: Annotated[
        bool,
        typer.Option(
            "--skip-missing",
            help="Leave out and list pairs with missing pictures and damaged entries, instead of an error.",
        ),
    ] = False,
    name: Annotated[
        str | None,
        typer.Option(
            "--dataset",
            help="The name of the data set; recognised if left out.",
            autocompletion=completion.data_sets,
        ),
    ] = None,
    annotations_only: Annotated[
        bool, typer.Option("--annotations-only", help="Do not look for pictures.")
    ] = False,
    preparation: Annotated[
        str | None,
        typer.Option(
            help="Also count words by this named preparation (recipes: data.preparation).",
            autocompletion=completion.preparations,
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html",
            help="Also write a page of sample pairs to this file; it links the pictures.",
            rich_help_panel=WRITTEN,
        ),
    ] = None,
    embed: Embed = False,
    samples: Annotated[
        int,
        typer.Option(
            min=1, max=500, help="Sample pairs of each split on that page.", rich_help_panel=WRITTEN
        ),
    ] = 12,
    force: Annotated[
        bool, typer.Option("--force", help="Replace an existing page.", rich_help_panel=WRITTEN)
    ] = False,
    list_: Annotated[bool, typer.Option("--list", help="List the data sets that can be read.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No remarks on stderr.")] = False,
) -> None:
    """Print which data set this folder is, its splits and counts, and what is missing."""
    if folder is None or list_:
        _list()
        return
    from whatchanged.datasets import open_dataset, unit
    from whatchanged.datasets.statistics import summarise
    from whatchanged.worlds import world_of

    check_embed(embed, html)
    if html is not None:
        check_output(html, force)
        check_outputs([html], [folder])
    opened = open_dataset(folder, name, skip_missing=skip_missing, pictures=not annotations_only)
    world = world_of(opened.name, opened.root)
    summaries = summarise(opened.records, () if world is None else world.breakdown.kinds)
    prepared = _preparation_lines(opened, preparation) if preparation else []
    what = unit(opened.records)
    show(f"{opened.root}: {opened.name}, {len(opened.records):,} {what}")
    show(f"  kind: {', '.join(KINDS[kind] for kind in sorted({r.kind for r in opened.records}))}")
    for line in [*_split_lines(summaries, what), *prepared, *_report_lines(opened)]:
        show(f"  {line}")
    if html is not None:
        from whatchanged.datasets.sample_page import sample_page
        from whatchanged.page import write_page

        write_page(html, sample_page(opened, summaries, samples), embed)
        note(f"{html}: sample pairs written", quiet)


def _list() -> None:
    """Print the name of every data set that can be read.

    If the data set comes from a plug-in, the name is followed by the package of the plug-in.
    """
    from whatchanged.datasets import READERS
    from whatchanged.plugins import DATASETS, installed

    for name in READERS:
        show(name)
    for plugin in installed(DATASETS, READERS):
        show(f"{plugin.name}  (plug-in, {plugin.package})")


def _split_lines(summaries: "tuple[Summary, ...]", unit: str) -> list[str]:
    lines = []
    for s in summaries:
        parts = [f"{s.pairs:,} {unit} of {s.groups:,} groups"]
        if s.types:
            parts.append(", ".join(f"{kind} {count:,}" for kind, count in s.types))
        if s.classes:
            parts.append(f"{s.classes:,} classes")
        each = s.captions_a_pair
        parts.append(
            f"{each.least} to {each.most} captions a {unit[:-1]} ({s.captions:,} in all)"
            if s.captions
            else "no captions"
        )
        lines.append(f"{s.split}: " + "; ".join(parts))
        if s.captions:
            words = s.words_a_caption
            lines.append(
                f"  words a caption: {words.least} to {words.most}, mean {words.mean:.1f}; "
                f"{s.vocabulary:,} different words, {s.once:,} seen once"
            )
    return lines


def _preparation_lines(opened: "Dataset", name: str) -> list[str]:
    """Return lines about a named preparation: the size of the vocabulary, the published size, and the number
    of truncated captions.
    """
    from whatchanged.datasets.preparation import preparation

    rule = preparation(name)
    known = rule.known(opened.records)
    published = f" (published: {rule.vocabulary:,})" if rule.vocabulary else ""
    of = f"seen at least {rule.threshold} times in {', '.join(rule.counted)}"
    lines = [f"preparation {rule.name}: {len(known):,} words {of}{published}; {rule.source}"]
    captions = [caption for record in opened.records for caption in record.captions]
    if rule.most_words:
        lines.append(
            f"  cut to {rule.most_words} words: {rule.truncated(captions):,} of {len(captions):,} captions"
        )
    return lines


def _report_lines(opened: "Dataset") -> list[str]:
    from whatchanged.datasets import PUBLISHED

    report: DatasetReport = opened.report
    lines = [f"published counts: {difference}" for difference in report.differences]
    if not lines and opened.name in PUBLISHED:
        lines.append("published counts: equal")
    if report.blank_captions:
        lines.append(f"blank captions: {report.blank_captions:,}")
    lines += [f"note: {remark}" for remark in report.notes]
    if report.damaged:
        lines.append(f"damaged, left out: {len(report.damaged):,}")
        lines += [f"  {text}" for text in report.damaged[:20]]
    if report.missing:
        first = ", ".join(str(path) for path in report.missing[:NAMED])
        lines.append(f"missing pictures: {len(report.missing):,} (first: {first})")
        skipped = ", ".join(report.skipped[:NAMED])
        lines.append(f"pairs left out for that reason: {len(report.skipped):,} (first: {skipped})")
    return lines
