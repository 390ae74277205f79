"""Typed access to JSON that a stranger wrote."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whatchanged.errors import BundleError, escaped_lines

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
        """Return a text without control characters: a terminal would act on them."""
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
