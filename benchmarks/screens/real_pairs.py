"""Scores answers on real pairs with full labels: kind, position, sentences and verdict.

    python -m benchmarks.screens.real_pairs $UI_TRAIN [--split validation] [--named] [--ids ID,ID] [--print]

$UI_TRAIN holds ``pairs.jsonl`` and ``images/``. Without --named, elements are named only by their position;
with it, also by the text that is read in them. Pairs whose label is uncertain are left out. --cache keeps
answers together with a hash of the source files, so that each state of the code answers once.

main kind       the first statement's kind is that of the label's first change
any kind        it is that of any listed change
pointing        the centre of its box lies in a label's: after with after, before with before
IoU             its box and a label's have an intersection over union of at least one half
kind, pointing  main kind and pointing
something       answers that say "something"
told            pairs with several changes whose sentence has a second statement
own             second statements in sentences that point to a change to which the first does not

If a label counts similar elements, all boxes of a statement are merged.
"""

import argparse
import hashlib
import json
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import whatchanged
from benchmarks.screens.boxes import points_into
from benchmarks.screens.real import auroc
from whatchanged.answers import MEASURED, Answer, Answerer
from whatchanged.answers.by_measurement import of_measured
from whatchanged.measured import Box, Statement, measure
from whatchanged.measured.pixels.boxes import iou, union

Record = dict[str, Any]
"""A labelled pair, or what was said of one, as JSON has it."""

ENDS = ("box_before", "box_after")


def sources_digest(named: bool) -> str:
    """A name for the source files that answer, and for whether words are read."""
    digest = hashlib.sha256(str(named).encode())
    root = Path(whatchanged.__file__).parent
    for path in sorted(root.rglob("*")):
        if path.is_file() and path.suffix in (".py", ".json", ".onnx", ".toml"):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def read_labels(folder: Path, split: str, ids: Sequence[str] = ()) -> list[Record]:
    """The pairs of a split, or those of these ids, whose label is certain."""
    lines = (folder / "pairs.jsonl").read_text(encoding="utf-8").splitlines()
    pairs = [pair for pair in map(json.loads, lines) if pair["visible_change"] != "uncertain"]
    return [pair for pair in pairs if (pair["id"] in ids if ids else split in ("all", pair["split"]))]


def answered(folder: Path, pairs: Sequence[Record], named: bool, cache: Path) -> Iterator[Record]:
    """What is said of each pair, taken from the cache where this state of the sources has said it before.

    named: things are named by the words in and beside them, where these can be read.
    """
    kept = cache / f"{sources_digest(named)}.jsonl"
    cache.mkdir(parents=True, exist_ok=True)
    lines = kept.read_text(encoding="utf-8").splitlines() if kept.exists() else []
    known = {record["id"]: record for record in map(json.loads, lines)}
    answerer = Answerer(MEASURED) if named else None
    with kept.open("a", encoding="utf-8") as file:
        for pair in pairs:
            if pair["id"] not in known:
                known[pair["id"]] = _ask(folder, pair, answerer)
                file.write(json.dumps(known[pair["id"]]) + "\n")
            yield known[pair["id"]]


def _ask(folder: Path, pair: Record, answerer: Answerer | None) -> Record:
    """What is said of one pair."""
    before, after = (folder / pair[end] for end in ("before", "after"))
    start = time.process_time()
    answer = of_measured(measure(before, after)) if answerer is None else answerer.answer(before, after)
    return _record(pair["id"], answer, time.process_time() - start)


def _record(pair_id: str, answer: Answer, seconds: float) -> Record:
    statements = [
        {**one.as_json(), "boxes": one.boxes, "follows": one.follows, "in sentence": _is_in(answer, one)}
        for one in answer.changes
    ]
    return {
        "id": pair_id,
        "sentence": answer.sentence,
        "verdict": answer.verdict,
        "no_change": answer.no_change,
        "answer": answer.answer,
        "statements": json.loads(json.dumps(statements)),
        "seconds": seconds,
    }


def _is_in(answer: Answer, statement: Statement) -> bool:
    """Whether the sentence of an answer contains a statement; the new size of a picture is no statement."""
    return statement.sentence[1:-1] in answer.sentence and statement.values.get("aspect") != "canvas"


def places(statement: Record, change: Record) -> list[tuple[Box, Box]]:
    """A statement's box beside a change's, in each picture that both have one in."""
    several = len(statement["boxes"]) > 1 and change.get("count", 1) > 1
    results = []
    for end in ENDS:
        if statement[end] and change[end]:
            shown = end == "box_after" or not statement["box_after"]
            told = union(statement["boxes"]) if several and shown else tuple(statement[end])
            results.append((told, tuple(change[end])))
    return results


def points_to(statement: Record, change: Record) -> bool:
    """Whether the centre of a statement's box lies in the change's."""
    return any(points_into(told, box) for told, box in places(statement, change))


def overlap(statement: Record, change: Record) -> float:
    """The larger intersection over union of both pictures."""
    return max((iou(told, box) for told, box in places(statement, change)), default=0.0)


def own_changes(statements: Sequence[Record], changes: Sequence[Record]) -> list[bool]:
    """Whether each statement points to a change to which none before it points.

    Of several such changes a statement takes one of its kind, then the one that it overlaps most.
    """
    left = list(changes)
    results = []
    for statement in statements:
        there = [change for change in left if points_to(statement, change)]
        results.append(bool(there))
        if there:
            left.remove(
                max(there, key=lambda one: (one["kind"] == statement["kind"], overlap(statement, one)))
            )
    return results


def has_second(said: Record) -> bool:
    """Whether a sentence has a second statement beside the first one."""
    return len(said["statements"]) > 1 and all(one["in sentence"] for one in said["statements"][:2])


def grades(pair: Record, said: Record) -> dict[str, bool]:
    """What of the first statement about a changed pair is right."""
    changes = pair["changes"]
    first = said["statements"][0] if said["statements"] else None
    kind = first is not None and first["kind"] == changes[0]["kind"]
    pointing = first is not None and any(points_to(first, change) for change in changes)
    return {
        "main kind": kind,
        "any kind": first is not None and any(first["kind"] == change["kind"] for change in changes),
        "pointing": pointing,
        "IoU": first is not None and any(overlap(first, change) >= 0.5 for change in changes),
        "kind, pointing": kind and pointing,
        "something": "something" in said["sentence"].lower(),
    }


def figures_of(pairs: Sequence[Record], said: Sequence[Record]) -> dict[str, Any]:
    """All figures, shares in percent."""
    changed = np.array([pair["visible_change"] == "yes" for pair in pairs])
    scores = np.array([1 - one["no_change"] for one in said])
    told = np.array([one["verdict"] == "changed" for one in said])
    shown = [(pair, one) for pair, one in zip(pairs, said, strict=True) if pair["visible_change"] == "yes"]
    graded = [grades(pair, one) for pair, one in shown]
    seconds = [(pair, one) for pair, one in shown if has_second(one)]
    own = [own_changes(one["statements"][:2], pair["changes"])[1] for pair, one in seconds]
    several = [one for pair, one in shown if len(pair["changes"]) > 1]
    return {
        "pairs": f"{int(changed.sum())} + {int((~changed).sum())}",
        "AUROC": round(auroc(scores, changed), 4),
        "change": _percent(told[changed]),
        "no change": _percent(~told[~changed]),
        **{name: _percent([row[name] for row in graded]) for name in (graded[0] if graded else ())},
        "told": _percent([has_second(one) for one in several]),
        "own": f"{_percent(own)} of {len(own)}",
        "seconds": round(sum(one["seconds"] for one in said), 1),
    }


def _percent(values: Any) -> float:
    return round(100 * float(np.mean(values)), 1) if len(values) else float("nan")


def _print_pair(pair: Record, said: Record) -> None:
    """Labels and statements of one pair, one below the other."""
    row = grades(pair, said) if pair["visible_change"] == "yes" else {}
    wrong = [name for name, value in row.items() if value == (name == "something")]
    sizes = f"{pair['size_before']} -> {pair['size_after']}"
    print(f"\n{pair['id']}  {sizes}  wrong: {', '.join(wrong) or 'nothing'}")
    for change in pair["changes"]:
        count = f" x{change['count']}" if "count" in change else ""
        pushed = f"; pushed: {change['pushed']}" if "pushed" in change else ""
        what = f"{change['kind']} {change['element']}{count} ({change['aspect']}): {change['detail']}{pushed}"
        print(f"  label {what}  {change['box_before']} -> {change['box_after']}")
    print(f"  own words: {(pair['sentences'] or ['-'])[0]}")
    print(f"  told by {said['answer']}: {said['sentence']}")
    for one in said["statements"][:5]:
        follows = " follows" if one["follows"] else ""
        where = f"{one['box_before']} -> {one['box_after']} x{len(one['boxes'])}"
        print(f"    {one['kind']}{follows} {one['values']} {where}")


def main() -> None:
    """Prints the figures; pair by pair too, where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--split", default="validation", choices=("train", "validation", "all"))
    parser.add_argument("--named", action="store_true", help="read the names of things")
    parser.add_argument("--ids", default="", help="these pairs alone, separated by commas")
    parser.add_argument("--print", action="store_true", help="show labels and sentences of each pair")
    parser.add_argument("--kinds", action="store_true", help="count main kinds beside those told")
    parser.add_argument("--repos", action="store_true", help="figures of each repository too")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "real_pairs")
    options = parser.parse_args()
    pairs = read_labels(options.folder, options.split, [name for name in options.ids.split(",") if name])
    said = list(answered(options.folder, pairs, options.named, options.cache))
    if options.print:
        for pair, one in zip(pairs, said, strict=True):
            _print_pair(pair, one)
    if options.kinds:
        counts = Counter(
            (pair["changes"][0]["kind"], one["statements"][0]["kind"] if one["statements"] else None)
            for pair, one in zip(pairs, said, strict=True)
            if pair["visible_change"] == "yes"
        )
        for (label, told), count in sorted(counts.items(), key=lambda item: -item[1]):
            print(f"{count:4} {label} told as {told}")
    if options.repos:
        for repo in sorted({pair["repo"] for pair in pairs}):
            rows = [k for k, pair in enumerate(pairs) if pair["repo"] == repo]
            print(repo, json.dumps(figures_of([pairs[k] for k in rows], [said[k] for k in rows])))
    print(json.dumps(figures_of(pairs, said), indent=1))


if __name__ == "__main__":
    main()
