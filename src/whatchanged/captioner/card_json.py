"""Read and write a model's card as JSON, the content of ``bundle.json``; every format since the first can be
read.

Format 2 declares ``input`` and ``attention``. Format 1 knew only whole pictures and grids: ``image_size``,
``mean``, ``std`` and ``grid``. Cards are always written in format 2.

A key of the file keeps its first name, so that other programs can still read these files:

    familiar      the in-distribution threshold, ``Card.in_distribution``
"""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from whatchanged.bpe import from_merges, to_json
from whatchanged.captioner.card import (
    Card,
    FeatureInput,
    GridAttention,
    InDistribution,
    Input,
    NoChange,
    PictureInput,
)
from whatchanged.captioner.colors import NAMES
from whatchanged.errors import REGIONS_ARE_GONE, BundleError, escaped_lines
from whatchanged.images import MAX_PIXELS
from whatchanged.vocabulary import SPECIALS, Vocabulary

FORMAT = 2
"""The format that is written."""
FORMATS = (1, FORMAT)
"""The formats that can be read."""

REGION_INPUT = "regions"
"""The kind of input of models that only an earlier version can read."""
MOST_SENTENCES = 1000
"""Limit on the no-change sentences of one card: each runs through the decoder for each pair."""
LONGEST_SENTENCE = 1000
"""The largest number of characters of a no-change sentence."""

SPECIAL_IDS = {name.strip("<>").lower(): i for i, name in enumerate(SPECIALS)}

Fields = Mapping[str, Any]


@dataclass(frozen=True)
class CardReader:
    """Reads values of a model's card. Errors name the file, the key, the expected and the actual value."""

    path: Path
    inside: str = ""
    """The prefix of keys in messages: "input." for the keys of ``input``."""

    def wrong(self, key: str, wanted: str, got: Any) -> BundleError:
        """Return the error for a wrong value."""
        shown = repr(got)
        if len(shown) > 60:
            shown = shown[:57] + "..."
        return BundleError(
            f"{self.path}: {self.inside}{key} should be {wanted}, it is {shown}. Export the model again."
        )

    def mapping(self, value: Any, key: str) -> dict[str, Any]:
        """Return an object."""
        if not isinstance(value, dict):
            raise self.wrong(key, "an object", value)
        return value

    def object(self, values: Fields, key: str) -> tuple["CardReader", dict[str, Any]]:
        """Return the object at a key, and a reader for its keys."""
        return CardReader(self.path, f"{self.inside}{key}."), self.mapping(values.get(key), key)

    def text(self, values: Fields, key: str) -> str:
        """Return a text without control characters, because a terminal would obey control characters."""
        found = values.get(key)
        if not isinstance(found, str) or found != escaped_lines(found):
            raise self.wrong(key, "a text, without control characters", found)
        return found

    def texts(self, values: Fields, key: str) -> tuple[str, ...]:
        """Return a list of texts without control characters."""
        found = values.get(key)
        if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
            raise self.wrong(key, "a list of texts", found)
        if any(item != escaped_lines(item) for item in found):
            raise self.wrong(key, "a list of texts without control characters", found)
        return tuple(found)

    def flag(self, values: Fields, key: str) -> bool:
        """Return true or false; false where the key is missing."""
        found = values.get(key, False)
        if not isinstance(found, bool):
            raise self.wrong(key, "true or false", found)
        return found

    def number(self, values: Fields, key: str) -> float:
        """Return a finite number."""
        return self._number(values.get(key), key)

    def numbers(self, values: Fields, key: str, length: int) -> tuple[float, ...]:
        """Return a list of finite numbers."""
        found = values.get(key)
        if not isinstance(found, Sequence) or len(found) != length:
            raise self.wrong(key, f"{length} numbers", found)
        return tuple(self._number(item, key) for item in found)

    def count(self, values: Fields, key: str, most: int) -> int:
        """Return a whole number from 1 to ``most``."""
        return self._count(values.get(key), key, most)

    def share(self, values: Fields, key: str) -> float:
        """Return a number from 0 to 1."""
        found = self._number(values.get(key), key)
        if not 0 <= found <= 1:
            raise self.wrong(key, "a number from 0 to 1", found)
        return found

    def size(self, values: Fields, key: str) -> tuple[int, int]:
        """Return two whole numbers from 1 to 10,000."""
        found = values.get(key)
        if not isinstance(found, list) or len(found) != 2:
            raise self.wrong(key, "two whole numbers", found)
        return self._count(found[0], key, 10_000), self._count(found[1], key, 10_000)

    def _number(self, value: Any, key: str) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not _is_finite(value):
            raise self.wrong(key, "a number", value)
        return float(value)

    def _count(self, value: Any, key: str, most: int) -> int:
        if type(value) is not int or not 1 <= value <= most:
            raise self.wrong(key, f"a whole number from 1 to {most}", value)
        return value


def _is_finite(value: int | float) -> bool:
    """Return whether a float can hold the number: JSON's whole numbers may have hundreds of digits."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def card_to_json(card: Card) -> dict[str, Any]:
    """Return the card as the fields of ``bundle.json``, except the list of files."""
    no_change = card.no_change
    fields: dict[str, Any] = {
        "format": FORMAT,
        "name": card.name,
        "version": card.version,
        "method": card.method,
        "preset": card.preset,
        "world": card.world,
        "input": declaration_to_json(card.input),
        "attention": declaration_to_json(card.attention),
        "vocabulary": to_json(card.vocabulary),
        "special_ids": SPECIAL_IDS,
        "max_length": card.max_length,
        "no_change": {
            "by": no_change.by,
            "threshold": no_change.threshold,
            "calibration": {"scale": no_change.scale, "shift": no_change.shift},
            "how": no_change.how,
            "sentences": list(no_change.sentences),
        },
        "folded_norms": card.folded_norms,
        "provenance": dict(card.provenance),
    }
    if card.in_distribution is not None:
        fields["familiar"] = _in_distribution_to_json(card.in_distribution)
    return fields


def _in_distribution_to_json(known: InDistribution) -> dict[str, Any]:
    fields: dict[str, Any] = {"threshold": known.threshold, "how": known.how}
    if known.colors:
        fields["colours"] = {name: list(limits) for name, limits in known.colors.items()}
    return fields


def declaration_to_json(declared: Input | GridAttention) -> dict[str, Any]:
    """Return the declaration of a model's input, or of its attention, as JSON with its kind."""
    match declared:
        case PictureInput():
            kind = "pictures"
        case FeatureInput():
            kind = "features"
        case GridAttention():
            kind = "grid"
    return {"kind": kind, **dataclasses.asdict(declared)}


def card_from_json(fields: Any, path: Path) -> Card:
    """Make the card from the fields of ``bundle.json``. Raises BundleError, which names ``path`` and the
    wrong key.
    """
    reader = CardReader(path)
    values = reader.mapping(fields, "the whole file")
    reads = values.get("input")
    if isinstance(reads, dict) and reads.get("kind") == REGION_INPUT:
        raise BundleError(f"{path}: {REGIONS_ARE_GONE}")
    found = values.get("format")
    if type(found) is not int or found not in FORMATS:
        raise BundleError(
            f"{path}: the bundle's format is {found!r}; this version reads the formats "
            f"{' and '.join(map(str, FORMATS))}. Update whatchanged, or export the model again."
        )
    return Card(
        name=reader.text(values, "name"),
        version=reader.text(values, "version"),
        method=reader.text(values, "method"),
        preset=reader.text(values, "preset"),
        world=reader.text(values, "world"),
        input=_pictures(reader, values, "image_size") if found == 1 else _input(reader, values),
        attention=_grid_of_format_1(reader, values) if found == 1 else _attention(reader, values),
        no_change=_no_change(reader, values),
        provenance=reader.mapping(values.get("provenance"), "provenance"),
        in_distribution=_in_distribution(reader, values),
        vocabulary=_vocabulary(reader, values),
        max_length=reader.count(values, "max_length", 1000),
        folded_norms=reader.flag(values, "folded_norms"),
    )


def _input(reader: CardReader, values: Fields) -> Input:
    inside, declared = reader.object(values, "input")
    kind = declared.get("kind")
    if kind == "pictures":
        return _pictures(inside, declared, "size")
    if kind == "features":
        return FeatureInput(
            rows=inside.count(declared, "rows", 10_000),
            columns=inside.count(declared, "columns", 10_000),
            width=inside.count(declared, "width", 1_000_000),
            made_by=inside.text(declared, "made_by"),
        )
    raise _unknown_kind(inside, kind)


def _unknown_kind(reader: CardReader, kind: Any) -> BundleError:
    return BundleError(
        f"{reader.path}: {reader.inside}kind is {kind!r}, which this version of whatchanged does not know. "
        "Update whatchanged, or export the model again."
    )


def _pictures(reader: CardReader, values: Fields, size: str) -> PictureInput:
    """Read the input of whole pictures, their size under the key ``size``."""
    width, height = reader.size(values, size)
    if width * height > MAX_PIXELS:
        raise reader.wrong(size, f"a size of at most {MAX_PIXELS:,} pixels", [width, height])
    return PictureInput(
        size=(width, height), mean=reader.numbers(values, "mean", 3), std=_std(reader, values)
    )


def _std(reader: CardReader, values: Fields) -> tuple[float, ...]:
    std = reader.numbers(values, "std", 3)
    if min(std) <= 0:
        raise reader.wrong("std", "three numbers above 0", std)
    return std


def _attention(reader: CardReader, values: Fields) -> GridAttention:
    inside, declared = reader.object(values, "attention")
    kind = declared.get("kind")
    if kind == "grid":
        return GridAttention(
            inside.count(declared, "rows", 10_000), inside.count(declared, "columns", 10_000)
        )
    raise _unknown_kind(inside, kind)


def _grid_of_format_1(reader: CardReader, values: Fields) -> GridAttention:
    rows, columns = reader.size(values, "grid")
    return GridAttention(rows, columns)


def _no_change(reader: CardReader, values: Fields) -> NoChange:
    inside, fields = reader.object(values, "no_change")
    calibration, numbers = inside.object(fields, "calibration")
    return NoChange(
        threshold=inside.share(fields, "threshold"),
        scale=calibration.number(numbers, "scale"),
        shift=calibration.number(numbers, "shift"),
        how=inside.text(fields, "how"),
        sentences=_sentences(inside, fields),
        by=_judged_by(inside, fields),
    )


def _sentences(reader: CardReader, fields: Fields) -> tuple[str, ...]:
    """Read the no-change sentences. A repeated sentence would count twice, so all must differ."""
    results = reader.texts(fields, "sentences")
    if len(results) > MOST_SENTENCES or len(set(results)) < len(results):
        raise reader.wrong("sentences", f"at most {MOST_SENTENCES:,} texts, all different", results)
    if any(len(sentence) > LONGEST_SENTENCE for sentence in results):
        raise reader.wrong("sentences", f"texts of at most {LONGEST_SENTENCE:,} characters each", results)
    return results


def _judged_by(reader: CardReader, fields: Fields) -> Literal["head", "sentences"]:
    """Read the source of the no-change probability. The first cards do not record it: it is a head."""
    match fields.get("by", "head"):
        case "head":
            return "head"
        case "sentences":
            return "sentences"
        case found:
            raise reader.wrong("by", '"head" or "sentences"', found)


def _in_distribution(reader: CardReader, values: Fields) -> InDistribution | None:
    if "familiar" not in values:
        return None
    inside, fields = reader.object(values, "familiar")
    threshold = _above_0(inside, fields, "threshold")
    return InDistribution(threshold, inside.text(fields, "how"), _colors(inside, fields))


def _colors(reader: CardReader, fields: Fields) -> dict[str, tuple[float, float]]:
    """Read the ranges of the colour statistics; {} in cards without them, such as those before 0.2."""
    if "colours" not in fields:
        return {}
    inside, ranges = reader.object(fields, "colours")
    results = {}
    for name in ranges:
        if name not in NAMES:
            raise reader.wrong("colours", f"ranges of {', '.join(NAMES)}", name)
        low, high = inside.numbers(ranges, name, 2)
        if low >= high:
            raise inside.wrong(name, "two numbers, the smaller one first", ranges[name])
        results[name] = (low, high)
    return results


def _above_0(reader: CardReader, fields: Fields, key: str) -> float:
    found = reader.number(fields, key)
    if found <= 0:
        raise reader.wrong(key, "a number above 0", found)
    return found


def _vocabulary(reader: CardReader, values: Fields) -> Vocabulary:
    """Read the words, or the merges of a byte-pair encoding."""
    if values.get("special_ids") != SPECIAL_IDS:
        raise reader.wrong("special_ids", str(SPECIAL_IDS), values.get("special_ids"))
    found = values.get("vocabulary")
    try:
        if isinstance(found, dict):
            return from_merges(CardReader(reader.path, "vocabulary.").texts(found, "merges"))
        return Vocabulary(reader.texts(values, "vocabulary"))
    except ValueError as error:
        raise BundleError(f"{reader.path}: vocabulary: {error}. Export the model again.") from error
