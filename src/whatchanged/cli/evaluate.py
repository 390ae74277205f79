"""``whatchanged evaluate``: predictions against references, in numbers."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from whatchanged.errors import OutputError, PredictionsError

if TYPE_CHECKING:
    from whatchanged.datasets import Dataset
    from whatchanged.evaluation.predictions import Prediction


def evaluate(
    predictions: Annotated[Path, typer.Argument(help="JSON lines, as `whatchanged caption` writes them.")],
    references: Annotated[
        Path, typer.Argument(help="The data set folder, CSV or JSON lines with the captions.")
    ],
    split: Annotated[
        Literal["all", "train", "val", "test"], typer.Option(help="Score this split only.")
    ] = "all",
    json: Annotated[Path | None, typer.Option(help="Write the report here, unrounded.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write the tables here.")] = None,
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
        float, typer.Option(min=0, max=1, help="The no-change probability from which a pair is unchanged.")
    ] = 0.5,
    resamples: Annotated[
        int, typer.Option(min=0, max=100_000, help="Of the bootstrap of scenes; 0: no intervals.")
    ] = 1000,
    failed_as_empty: Annotated[
        bool,
        typer.Option("--failed-as-empty", help="Score failed pairs as empty sentences instead of refusing."),
    ] = False,
) -> None:
    """Score captions: BLEU, ROUGE-L, CIDEr-D, by type of change, and against the scene where it is known."""
    from whatchanged.evaluation.report import Settings, evaluate_records, write
    from whatchanged.evaluation.scene_grading import scene_truths
    from whatchanged.evaluation.tables import as_json, as_markdown, as_text

    others = [*([compare] if compare else []), *(seeds or [])]
    if compare and (seeds or not resamples):
        raise typer.BadParameter("--compare takes one other system: no --seeds, and --resamples above 0.")
    _check_outputs((json, markdown), (predictions, references, *others))
    chosen, (own, *rest), set_aside = _read((predictions, *others), references, split, failed_as_empty)
    report = evaluate_records(
        chosen.records,
        own,
        scene_truths(chosen.root),
        Settings(tokenizer, document_frequencies, threshold, resamples),
        split,
        set_aside,
        other=rest[0] if compare else None,
        seeds=rest if seeds else (),
    )
    for path, form in ((json, as_json), (markdown, as_markdown)):
        if path is not None:
            write(path, form(report))
    typer.echo(as_text(report))


def _check_outputs(outputs: Sequence[Path | None], inputs: Sequence[Path]) -> None:
    taken = {path.resolve() for path in inputs}
    for output in outputs:
        if output is not None and output.resolve() in taken:
            raise OutputError(f"{output}: this is one of the inputs. Name another file for the report.")


def _read(
    files: Sequence[Path], references: Path, split: str, failed_as_empty: bool
) -> "tuple[Dataset, list[tuple[Prediction, ...]], int]":
    """The pairs to score, each file's predictions of them, and how many of the first are of other splits.

    A misfit of predictions and references names the file.
    """
    from whatchanged.datasets import open_dataset
    from whatchanged.evaluation.predictions import aligned, read_predictions

    chosen = open_dataset(references, split=split, pictures=False)
    every = chosen if split == "all" else open_dataset(references, pictures=False)
    others = {record.pair_id for record in every.records} - {record.pair_id for record in chosen.records}
    read = [read_predictions(path) for path in files]
    fitting = []
    for path, own in zip(files, read, strict=True):
        try:
            fitting.append(aligned(own, chosen.records, others, failed_as_empty))
        except PredictionsError as error:
            raise PredictionsError(f"{path}: {error}") from error
    return chosen, fitting, len(read[0]) - len(fitting[0])
