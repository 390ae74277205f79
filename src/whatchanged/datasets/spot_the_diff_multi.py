"""Spot-the-Diff, multi-change protocol: all sentences of a pair are one reference, as in CARD.

The reference of a pair joins the sentences of all records of its id by ". ", in file order, blank ones
included. A reference of more than 60 words is cut to its first 60, joined by blanks, in the test split too.
The source is the official annotations, or CARD's renamed files, which contain only these references:

    change_multi_captions.json    {"000235.png": ["the person ... present. the dark grey suv ..."]}
    splits.json                   {"train": [235, ...], ...}
    images/000235.png, sc_images/000235.png

Pairs with an empty reference (blank sentences only) are left out and counted; ``spot_the_diff_multi_blanks``
keeps them, as CARD's file and published scores do.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from whatchanged.datasets.clevr_change import read_captions, read_splits, scene_number
from whatchanged.datasets.reading import Reading, with_examples
from whatchanged.datasets.spot_the_diff import Item, make_record, merged_items, note_left_out
from whatchanged.records import PairRecord

CARD = "change_multi_captions.json"
MOST_WORDS = 60


def recognises(root: Path) -> bool:
    """Return whether the folder has CARD's files, from which single sentences cannot be recovered."""
    return (root / CARD).is_file()


def read(root: Path, reading: Reading) -> list[PairRecord]:
    """Return one record for each id, with one reference."""
    return _read(root, reading, blanks=False)


def read_blanks(root: Path, reading: Reading) -> list[PairRecord]:
    """Return the same records, and also the pairs whose one reference has no words."""
    return _read(root, reading, blanks=True)


def _read(root: Path, reading: Reading, blanks: bool) -> list[PairRecord]:
    if (root / CARD).is_file():
        return _read_card(root, reading, blanks)
    items = merged_items(root, reading)
    texts = [multi_text(item.sentences) for item in items]
    if not blanks:
        note_left_out([item for item, text in zip(items, texts, strict=True) if not text], reading)
    return [
        make_record(root, item, (text,), {"records": item.records, "sentences": tuple(item.sentences)})
        for item, text in zip(items, texts, strict=True)
        if text or blanks
    ]


def multi_text(sentences: Sequence[str]) -> str:
    """Return CARD's one reference of a pair: joined by ". ", its first 60 words at most; "" for blank
    sentences only.
    """
    if not any(sentence.strip() for sentence in sentences):
        return ""
    joined = ". ".join(sentences)
    words = joined.split()
    return joined if len(words) <= MOST_WORDS else " ".join(words[:MOST_WORDS])


def _read_card(root: Path, reading: Reading, blanks: bool) -> list[PairRecord]:
    splits = read_splits(root / "splits.json", reading)
    value = reading.json_object(root / CARD)
    empty = {
        key for key, texts in value.items() if isinstance(texts, list) and not any(map(_has_words, texts))
    }
    if empty and not blanks:
        reading.note(with_examples("left out, empty texts (blank sentences only)", sorted(empty)))
    gone = {scene_number(key) for key in empty}
    scenes = {i: split for split, indices in splits.items() for i in indices if i not in gone}
    kept = {key: texts for key, texts in value.items() if key not in empty}
    captions = read_captions(root / CARD, reading, scenes, kept)
    if blanks:
        captions |= {number: ("",) for number in gone if number is not None}
    return [
        make_record(root, Item(split, str(index), f"{index}.png"), captions[index], {})
        for split, indices in splits.items()
        for index in sorted(indices)
        if index in captions
    ]


def _has_words(text: Any) -> bool:
    """Return whether the value is a text with a word, or of another type, which is reported later."""
    return not isinstance(text, str) or bool(text.strip(" ."))
