"""``whatchanged evaluate``: predictions against references, in numbers."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from whatchanged.errors import OutputError, PredictionsError

if TYPE_CHECKING:
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
    from whatchanged.datasets import open_dataset
    from whatchanged.evaluation.predictions import aligned
    from whatchanged.evaluation.report import Settings, evaluate_records, write
    from whatchanged.evaluation.scene_grading import scene_truths
    from whatchanged.evaluation.tables import as_json, as_markdown, as_text

    others = [*([compare] if compare else []), *(seeds or [])]
    if compare and seeds:
        raise typer.BadParameter("choose one of --compare and --seeds: two single systems are compared.")
    if compare and not resamples:
        raise typer.BadParameter("--compare needs --resamples of 1 or more")
    _check_outputs((json, markdown), (predictions, references, *others))
    chosen = open_dataset(references, split=split, pictures=False)
    every = chosen if split == "all" else open_dataset(references, pictures=False)
    known = {record.pair_id for record in every.records} - {record.pair_id for record in chosen.records}

    def align(read: "Sequence[Prediction]") -> "tuple[Prediction, ...]":
        return aligned(read, chosen.records, others=known, failed_as_empty=failed_as_empty)

    (read, fitting), *rest = [_fitting(path, align) for path in (predictions, *others)]
    report = evaluate_records(
        chosen.records,
        fitting,
        scene_truths(chosen.root),
        Settings(tokenizer, document_frequencies, threshold, resamples),
        split,
        set_aside=read - len(fitting),
        other=rest[0][1] if compare else None,
        seeds=[own for _, own in rest] if seeds else (),
    )
    if json is not None:
        write(json, as_json(report))
    if markdown is not None:
        write(markdown, as_markdown(report))
    typer.echo(as_text(report))


def _check_outputs(outputs: Sequence[Path | None], inputs: Sequence[Path]) -> None:
    taken = {path.resolve() for path in inputs}
    for output in outputs:
        if output is not None and output.resolve() in taken:
            raise OutputError(f"{output}: this is one of the inputs. Name another file for the report.")


def _fitting(
    path: Path, align: "Callable[[Sequence[Prediction]], tuple[Prediction, ...]]"
) -> "tuple[int, tuple[Prediction, ...]]":
    """How many predictions the file holds, and those of the chosen pairs; a misfit names the file."""
    from whatchanged.evaluation.predictions import read_predictions

    read = read_predictions(path)
    try:
        return len(read), align(read)
    except PredictionsError as error:
        raise PredictionsError(f"{path}: {error}") from error
