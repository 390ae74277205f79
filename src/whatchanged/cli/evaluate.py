"""``whatchanged evaluate``: score predictions against references."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from whatchanged.cli.console import check_embed, check_outputs, print_result
from whatchanged.cli.options import PAIRS, SCORES, WRITTEN, DatasetName, Embed
from whatchanged.files import write_output

if TYPE_CHECKING:
    from whatchanged.evaluation.report.from_files import References


EXAMPLES = ("whatchanged evaluate captions.jsonl references.json --html report.html",)


def evaluate(
    predictions: Annotated[
        Path,
        typer.Argument(
            help="JSON lines as `whatchanged caption` writes them, COCO results, PCL's or SCORER's; or "
            "similarities (.npy) for retrieval."
        ),
    ],
    references: Annotated[
        Path, typer.Argument(help="The data set folder, or CSV, JSON lines or COCO JSON with the captions.")
    ],
    split: Annotated[
        Literal["all", "train", "val", "test"],
        typer.Option(metavar="PART", help="Score this split only: train, val or test."),
    ] = "all",
    dataset: DatasetName = None,
    skip_missing: Annotated[
        bool,
        typer.Option(
            "--skip-missing",
            help="Leave out pairs whose pictures are missing, as `caption` did.",
            rich_help_panel=PAIRS,
        ),
    ] = False,
    json: Annotated[
        Path | None,
        typer.Option(
            help="Write the report to this file, unrounded; an existing file is replaced.",
            rich_help_panel=WRITTEN,
        ),
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option(
            help="Write the tables to this file; an existing file is replaced.", rich_help_panel=WRITTEN
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            help="Write a page of all pairs to this file; an existing file is replaced. The page links "
            "the pictures.",
            rich_help_panel=WRITTEN,
        ),
    ] = None,
    embed: Embed = False,
    attention: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Attention maps of `caption --attention`, for the pointing game and the page.",
            rich_help_panel=WRITTEN,
        ),
    ] = None,
    picture_size: Annotated[
        str | None,
        typer.Option(
            metavar="WxH",
            help="Size of all pictures in pixels, for the pointing game without the pictures.",
            show_default="each picture's own",
            rich_help_panel=WRITTEN,
        ),
    ] = None,
    compare: Annotated[
        Path | None,
        typer.Option(metavar="OTHER", help="Predictions of another system, for a paired comparison."),
    ] = None,
    seeds: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="OTHER",
            help="Predictions of the same method, trained from another seed; repeat for each seed.",
            rich_help_panel=SCORES,
        ),
    ] = None,
    tokenizer: Annotated[
        Literal["ptb", "plain"],
        typer.Option(
            help="ptb: as in the COCO evaluation; plain: split at blanks, as in PCL's.",
            rich_help_panel=SCORES,
        ),
    ] = "ptb",
    document_frequencies: Annotated[
        Literal["subset", "corpus"],
        typer.Option(
            help="Source of CIDEr-D's word weights: each subset, as in the benchmark, or all scored pairs.",
            rich_help_panel=SCORES,
        ),
    ] = "subset",
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            metavar="P",
            help="A pair with at least this no-change probability (0 to 1) is classified as unchanged.",
            show_default="the model's own, or 0.5",
            rich_help_panel=SCORES,
        ),
    ] = None,
    resamples: Annotated[
        int,
        typer.Option(
            min=0,
            max=100_000,
            metavar="N",
            help="Resamples of scenes for the bootstrap intervals; 0: no intervals.",
            rich_help_panel=SCORES,
        ),
    ] = 1000,
    no_meteor: Annotated[
        bool,
        typer.Option(
            "--no-meteor",
            help="Omit METEOR, which takes some seconds (extra `eval`).",
            rich_help_panel=SCORES,
        ),
    ] = False,
    no_java: Annotated[
        bool,
        typer.Option(
            "--no-java",
            help="Omit SPICE, which is a Java program (extra `eval`).",
            rich_help_panel=SCORES,
        ),
    ] = False,
    spice_home: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="SPICE's jars; else $WHATCHANGED_SPICE_HOME.", rich_help_panel=SCORES
        ),
    ] = None,
    failed_as_empty: Annotated[
        bool,
        typer.Option(
            "--failed-as-empty",
            help="Score pairs that failed or are missing as empty captions, instead of an error.",
            rich_help_panel=PAIRS,
        ),
    ] = False,
    only_predicted: Annotated[
        bool,
        typer.Option(
            "--only-predicted",
            help="Leave out pairs of the references without a prediction.",
            rich_help_panel=PAIRS,
        ),
    ] = False,
) -> None:
    """Score captions: BLEU, ROUGE-L, CIDEr-D, by type of change, and against the scene where it is known."""
    from whatchanged.evaluation.metrics.further_metrics import further_metrics
    from whatchanged.evaluation.report.from_files import References, Systems, report_from_files
    from whatchanged.evaluation.report.page import report_page
    from whatchanged.evaluation.report.scored import ReportSettings
    from whatchanged.page import render

    check_embed(embed, html)
    against = References(references, split, dataset, skip_missing)
    if predictions.suffix == ".npy":
        if html or attention or compare or seeds:
            raise typer.BadParameter(
                "similarities (.npy) take --split, --resamples, --json and --markdown only."
            )
        _retrieval(predictions, against, resamples, json, markdown)
        return
    if compare and (seeds or not resamples):
        raise typer.BadParameter("--compare takes one other system: no --seeds, and --resamples above 0.")
    systems = Systems(predictions, compare, seeds or (), attention, failed_as_empty, only_predicted)
    check_outputs((json, markdown, html), (predictions, references, *systems.others))
    further = further_metrics(with_meteor=not no_meteor, with_spice=not no_java, spice_home=spice_home)
    settings = ReportSettings(
        tokenizer,
        document_frequencies,
        resamples=resamples,
        further_metrics=further,
        picture_size=_size(picture_size),
    )
    report = report_from_files(systems, against, settings, threshold)
    texts: list[tuple[Path, str]] = []
    if json is not None:
        texts.append((json, report.to_json()))
    if markdown is not None:
        texts.append((markdown, report.table("markdown")))
    if html is not None:
        title = f"{predictions.name} against {references.name}"
        texts.append((html, render(report_page(report, title), html.parent, embed)))
    _write(texts)
    print_result(report.table(), (json, markdown, html))


def _size(text: str | None) -> tuple[int, int] | None:
    """Return width and height of ``--picture-size``."""
    if text is None:
        return None
    found = re.fullmatch(r"([1-9]\d{0,5})x([1-9]\d{0,5})", text)
    if found is None:
        raise typer.BadParameter(f"{text!r} is not WIDTHxHEIGHT in pixels, for example 480x320.")
    return int(found[1]), int(found[2])


def _retrieval(
    path: Path, references: "References", resamples: int, json: Path | None, markdown: Path | None
) -> None:
    """Evaluate retrieval by the similarities between captions and pairs."""
    from whatchanged.evaluation.report.layout import aligned_table, markdown_table
    from whatchanged.evaluation.report.retrieval_report import as_json, retrieval_report, retrieval_tables

    check_outputs((json, markdown), (path, path.with_suffix(".json"), references.path))
    report = retrieval_report(path, references.open().records, resamples)
    tables = retrieval_tables(report)
    texts: list[tuple[Path, str]] = []
    if json is not None:
        texts.append((json, as_json(report)))
    if markdown is not None:
        texts.append((markdown, "\n\n".join(markdown_table(*table) for table in tables) + "\n"))
    _write(texts)
    print_result("\n\n".join(aligned_table(*table) for table in tables), (json, markdown))
    if report["not_in_the_matrix"]:
        absent = f"{report['not_in_the_matrix']:,} pairs of the references are not in the matrix."
        print_result(absent, (json, markdown))


def _write(texts: Sequence[tuple[Path, str]]) -> None:
    """Write every output, after all outputs have been computed."""
    for path, text in texts:
        write_output(path, text)
