"""Retrieval between pairs and texts from their similarities: R@1, R@5, R@10, median and mean rank, both ways.

Definitions are CLIP4IDC's (Guo, Wang, Laaksonen, AACL 2022; metrics.py of their code): over texts the median
of an even count is the lower one of the middle two, over pairs their mean. Departure: ties are counted in two
defined ways, named in the result. Their code leaves a text's ties to the order of a sort; for a pair it looks
for the true item's score in the sorted row, so that each tie adds a rank and the denominator grows: block
``authors``.

Intervals are of other queries against the same items: queries are drawn by scene, what they search stays.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whatchanged.errors import PredictionsError
from whatchanged.evaluation.report.documents import read_document
from whatchanged.evaluation.statistics.intervals import with_ends
from whatchanged.evaluation.statistics.resampling import LEVEL, Numbers, intervals
from whatchanged.files import whole
from whatchanged.records import PairRecord

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Matrix = NDArray[np.floating]

CUTS = (1, 5, 10)
BLOCK = 1 << 24
"""Similarities looked at together."""


@dataclass(frozen=True)
class Similarity:
    """A matrix (pairs, texts), the ids of its pairs, and each text with the number of its pair."""

    matrix: Matrix
    pairs: tuple[str, ...]
    texts: tuple[str, ...]
    owner: Ints


@dataclass(frozen=True)
class Ranks:
    """Of each query: how many wrong items beat its best right one, and who shares that one's score."""

    above: Ints
    wrong: Ints
    """Wrong items with the score of the best right one."""
    right: Ints
    """Right items with that score, itself included: at least 1."""

    @property
    def expected(self) -> Floats:
        """The mean rank of the first right item when equals are shuffled: above + 1 + wrong / (right + 1)."""
        return self.above + 1 + self.wrong / (self.right + 1)

    def expected_recall(self, cut: int) -> Floats:
        """The chance that a right item is among the first ``cut`` when equals are shuffled.

            1 - C(wrong, m) / C(wrong + right, m),   m = cut - above, at least 0

        the share of orders whose first m equals hold a right one.
        """
        miss = np.ones(len(self.above))
        for drawn in range(cut):
            asked = self.above + drawn < cut
            left = np.maximum(self.wrong - drawn, 0) / np.maximum(self.wrong + self.right - drawn, 1)
            miss = np.where(asked, miss * left, miss)
        return 1 - miss

    @property
    def places(self) -> Ints:
        """Every place at which the score of a query's best right item stands: above + 1, above + 2, ..."""
        equal = self.wrong + self.right
        within = np.arange(equal.sum()) - np.repeat(np.cumsum(equal) - equal, equal)
        found: Ints = np.repeat(self.above + 1, equal) + within
        return found


def ranks(similarity: Matrix, right: Sequence[Sequence[int]]) -> Ranks:
    """Ranks of each query (row) among the items (columns); ``right[q]``: its right items, at least one."""
    if len(right) != len(similarity) or not all(len(items) for items in right):
        raise PredictionsError("Every query of a retrieval needs at least one right item.")
    counted = np.empty((3, len(similarity)), np.int64)
    step = max(1, BLOCK // max(1, similarity.shape[1]))
    for first in range(0, len(similarity), step):
        block = np.asarray(similarity[first : first + step], np.float64)
        if not np.isfinite(block).all():
            raise PredictionsError("The similarities hold values that are no finite numbers.")
        own = right[first : first + step]
        lengths = [len(items) for items in own]
        row = np.repeat(np.arange(len(own)), lengths)
        scores = block[row, np.concatenate([np.asarray(items, np.int64) for items in own])]
        best = np.maximum.reduceat(scores, np.cumsum([0, *lengths[:-1]]))
        counted[0, first : first + step] = (block > best[:, None]).sum(axis=1)
        equal_right = np.bincount(row, scores == best[row], len(own)).astype(np.int64)
        counted[1, first : first + step] = (block == best[:, None]).sum(axis=1) - equal_right
        counted[2, first : first + step] = equal_right
    return Ranks(*counted)


def lower_median(values: Floats | Ints) -> float:
    """The middle value, or of an even count the lower one of the two."""
    return float(np.sort(values)[(len(values) - 1) // 2])


def summary(found: Ranks, of_texts: bool = False) -> dict[str, Any]:
    """R@k in percent, median and mean rank from 1; ties ``optimistic`` (won) and ``expected`` (shuffled).

    ``of_texts``: the lower median; without, also ``authors``, whose mean is over ``Ranks.places``.
    """
    first = found.above + 1
    median = lower_median if of_texts else np.median
    places = found.places
    authors = {
        **{f"R@{k}": 100 * float((places <= k).mean()) for k in CUTS},
        "MdR": float(median(places)),
        "MnR": float(places.mean()),
    }
    return {
        "queries": len(first),
        "tied": int((found.wrong > 0).sum()),
        "optimistic": {
            **{f"R@{k}": 100 * float((first <= k).mean()) for k in CUTS},
            "MdR": float(median(first)),
            "MnR": float(first.mean()),
        },
        "expected": {
            **{f"R@{k}": 100 * float(found.expected_recall(k).mean()) for k in CUTS},
            "MdR": float(median(found.expected)),
            "MnR": float(found.expected.mean()),
        },
        **({} if of_texts else {"authors": authors}),
    }


def spread(
    found: Ranks, scenes: Sequence[str], resamples: int, seed: int = 0, of_texts: bool = False
) -> dict[str, dict[str, list[float] | None]]:
    """The 95 % interval [low, high] of each number of ``summary`` but those of ``authors``.

    scenes: of each query. None where all queries are of one scene.
    """
    names = (*(f"R@{k}" for k in CUTS), "MdR", "MnR")
    won = _drawn(np.asarray(found.above + 1, np.float64), [found.above < k for k in CUTS], of_texts)
    shuffled = _drawn(found.expected, [found.expected_recall(k) for k in CUTS], of_texts)
    return {
        ties: dict(zip(names, intervals(numbers, scenes, resamples, seed), strict=True))
        for ties, numbers in (("optimistic", won), ("expected", shuffled))
    }


def _drawn(first: Floats, found: Sequence[Floats | NDArray[np.bool_]], of_texts: bool) -> Numbers:
    """R@k, median and mean rank (B, 5) of queries that count so many times each (B, Q)."""
    order = np.argsort(first)
    ordered, columns = first[order], np.column_stack([*(100.0 * each for each in found), first])

    def numbers(times: Floats) -> Floats:
        total = times.sum(axis=1)
        means = times @ columns / total[:, None]
        seen = np.cumsum(times[:, order], axis=1)
        low, high = (
            ordered[(seen <= middle[:, None]).sum(axis=1)] for middle in ((total - 1) // 2, total // 2)
        )
        median = low if of_texts else (low + high) / 2
        return np.column_stack([means[:, :-1], median, means[:, -1]])

    return numbers


def retrieval(
    found: Similarity,
    equal_texts: bool = False,
    scenes: Sequence[str] | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> dict[str, Any]:
    """Both directions.

        text_to_pair    every text asks for its pair
        pair_to_text    every pair asks for its texts; a pair's texts stand as one item, scored by their best

    ``equal_texts``: a pair that has the very same text is right too (the benchmarks' sentences repeat, those
    of "no change" above all); otherwise only the text's own pair is. scenes: of the pairs; with them each
    direction has its ``intervals`` (``spread``).
    """
    pairs = np.arange(len(found.pairs))
    if equal_texts:
        having: dict[str, set[int]] = {}
        for text, owner in zip(found.texts, found.owner, strict=True):
            having.setdefault(text, set()).add(int(owner))
        of_text = [sorted(having[text]) for text in found.texts]
        of_pair: list[set[int]] = [set() for _ in pairs]
        for items, owner in zip(of_text, found.owner, strict=True):
            of_pair[owner].update(items)
        of_pairs = [sorted(items) for items in of_pair]
    else:
        of_text = [[int(owner)] for owner in found.owner]
        of_pairs = [[int(pair)] for pair in pairs]
    order = np.argsort(found.owner, kind="stable")
    starts = np.searchsorted(found.owner[order], pairs)
    grouped = np.concatenate(
        [
            np.maximum.reduceat(found.matrix[i : i + 1][:, order], starts, axis=1)
            for i in range(len(found.pairs))
        ]
    )
    by_text, by_pair = ranks(found.matrix.T, of_text), ranks(grouped, of_pairs)
    blocks = {"text_to_pair": summary(by_text, of_texts=True), "pair_to_text": summary(by_pair)}
    if scenes is not None and resamples:
        of_texts = [scenes[owner] for owner in found.owner]
        blocks["text_to_pair"]["intervals"] = spread(by_text, of_texts, resamples, seed, of_texts=True)
        blocks["pair_to_text"]["intervals"] = spread(by_pair, scenes, resamples, seed)
    return {
        **blocks,
        "pairs": len(found.pairs),
        "texts": len(found.texts),
        "equal_texts_count": equal_texts,
    }


def retrieval_report(
    path: Path, records: Sequence[PairRecord], resamples: int = 1000, seed: int = 0
) -> dict[str, Any]:
    """A file of similarities scored, with both rules for equal texts, beside what it covers.

    Raises PredictionsError where it holds pairs that are not among ``records``, or texts that are not among
    their captions: the numbers would be of another benchmark.
    """
    found = read_similarity(path)
    captions = {record.pair_id: set(record.captions) for record in records}
    unknown = [pair for pair in found.pairs if pair not in captions]
    if unknown:
        raise PredictionsError(
            f"{path}: {len(unknown):,} of its pairs are not in the references (first: {unknown[0]}). Same "
            "data set and --split?"
        )
    owners = (found.pairs[owner] for owner in found.owner)
    foreign = [
        (pair, text) for pair, text in zip(owners, found.texts, strict=True) if text not in captions[pair]
    ]
    if foreign:
        raise PredictionsError(
            f"{path}: {len(foreign):,} of its texts are no references of their pair (first: {foreign[0][0]}, "
            f"{foreign[0][1]!r})."
        )
    scene = {record.pair_id: record.group_id for record in records}
    scenes = [scene[pair] for pair in found.pairs]
    return {
        "own_pair": retrieval(found, False, scenes, resamples, seed),
        "equal_texts": retrieval(found, True, scenes, resamples, seed),
        "not_in_the_matrix": len(captions) - len(found.pairs),
        "sampling": {
            "level": LEVEL,
            "method": "percentile bootstrap of scenes: their queries, among the same items",
            "resamples": resamples,
            "seed": seed,
        },
    }


def table(found: Mapping[str, Any]) -> tuple[str, list[list[str]]]:
    """The results' title and rows, the head first."""
    rows = [["", "queries", "ties", *(f"R@{k}" for k in CUTS), "MdR", "MnR"]]
    for direction in ("text_to_pair", "pair_to_text"):
        block = found[direction]
        for ties in (name for name in ("optimistic", "expected", "authors") if name in block):
            ends = block.get("intervals", {}).get(ties, {})
            numbers = [with_ends(value, ends.get(name)) for name, value in block[ties].items()]
            rows.append([direction.replace("_", " "), f"{block['queries']:,}", ties, *numbers])
    right = "equal texts of other pairs count" if found["equal_texts_count"] else "only the own pair counts"
    return f"Retrieval ({found['pairs']:,} pairs, {found['texts']:,} texts; {right})", rows


def write_similarity(path: Path, found: Similarity) -> None:
    """``path`` and the names beside it, as ``read_similarity`` reads them; the matrix comes last."""
    texts = [[found.pairs[owner], text] for text, owner in zip(found.texts, found.owner, strict=True)]
    names = json.dumps({"pairs": found.pairs, "texts": texts}, ensure_ascii=False)
    with whole(path.with_suffix(".json")) as draft:
        draft.write_text(names, encoding="utf-8")
    with whole(path) as draft, draft.open("wb") as file:
        np.save(file, found.matrix)


def read_similarity(path: str | Path) -> Similarity:
    """``NAME.npy``, real numbers (pairs, texts), and ``NAME.json`` beside it:

        {"pairs": ["000000.png", ...], "texts": [["000000.png", "the cube moved"], ...]}

    rows and columns in their order. Raises PredictionsError where they do not fit, where an id occurs twice,
    or where a pair has no text or a text no pair.
    """
    path = Path(path)
    beside = path.with_suffix(".json")
    try:
        matrix = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise PredictionsError(f"{path}: no NumPy array of plain numbers ({error}).") from error
    ids = read_document(beside).whole
    pairs, texts = (ids.get("pairs"), ids.get("texts")) if isinstance(ids, dict) else (None, None)
    if (
        not isinstance(pairs, list)
        or not all(isinstance(pair, str) for pair in pairs)
        or not isinstance(texts, list)
        or not all(isinstance(t, list) and len(t) == 2 and all(isinstance(s, str) for s in t) for t in texts)
    ):
        raise PredictionsError(f'{beside}: {{"pairs": [id, ..], "texts": [[id, text], ..]}} is wanted.')
    if not isinstance(matrix, np.ndarray) or matrix.ndim != 2 or matrix.dtype.kind != "f":
        raise PredictionsError(f"{path}: a matrix of real numbers (pairs, texts) is wanted.")
    if matrix.shape != (len(pairs), len(texts)):
        raise PredictionsError(
            f"{path}: its shape is {matrix.shape}; {beside.name} names {len(pairs):,} pairs and "
            f"{len(texts):,} texts."
        )
    number = {pair: i for i, pair in enumerate(pairs)}
    stray = [pair for pair, _ in texts if pair not in number]
    bare = sorted(set(pairs) - {pair for pair, _ in texts})
    for wrong, why in (
        (stray, "texts belong to no pair of the matrix"),
        (bare, "pairs have no text"),
        (pairs[len(number) :], "pairs are named twice"),
    ):
        if wrong:
            raise PredictionsError(f"{beside}: {len(wrong):,} {why} (such as {wrong[0]}).")
    if not pairs:
        raise PredictionsError(f"{beside}: it names no pairs.")
    owner = np.array([number[pair] for pair, _ in texts], np.int64)
    return Similarity(matrix, tuple(pairs), tuple(text for _, text in texts), owner)
