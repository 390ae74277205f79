"""Recognise variants of one name: names of pictures that differ only in browser, theme or size."""

import re
from pathlib import PurePosixPath

from whatchanged.datasets.picture_files import DRAWINGS, ENDINGS, composed

_VARIANTS = (
    "chrome chromium firefox webkit safari edge ie ie11 electron opera mobile desktop tablet phone "
    "android ios iphone ipad mac macos darwin linux windows win win32 osx ubuntu light dark contrast "
    "theme default ltr rtl small medium large xs sm md lg xl xxl retina hidpi 1x 2x 3x "
)
VARIANT_WORDS = frozenset(_VARIANTS.split())
"""The words in a file name that indicate the browser, the theme or the size."""
_SIZE = re.compile(r"\d+x\d+|\d{3,4}(px|w)")
"""The pattern of a size in a name: 1280x800, 320px, 1024w."""
_WIDTHS = (
    "320 360 375 390 393 412 414 428 480 540 600 640 720 768 800 820 834 900 960 992 1024 1080 1200 1280 1366"
    " 1440 1536 1600 1680 1920 2048 2560 3840 "
)
WIDTHS = frozenset(_WIDTHS.split())
"""The widths of screens and windows.

A number in this set may be a size without a unit. Any other number is not a size.
"""
_COUNTED = (
    "p page fig figure slide sheet frame step image img picture screenshot shot snapshot test case no nr"
    " number plot sample "
)
_NUMBERED = frozenset(_COUNTED.split())
"""The words after which a number is never a size."""
_BETWEEN = re.compile(r"[\s_\-./@()\[\]{},;:=&~'\"]+")
"""The separators between the words of a name.

Letters of every script, their marks and other signs are parts of words.
"""


def base_name(name: str) -> str:
    """Return a name without the words for browser, theme and size; the full name if no other words remain."""
    words = words_of(name)
    return "-".join(_others(words) or words).lower()


def variant_of(name: str) -> str:
    """Return the words of a name that indicate the browser, the theme or the size; "" if there are none."""
    words = words_of(name)
    variants = [word for index, word in enumerate(words) if _is_variant(words, index)]
    return " ".join(variants) if len(variants) < len(words) else ""


def words_of(name: str) -> list[str]:
    """Return the words and numbers in the path of a picture, without the file extension."""
    path = PurePosixPath(composed(name))
    ending = path.suffix.lower()
    whole = str(path.with_suffix("")) if ending in ENDINGS or ending in DRAWINGS else str(path)
    return [word for word in _BETWEEN.split(whole) if word]


def is_variant_word(word: str) -> bool:
    """Return whether a word of a name indicates the browser, the theme or the size."""
    return word.lower() in VARIANT_WORDS or _SIZE.fullmatch(word) is not None or word in WIDTHS


def _others(words: list[str]) -> list[str]:
    """Return the words that do not indicate the variant."""
    return [word for index, word in enumerate(words) if not _is_variant(words, index)]


def _is_variant(words: list[str], index: int) -> bool:
    """Return whether the word at an index indicates the variant.

    The number of a page, for example, is not a size.
    """
    word = words[index]
    counts = word in WIDTHS and index > 0 and words[index - 1].lower() in _NUMBERED
    return is_variant_word(word) and not counts
