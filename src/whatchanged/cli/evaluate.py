"""``whatchanged evaluate``: predictions against references, in numbers."""

from pathlib import Path
from typing import Annotated, Literal

import typer


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
    tokenizer: Annotated[
        Literal["ptb", "plain"],
        typer.Option(help="ptb: as the COCO evaluation; plain: split at blanks, as PCL's."),
    ] = "ptb",
    failed_as_empty: Annotated[
        bool,
        typer.Option("--failed-as-empty", help="Score failed pairs as empty sentences instead of refusing."),
    ] = False,
) -> None:
    """Score captions: BLEU, ROUGE-L, CIDEr-D, by type of change, and against the scene where it is known.

    A file that `whatchanged retrieve` wrote is scored by the ranks of the right answers instead.
    """
    from whatchanged.datasets import open_dataset
    from whatchanged.errors import OutputError
    from whatchanged.evaluation.predictions import aligned, read_predictions
    from whatchanged.evaluation.report import as_json, as_markdown, as_text, evaluate_records, write
    from whatchanged.evaluation.retrieval import holds_similarities
    from whatchanged.evaluation.scene_grading import scene_truths

    for output in (json, markdown):
        if output is not None and output.resolve() in (predictions.resolve(), references.resolve()):
            raise OutputError(f"{output}: this is one of the inputs. Name another file for the report.")
    if holds_similarities(predictions):
        _evaluate_retrieval(predictions, references, split, json, markdown)
        return
    read = read_predictions(predictions)
    chosen = open_dataset(references, split=split, pictures=False)
    every = chosen if split == "all" else open_dataset(references, pictures=False)
    known = {record.pair_id for record in every.records} - {record.pair_id for record in chosen.records}
    fitting = aligned(read, chosen.records, others=known, failed_as_empty=failed_as_empty)
    report = evaluate_records(
        chosen.records,
        fitting,
        scene_truths(chosen.root),
        tokenizer,
        split,
        set_aside=len(read) - len(fitting),
    )
    if json is not None:
        write(json, as_json(report))
    if markdown is not None:
        write(markdown, as_markdown(report))
    typer.echo(as_text(report))


def _evaluate_retrieval(
    path: Path, references: Path, split: str, json_path: Path | None, markdown: Path | None
) -> None:
    """Ranks of the right answers in both directions, among the pairs of the chosen split."""
    import json
    from dataclasses import asdict

    from whatchanged.datasets import open_dataset
    from whatchanged.errors import PredictionsError
    from whatchanged.evaluation.report import write
    from whatchanged.evaluation.retrieval import read_similarities, retrieval_scores, scores_as_text

    if markdown is not None:
        raise PredictionsError(f"{path}: similarities have no Markdown report. Ask for --json.")
    chosen = open_dataset(references, split=split, pictures=False).records
    similarities = read_similarities(path).of({r.pair_id: len(r.captions) for r in chosen})
    scores = retrieval_scores(similarities.values, similarities.pair_of)
    if json_path is not None:
        counts = dict(zip(("sentences", "pairs"), similarities.values.shape, strict=True))
        write(
            json_path,
            json.dumps({**asdict(scores), **counts, "split": split, "ties": "optimistic"}, indent=1),
        )
    typer.echo(scores_as_text(scores, similarities))
