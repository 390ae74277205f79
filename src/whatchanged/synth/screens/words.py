"""Texts for drawn screens: words of several languages and scripts, numbers, dates, amounts."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

Rng = np.random.Generator


@dataclass(frozen=True)
class Language:
    """A language: its words, whether it is written from right to left, and what stands between words."""

    words: tuple[str, ...]
    rtl: bool = False
    gap: str = " "


def _read() -> dict[str, Language]:
    with (Path(__file__).parent / "words.toml").open("rb") as file:
        found = tomllib.load(file)
    return {
        name: Language(tuple(table["words"].split()), table.get("rtl", False), table.get("gap", " "))
        for name, table in found.items()
    }


LANGUAGES: Mapping[str, Language] = _read()
"""Languages by their two letters, of ``words.toml``."""

COMMON = 0.72
"""Share of the documents that are in English."""
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


class RandomTexts:
    """Random texts in one language."""

    def __init__(self, rng: Rng, language: str) -> None:
        self.rng = rng
        self.name = language
        self.language = LANGUAGES[language]

    def word(self) -> str:
        """One word."""
        return str(self.language.words[int(self.rng.integers(len(self.language.words)))])

    def words(self, least: int, most: int) -> str:
        """Some words, the first with a capital letter where the script has any."""
        count = int(self.rng.integers(least, most + 1))
        text = self.language.gap.join(self.word() for _ in range(count))
        return text[:1].upper() + text[1:]

    def number(self) -> str:
        """A number as screens show it: an amount, a share, a time, a date."""
        value = int(self.rng.integers(1, 10 ** int(self.rng.integers(1, 6))))
        day, month = 1 + value % 28, MONTHS[value % 12]
        shapes = (
            f"{value}",
            f"{value:,}",
            f"${value / 100:.2f}",
            f"{value % 100}%",
            f"{value % 24:02d}:{value % 60:02d}",
            f"{day} {month} 20{value % 30:02d}",
            f"{value / 10:.1f}",
            f"-{value}",
        )
        return shapes[int(self.rng.integers(len(shapes)))]


def random_language(rng: Rng) -> str:
    """A language, English most often."""
    if rng.random() < COMMON:
        return "en"
    names = [name for name in LANGUAGES if name != "en"]
    return names[int(rng.integers(len(names)))]
