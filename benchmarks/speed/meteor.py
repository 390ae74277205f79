"""Compares METEOR in Python with the original Java program: equal statistics, and times.

    python -m benchmarks.speed.meteor ANNOTATIONS [--random 100000] [--record]

This needs the extra ``eval``. ANNOTATIONS is a folder with the annotation files of public data sets, one
folder per data set. Each row of 23 statistics is compared with that of the Java program, for

- every reference against every other one of its pair, for each data set;
- captions of random words and of real sentences shuffled, cut and mixed, against random references;
- the corpus of ``corpus.py``, 7,970 pairs with 6 references. It is timed, including the start of both
  programs.
"""

import argparse
import json
import os
import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.record import Watch, add_record_option, own_seconds, write_result
from benchmarks.speed import corpus
from whatchanged.evaluation.metrics import caption_metrics, meteor
from whatchanged.evaluation.metrics.meteor import program

SEED = 11
CHUNK = 50_000
Pairs = tuple[list[str], list[list[str]]]
"""Captions, and the references of each."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("annotations", type=Path)
    parser.add_argument("--random", type=int, default=100_000)
    parser.add_argument("--corpus", type=Path, help="what corpus.py wrote; made anew without it")
    add_record_option(parser, "meteor")
    options = parser.parse_args()
    with Watch() as watch:
        sets = {name: list(read(options.annotations / name)) for name, read in SETS.items()}
        parts = {name: each_against_each(groups) for name, groups in sets.items()}
        real = sorted({text for groups in sets.values() for own in groups for text in own})
        parts["random captions"] = random_pairs(options.random, real)
        rows = [compare(name, pairs) for name, pairs in parts.items()]
        made = corpus.read(options.corpus) if options.corpus else corpus.make()
        pairs = caption_metrics.tokenise(made.candidates, made.references, "ptb")
        rows.append(compare("drawn CLEVR corpus", (list(pairs[0]), [list(own) for own in pairs[1]])))
    if options.record:
        write_result(options.record, "rows", {"rows": rows}, watch=watch, seeds={"random captions": SEED})


def compare(name: str, pairs: Pairs) -> dict[str, Any]:
    """How many captions get other statistics from ours than from the program, and both sides' seconds."""
    different = 0
    clocks = {"ours": [0.0, 0.0], "program": [0.0, 0.0]}
    captions, references = pairs
    for at in range(0, len(captions), CHUNK):
        own = captions[at : at + CHUNK], references[at : at + CHUNK]
        found = _timed(clocks["ours"], meteor.statistics, own)
        wanted = _timed(clocks["program"], program.statistics, own)
        unequal = np.flatnonzero((found != wanted).any(axis=1))
        different += len(unequal)
        for i in unequal[:3]:
            print(f"  {own[0][i]!r} against {own[1][i]!r}:\n  {found[i]}\n  {wanted[i]}")
    row: dict[str, Any] = {"captions": name, "pairs": len(captions), "different": different}
    for side, (wall, processor) in clocks.items():
        row |= {f"{side}, wall": wall, f"{side}, processor": processor}
    for kind in ("wall", "processor"):
        row[f"ratio, {kind}"] = row[f"program, {kind}"] / row[f"ours, {kind}"]
    print(json.dumps(row), f"load {os.getloadavg()[0]:.1f}", flush=True)
    return row


def each_against_each(groups: Sequence[Sequence[str]]) -> Pairs:
    """Every sentence against every other one of its pair, as a single reference, equal cases once."""
    cases = {
        (one, other): None
        for own in groups
        for i, one in enumerate(own)
        for j, other in enumerate(own)
        if i != j
    }
    return [one for one, _ in cases], [[other] for _, other in cases]


def random_pairs(count: int, real: Sequence[str]) -> Pairs:
    """Captions that nobody wrote, each with one to three references."""
    draw = random.Random(SEED)
    vocabulary = sorted({word for text in real for word in text.split()})
    marks = [",", ".", "'", '"', "-", "...", "’", "e.g.", "U.S.", "No.", "3.5", "2,000", "é", "赤い", "isn't"]

    def mixed() -> str:
        words = draw.choice(real).split() + draw.choice(real).split()[: draw.randint(0, 8)]
        if draw.random() < 0.5:
            draw.shuffle(words)
        return " ".join(words[: draw.randint(0, 25)])

    def drawn() -> str:
        words = draw.choices(vocabulary, k=draw.randint(0, 15)) + draw.choices(marks, k=draw.randint(0, 2))
        draw.shuffle(words)
        return " ".join(words)

    def near(text: str) -> str:
        words = text.split() or ["the"]
        for _ in range(draw.randint(1, 4)):
            words[draw.randrange(len(words))] = draw.choice(vocabulary)
        return " ".join(draw.sample(words, len(words)) if draw.random() < 0.3 else words)

    captions = [draw.choice((mixed, drawn))() for _ in range(count)]
    references = [
        [draw.choice((mixed(), drawn(), near(caption))) for _ in range(draw.randint(1, 3))]
        for caption in captions
    ]
    return captions, references


def _spot_the_diff(folder: Path) -> Iterator[list[str]]:
    for split in ("train", "val", "test"):
        yield from (entry["sentences"] for entry in _json(folder / f"{split}.json"))
    yield from _json(folder / "card_multi" / "change_multi_captions.json").values()


def _image_editing_request(folder: Path) -> Iterator[list[str]]:
    for split in ("train", "valid", "test"):
        yield from (entry["sents"] for entry in _json(folder / f"{split}.json"))


def _birds_to_words(folder: Path) -> Iterator[list[str]]:
    own: dict[tuple[str, str], list[str]] = defaultdict(list)
    for split in ("train", "val", "test"):
        for entry in _lines(folder / "tokenised" / f"{split}.jsonl"):
            described = entry["description"]
            several = described if isinstance(described[0], list) else [described]
            own[entry["img1"], entry["img2"]] += [" ".join(words) for words in several]
    yield from own.values()


def _levir_cc(folder: Path) -> Iterator[list[str]]:
    yield from (entry["captions"] for entry in _lines(folder / "levir_cc_captions.jsonl"))


def _clevr_change(folder: Path) -> Iterator[list[str]]:
    found = _json(folder / "example_captions.json")
    yield [text for texts in found.values() if isinstance(texts, list) for text in texts]


def _clevr_dc(folder: Path) -> Iterator[list[str]]:
    found = _json(folder / "example_captions.json")
    yield [entry["caption"] for entries in found.values() if isinstance(entries, list) for entry in entries]


SETS: dict[str, Callable[[Path], Iterator[list[str]]]] = {
    "spot_the_diff": _spot_the_diff,
    "image_editing_request": _image_editing_request,
    "birds_to_words": _birds_to_words,
    "levir_cc": _levir_cc,
    "clevr_change": _clevr_change,
    "clevr_dc": _clevr_dc,
}
"""A folder of annotations to the sentences of each of its pairs."""


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _timed(clock: list[float], statistics: Callable[..., meteor.Floats], pairs: Pairs) -> meteor.Floats:
    """The statistics; the seconds of the wall clock and of the processor are added to ``clock``."""
    wall, processor = time.perf_counter(), own_seconds()
    found = statistics(*pairs)
    clock[0] += time.perf_counter() - wall
    clock[1] += own_seconds() - processor
    return found


if __name__ == "__main__":
    main()
