"""Measures on drawn pairs how often changed text is quoted, and how often the quotation is right.

    python -m benchmarks.screens.quotes PAIRS [--split val,test] [--measured 100] [--record]

This needs the extra ``text``. PAIRS is a folder that ``whatchanged synth screens`` drew; texts of 79
characters and more are left out, because the truth shortens them. Each rewritten text is read at the boxes of
the truth. For ``--measured`` pairs, it is also read at the boxes of the measured answer, if that reports a
rewritten text. A quotation is right if the words that differ are those of the truth. Words with which both
texts begin or end do not count, nor do capitals: a style sheet may show "Save" as "SAVE", and the truth has
"Save".
"""

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.record import Watch, add_record_option, write_result
from whatchanged.answers import Answerer
from whatchanged.answers.naming import named
from whatchanged.measured import Statement
from whatchanged.measured.pixels.reading import read_picture
from whatchanged.text.quotes import Quotes

SHORTENED = 79
RESAMPLES = 2000
SEED = 3
Words = tuple[list[str], list[str]]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--split", default="val,test")
    parser.add_argument("--measured", type=int, default=100)
    add_record_option(parser, "quotes")
    options = parser.parse_args()
    with Watch() as watch:
        splits = options.split.split(",")
        pairs = [pair for pair in read(options.pairs) if pair["split"] in splits]
        rows = [
            row("boxes of the truth", at_truth(options.pairs, pairs)),
            row("boxes of the measured answer", at_measured(options.pairs, pairs[: options.measured])),
        ]
        for own in rows:
            print(json.dumps(own))
    if options.record:
        write_result(options.record, "rows", {"rows": rows}, watch=watch, seeds={"resamples": SEED})


def read(folder: Path) -> Iterator[dict[str, Any]]:
    """The pairs with a rewritten text whose words the truth knows."""
    for line in (folder / "pairs.jsonl").read_text(encoding="utf-8").splitlines():
        pair = json.loads(line)
        if texts(pair):
            yield pair


def texts(pair: dict[str, Any]) -> list[dict[str, Any]]:
    """The rewritten texts of a pair."""
    return [
        change
        for change in pair["changes"]
        if change["kind"] == "rewritten"
        and change["box_before"]
        and change["box_after"]
        and all(
            0 < len(change["values"].get(f"text_{side}") or "") < SHORTENED for side in ("before", "after")
        )
    ]


def at_truth(folder: Path, pairs: list[dict[str, Any]]) -> Iterator[tuple[str, bool | None, float]]:
    """Document, whether the quote was right (None: there is none) and seconds, for each text."""
    for pair in pairs:
        before, after = (read_picture(folder / pair[side]).on_white for side in ("before", "after"))
        for change in texts(pair):
            boxes = change["boxes"][0] if change["boxes"] else (change["box_before"], change["box_after"])
            began = time.process_time()
            was, now = map(tuple, boxes)
            one = Statement("rewritten", was, now, "", 1.0, values={"aspect": "text"}, boxes=(now,))
            found = quotes_of(named([one], before, after)[0])
            seconds = time.process_time() - began
            yield pair["document"], None if found is None else is_right(found, [change]), seconds


def at_measured(folder: Path, pairs: list[dict[str, Any]]) -> Iterator[tuple[str, bool | None, float]]:
    """The same for each statement of the measured answer that a text was rewritten; seconds of the whole."""
    answerer = Answerer(read_text=True)
    for pair in pairs:
        began = time.process_time()
        answer = answerer.answer(folder / pair["before"], folder / pair["after"])
        seconds = time.process_time() - began
        for statement in answer.changes:
            if statement.kind == "rewritten":
                found = quotes_of(statement)
                yield pair["document"], None if found is None else is_right(found, texts(pair)), seconds


def quotes_of(statement: Statement) -> Quotes | None:
    """The words that a statement quotes of a text that was rewritten."""
    values = statement.values
    return Quotes(values["text_before"], values["text_after"]) if "text_before" in values else None


def is_right(found: Quotes, changes: list[dict[str, Any]]) -> bool:
    """Whether the words that differ are those of one of the changes."""
    said = differing(found.before, found.after)
    return any(
        said == differing(change["values"]["text_before"], change["values"]["text_after"])
        for change in changes
    )


def differing(before: str, after: str) -> Words:
    """The words between those that both begin and end with."""
    one, other = before.casefold().split(), after.casefold().split()
    while one and other and one[0] == other[0]:
        one, other = one[1:], other[1:]
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    return one, other


def row(name: str, found: Iterator[tuple[str, bool | None, float]]) -> dict[str, Any]:
    """Counts, the share of right ones among the quoted with its interval by documents, and the time.

    The share is None where nothing was quoted, the time where nothing was read.
    """
    read = list(found)
    by_document: dict[str, list[bool]] = {}
    for document, right, _ in read:
        if right is not None:
            by_document.setdefault(document, []).append(right)
    quoted = [right for own in by_document.values() for right in own]
    precision = low = high = None
    if quoted:
        rng = np.random.default_rng(SEED)
        sums = np.array([(sum(own), len(own)) for own in by_document.values()], float)
        drawn = sums[rng.integers(len(sums), size=(RESAMPLES, len(sums)))].sum(axis=1)
        precision = sum(quoted) / len(quoted)
        low, high = (float(end) for end in np.quantile(drawn[:, 0] / drawn[:, 1], [0.025, 0.975]))
    return {
        "texts": name,
        "count": len(read),
        "quoted": len(quoted),
        "right": sum(quoted),
        "precision": precision,
        "low": low,
        "high": high,
        "median seconds": float(np.median([seconds for *_, seconds in read])) if read else None,
    }


if __name__ == "__main__":
    main()
