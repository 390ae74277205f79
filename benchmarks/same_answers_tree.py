"""Computes a source tree's answers for a list of pairs, a JSON line each. ``same_answers`` runs this program.

Only promised names are used: ``whatchanged.Answerer`` and the attributes of ``Answer`` and ``Description``.
PYTHONPATH selects the tree.
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.same_answers_records import read_whole_lines

if TYPE_CHECKING:
    from whatchanged import Answer, Answerer


def main(arguments: Sequence[str] | None = None) -> None:
    """Append to OUT the answers for the pairs that it does not hold yet."""
    parser = argparse.ArgumentParser(description="What one source tree answers for a list of pairs.")
    parser.add_argument("--source", type=Path, required=True, help="the src folder that must answer")
    parser.add_argument("--pairs", type=Path, required=True, help="JSON lines: id, before, after")
    parser.add_argument("--settings", type=json.loads, required=True, help="of the Answerer, as JSON")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(arguments)
    import whatchanged

    used = Path(whatchanged.__file__).resolve()
    if not used.is_relative_to(given.source.resolve()):
        sys.exit(f"{used} would answer, not {given.source}: set PYTHONPATH.")
    pairs = read_whole_lines(given.pairs)
    known = {line["id"] for line in read_whole_lines(given.out)}
    answerer = whatchanged.Answerer(**given.settings)
    with given.out.open("a", encoding="utf-8") as out:
        for pair in pairs:
            if pair["id"] not in known:
                out.write(json.dumps({"id": pair["id"], **answer_fields(answerer, pair)}) + "\n")
                out.flush()


def answer_fields(answerer: "Answerer", pair: dict[str, str]) -> dict[str, Any]:
    """Every field of the answer for a pair, or its error."""
    from whatchanged import WhatchangedError

    try:
        return fields_of(answerer.answer(pair["before"], pair["after"]))
    except WhatchangedError as error:
        return {"error": f"{type(error).__name__}: {error}"}


def fields_of(answer: "Answer") -> dict[str, Any]:
    """What ``describe --json`` prints, and what it rounds or leaves out.

    unrounded     the probability that nothing changed, every digit
    ood_distance  how far both pictures are from what the model knows, every digit
    words         each word with a hash of its own attention
    attention     a hash of the attention of the sentence
    heatmap       a hash of the painted picture
    """
    fields = {**answer.as_json(), "unrounded": answer.no_change, "sentence": answer.sentence}
    said = answer.description
    if said is not None:
        fields["ood_distance"] = said.ood_distance
        fields["words"] = [[word, digest(attention)] for word, attention in said.words]
        fields["attention"] = digest(said.heatmaps)
    fields["heatmap"] = digest(np.asarray(answer.heatmap()))
    return fields


def digest(array: Any) -> str:
    """A hash of an array's type, shape and bytes."""
    array = np.ascontiguousarray(array)
    return hashlib.sha256(f"{array.dtype} {array.shape} ".encode() + array.tobytes()).hexdigest()[:16]


if __name__ == "__main__":
    main()
