"""Spot-the-Diff by the multi-change protocol: all sentences of a pair form one reference, as in CARD.

A pair may have several records with its id. All sentences of these records, including blank sentences, are
joined by ". " in file order. A reference of more than 60 words is truncated to its first 60 words, joined by
blanks. References of the test split are truncated too. The source is the official annotations, or CARD's
renamed files, which contain only these references:

    change_multi_captions.json    {"000235.png": ["the person ... present. the dark grey suv ..."]}
    splits.json                   {"train": [235, ...], ...}
    images/000235.png, sc_images/000235.png

A pair with blank sentences only has an empty reference. Such pairs are left out and counted. The data set
``spot_the_diff_multi_blanks`` includes such pairs, like CARD's file and published scores.
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
    """Return whether the folder contains CARD's files.

    Single sentences cannot be recovered from CARD's files.
    """
    return (root / CARD).is_file()


def read(root: Path, reading: Reading) -> list[PairRecord]:
    """Return one record for each id, with one reference."""
    return _read(root, reading, blanks=False)


def read_blanks(root: Path, reading: Reading) -> list[PairRecord]:
    """Return one record for each id, with one reference.

    Pairs with a reference without words are included.
    """
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
    """Return the reference that CARD makes from the sentences of a pair.

    The sentences are joined by ". " and truncated to 60 words. If all sentences are blank, the result is "".
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
    """Return whether a value is a text with at least one word.

    The result is also True for a value that is not a text, because such a value is reported later.
    """
    return not isinstance(text, str) or bool(text.strip(" ."))
