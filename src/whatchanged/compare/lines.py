"""Write ``results.jsonl``: one line for each pair, as in ``caption``, with ``changed`` and ``group``."""

import json
from typing import Any

from whatchanged.compare.comparison import Comparison
from whatchanged.compare.run import Outcome
from whatchanged.compare.words import outcome_sentence


def result_lines(comparison: Comparison) -> list[dict[str, Any]]:
    """Return the fields of every line, in the order of the pairs."""
    return [
        result_line(outcome, comparison.group_of.get(index))
        for index, outcome in enumerate(comparison.outcomes)
    ]


def result_line(outcome: Outcome, group: int | None) -> dict[str, Any]:
    """Return the fields of one line. Fields that do not apply are absent.

    ``file`` gives the status of a file that was added, removed or renamed. ``was`` gives the former name of a
    renamed file.
    """
    pair = outcome.pair
    before = None if pair.before is None else str(pair.before)
    after = None if pair.after is None else str(pair.after)
    fields: dict[str, Any]
    if outcome.failed:
        fields = {"id": pair.pair_id, "error": outcome.error, "before": before, "after": after}
    elif outcome.answer is not None:
        fields = outcome.answer.as_json(pair.pair_id, before, after, group)
    else:
        fields = {
            "id": pair.pair_id,
            "caption": outcome_sentence(outcome),
            "no_change": 0.0,
            "verdict": "changed",
            "doubtful": False,
            "answer": "measured",
            "before": before,
            "after": after,
            "changed": True,
        }
    if pair.status != "both":
        fields["file"] = pair.status
        fields["was"] = pair.was
    if outcome.answer is not None:
        fields["policy"] = outcome.answer.policy
    if outcome.boxes:
        fields["ignored"] = [list(box) for box in outcome.boxes]
        fields["ignored_share"] = None if outcome.answer is None else round(outcome.answer.ignored, 4)
    return {key: value for key, value in fields.items() if value is not None}


def results_text(comparison: Comparison) -> str:
    """Return the text of the file."""
    return "".join(
        json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n" for line in result_lines(comparison)
    )
