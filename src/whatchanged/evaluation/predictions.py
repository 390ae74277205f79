"""Predictions on disk, and their fit to the references: every id once, none too many, none too few.

One JSON object a line: ``{"id": "000123.png", "caption": "...", "no_change": 0.03}``, or, for a pair that
failed, ``{"id": "...", "error": "..."}``.
"""

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whatchanged.errors import PredictionsError
from whatchanged.records import PairRecord

EXAMPLES = 3


@dataclass(frozen=True)
class Prediction:
    """What a captioner said of one pair; ``error`` instead of a caption where it failed."""

    pair_id: str
    caption: str = ""
    no_change: float | None = None
    error: str | None = None


def read_predictions(path: str | Path) -> tuple[Prediction, ...]:
    """All lines, in order. Raises PredictionsError with the line number, or with the first repeated ids."""
    path = Path(path)
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise PredictionsError(f"{path}: cannot be read ({error}).") from error
    predictions = [_prediction(f"{path}, line {i}", line) for i, line in enumerate(lines, 1) if line.strip()]
    if not predictions:
        raise PredictionsError(
            f"{path}: the file is empty. It needs one JSON object a line: id, caption, no_change."
        )
    twice = [pair_id for pair_id, count in Counter(p.pair_id for p in predictions).items() if count > 1]
    if twice:
        raise PredictionsError(f"{path}: {_named(twice, 'id')}: more than one line. Keep one line a pair.")
    return tuple(predictions)


def aligned(
    predictions: Sequence[Prediction],
    records: Sequence[PairRecord],
    others: Iterable[str] = (),
    failed_as_empty: bool = False,
) -> tuple[Prediction, ...]:
    """The prediction of each record, in the records' order.

    ``others``: ids of the data set that are not scored now (another split): their predictions are set aside.
    Raises PredictionsError where a record has no prediction or no references, where a prediction is of no
    known pair, and, unless ``failed_as_empty``, where a pair failed; nothing is intersected in silence.
    """
    by_id = {p.pair_id: p for p in predictions}
    wanted, known = {r.pair_id for r in records}, set(others)
    unknown = [i for i in by_id if i not in wanted and i not in known]
    if unknown:
        raise PredictionsError(
            f"{_named(unknown, 'prediction')}: no such id in the references. Same data set?"
        )
    missing = [r.pair_id for r in records if r.pair_id not in by_id]
    if missing:
        raise PredictionsError(f"{_named(missing, 'pair')}: no prediction. Caption all, or choose a --split.")
    bare = [r.pair_id for r in records if not r.captions]
    if bare:
        raise PredictionsError(f"{_named(bare, 'pair')}: no references to score against.")
    chosen = tuple(by_id[r.pair_id] for r in records)
    failed = [p.pair_id for p in chosen if p.error is not None]
    if failed and not failed_as_empty:
        raise PredictionsError(
            f"{_named(failed, 'pair')}: failed when captioned. Caption again, or pass --failed-as-empty."
        )
    return chosen


def _prediction(where: str, line: str) -> Prediction:
    try:
        value = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise PredictionsError(
            f"{where}: not JSON ({error}). One object a line is wanted, as `whatchanged caption` writes them."
        ) from error
    if not isinstance(value, dict) or not isinstance(value.get("id"), str):
        raise PredictionsError(
            f'{where}: {{"id": "...", "caption": "..."}} is wanted, this is {_short(value)}.'
        )
    if value.get("error") is not None:
        return Prediction(value["id"], error=str(value["error"]))
    caption, no_change = value.get("caption"), value.get("no_change")
    if not isinstance(caption, str):
        raise PredictionsError(
            f"{where}: pair {value['id']} has neither a caption nor an error: {_short(value)}."
        )
    if no_change is not None and not _is_probability(no_change):
        raise PredictionsError(
            f"{where}: no_change should be a probability (0 to 1) or null, not {no_change!r}."
        )
    return Prediction(value["id"], caption, None if no_change is None else float(no_change))


def _is_probability(value: Any) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and math.isfinite(value)
        and 0 <= value <= 1
    )


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:80] + " ..."


def _named(ids: Sequence[str], what: str) -> str:
    return f"{len(ids):,} {what}{'' if len(ids) == 1 else 's'} (first: {', '.join(ids[:EXAMPLES])})"
