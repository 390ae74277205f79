"""``whatchanged evaluate``: predictions against references, in numbers."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from whatchanged.cli.console import check_outputs, print_result
from whatchanged.errors import PredictionsError
from whatchanged.files import write_output

if TYPE_CHECKING:
    from whatchanged.captioner.attention import AttentionFiles
    from whatchanged.datasets import Dataset
    from whatchanged.evaluation.io.predictions import Prediction
    from whatchanged.evaluation.metrics.scene_grading import Truth
    from whatchanged.evaluation.report.report import Report
    from whatchanged.records import PairRecord


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
        Literal["all", "train", "val", "test"], typer.Option(help="Score this split only.")
    ] = "all",
    dataset: Annotated[str | None, typer.Option(help="Which data set this is, if not recognised.")] = None,
    skip_missing: Annotated[
        bool,
        typer.Option("--skip-missing", help="Leave out pairs whose pictures are missing, as `caption` did."),
    ] = False,
    json: Annotated[
        Path | None, typer.Option(help="Write the report here, unrounded; replaced if there.")
    ] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write the tables here; replaced if there.")] = None,
    html: Annotated[
        Path | None,
        typer.Option(help="Write a page of all pairs here, replaced if there; it links the pictures."),
    ] = None,
    attention: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Maps of `caption --attention`: the pointing game, and the page's."),
    ] = None,
    compare: Annotated[
        Path | None, typer.Option(metavar="OTHER", help="Another system's predictions: a paired comparison.")
    ] = None,
    seeds: Annotated[
        list[Path] | None,
        typer.Option(metavar="OTHER", help="The method trained from another seed; repeat for each seed."),
    ] = None,
    tokenizer: Annotated[
        Literal["ptb", "plain"],
        typer.Option(help="ptb: as the COCO evaluation; plain: split at blanks, as PCL's."),
    ] = "ptb",
    document_frequencies: Annotated[
        Literal["subset", "corpus"],
        typer.Option(
            help="CIDEr-D's word weights: of each subset, as the benchmark, or of all pairs scored."
        ),
    ] = "subset",
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="The no-change probability from which a pair is unchanged.",
            show_default="the model's own, or 0.5",
        ),
    ] = None,
    resamples: Annotated[
        int, typer.Option(min=0, max=100_000, help="Of the bootstrap of scenes; 0: no intervals.")
    ] = 1000,
    java: Annotated[
        bool,
        typer.Option(help="METEOR and SPICE, which are Java programs (extra `eval`); null without them."),
    ] = True,
    spice_home: Annotated[
        Path | None, typer.Option(metavar="DIR", help="SPICE's jars; else $WHATCHANGED_SPICE_HOME.")
    ] = None,
    failed_as_empty: Annotated[
        bool,
        typer.Option("--failed-as-empty", help="Score failed pairs as empty sentences instead of refusing."),
    ] = False,
) -> None:
    """Score captions: BLEU, ROUGE-L, CIDEr-D, by type of change, and against the scene where it is known."""
    from whatchanged.evaluation.io.predictions import made_by
    from whatchanged.evaluation.io.references import open_references
    from whatchanged.evaluation.metrics.java_metrics import java_programs
    from whatchanged.evaluation.metrics.scene_grading import scene_truths
    from whatchanged.evaluation.report.report import Settings, evaluate_records
    from whatchanged.evaluation.report.tables import as_json, as_markdown, as_text

    opened = partial(open_references, references, name=dataset, skip_missing=skip_missing)
    if predictions.suffix == ".npy":
        if html or attention or compare or seeds:
            raise typer.BadParameter(
                "similarities (.npy) take --split, --resamples, --json and --markdown only."
            )
        check_outputs((json, markdown), (predictions, predictions.with_suffix(".json"), references))
        _retrieval(predictions, opened(split).records, resamples, json, markdown)
        return
    others = [*([compare] if compare else []), *(seeds or [])]
    if compare and (seeds or not resamples):
        raise typer.BadParameter("--compare takes one other system: no --seeds, and --resamples above 0.")
    check_outputs((json, markdown, html), (predictions, references, *others))
    chosen, (own, *rest), set_aside = _read((predictions, *others), opened, split, failed_as_empty)
    truths = scene_truths(chosen.root)
    maker = made_by(predictions)
    if threshold is None:
        threshold = 0.5 if maker is None or maker["threshold"] is None else maker["threshold"]
    files, played = None, None
    if attention is not None:  # before anything that takes long, so that what does not fit is told at once
        from whatchanged.captioner.attention import AttentionFiles
        from whatchanged.evaluation.metrics.pointing import pointing_report
        from whatchanged.evaluation.report.breakdown import subsets

        files = AttentionFiles(attention)
        played = pointing_report(files, chosen.records, own, subsets(chosen.records), resamples)
    report = evaluate_records(
        chosen.records,
        own,
        truths,
        Settings(
            tokenizer,
            document_frequencies,
            threshold,
            resamples,
            programs=java_programs(spice_home) if java else {},
        ),
        split,
        set_aside,
        other=rest[0] if compare else None,
        seeds=rest if seeds else (),
    )
    report["signature"]["made_by"] = maker
    report["signature"]["others"] = [{"file": path.name, "made_by": made_by(path)} for path in others]
    if files is not None:
        report["pointing"] = played
        if played is None:
            report["warnings"].append("The references have no boxes: the pointing game was not played.")
    if len({path.resolve() for path in (predictions, *others)}) <= len(others):
        report["warnings"].append("The same predictions were given more than once.")
    page = None if html is None else _page(html, predictions, report, chosen, own, truths, tokenizer, files)
    for path, form in ((json, as_json), (markdown, as_markdown)):
        if path is not None:
            write_output(path, form(report))
    if html is not None and page is not None:
        write_output(html, page)
    print_result(as_text(report), (json, markdown, html))


def _page(
    path: Path,
    name: Path,
    report: "Report",
    references: "Dataset",
    predictions: "Sequence[Prediction]",
    truths: "Mapping[str, Truth]",
    tokenizer: str,
    files: "AttentionFiles | None",
) -> str:
    """The page of all pairs, as it lies in its folder."""
    from whatchanged.evaluation.report.page import page
    from whatchanged.evaluation.report.page_data import shown
    from whatchanged.evaluation.report.tables import footer, tables

    title = f"{name.name} against {references.root.name}"
    extras = shown(references.records, predictions, truths, tokenizer, files)
    return page(
        title, list(tables(report)), footer(report), references.records, predictions, extras, path.parent
    )


def _retrieval(
    path: Path, records: "Sequence[PairRecord]", resamples: int, json: Path | None, markdown: Path | None
) -> None:
    """Similarities against the pairs and texts that they are of."""
    from whatchanged.evaluation.metrics.retrieval import retrieval_report, table
    from whatchanged.evaluation.report.tables import aligned_table, as_json, markdown_table

    report = retrieval_report(path, records, resamples)
    tables = [table(report[rule]) for rule in ("own_pair", "equal_texts")]
    if json is not None:
        write_output(json, as_json(report))
    if markdown is not None:
        write_output(markdown, "\n\n".join(markdown_table(*each) for each in tables) + "\n")
    print_result("\n\n".join(aligned_table(*each) for each in tables), (json, markdown))
    if report["not_in_the_matrix"]:
        absent = f"{report['not_in_the_matrix']:,} pairs of the references are not in the matrix."
        print_result(absent, (json, markdown))


def _read(
    files: Sequence[Path], opened: "Callable[[str], Dataset]", split: str, failed_as_empty: bool
) -> "tuple[Dataset, list[tuple[Prediction, ...]], int]":
    """The pairs to score, each file's predictions of them, and how many of the first are of other splits.

    A misfit of predictions and references names the file.
    """
    from whatchanged.evaluation.io.predictions import aligned, read_predictions

    chosen = opened(split)
    every = chosen if split == "all" else opened("all")
    others = {record.pair_id for record in every.records} - {record.pair_id for record in chosen.records}
    read = [read_predictions(path) for path in files]
    fitting = []
    for path, own in zip(files, read, strict=True):
        try:
            fitting.append(aligned(own, chosen.records, others, failed_as_empty))
        except PredictionsError as error:
            raise PredictionsError(f"{path}: {error}") from error
    return chosen, fitting, len(read[0]) - len(fitting[0])
