"""Fonts of drawn screens, from Debian packages with free licences; some are held out."""

import subprocess
from collections.abc import Mapping
from functools import cache

from whatchanged.errors import MissingProgram
from whatchanged.programs import find_program, program_environment
from whatchanged.records import Split

FONTS: Mapping[Split, tuple[str, ...]] = {
    "train": (
        "DejaVu Sans",
        "Liberation Sans",
        "Roboto",
        "Noto Sans",
        "Lato",
        "Carlito",
        "Liberation Serif",
        "DejaVu Sans Mono",
    ),
    "val": ("Open Sans", "DejaVu Serif", "Liberation Mono"),
    "test": ("Inter", "Cantarell", "Noto Serif", "Nimbus Sans", "Fira Code"),
}
"""Font families by the split whose screens use them. Only installed ones are used."""

_SCRIPTS: Mapping[str, str] = {
    "ar": "Noto Sans Arabic",
    "he": "Noto Sans Hebrew",
    "hi": "Noto Sans Devanagari",
    "th": "Noto Looped Thai",
    "zh": "Noto Sans CJK SC",
    "ja": "Noto Sans CJK JP",
    "ko": "Noto Sans CJK KR",
}
"""Languages in other scripts, each with a font family that has their letters."""

PACKAGES = (
    "fonts-dejavu",
    "fonts-liberation",
    "fonts-roboto",
    "fonts-noto-core",
    "fonts-noto-cjk",
    "fonts-open-sans",
    "fonts-lato",
    "fonts-inter",
    "fonts-cantarell",
    "fonts-firacode",
    "fonts-crosextra-carlito",
    "fonts-urw-base35",
)
"""Debian packages with these fonts, and with the scripts of ``words.LANGUAGES``."""


def font_stack(font: str, language: str, kind: str = "sans-serif") -> str:
    """Return the font, followed by families for all other scripts in a fixed order, the language's own first,
    as in CSS.

    Without them the browser searches for a font that has a letter, and the result depends on earlier pages.
    """
    own = [_SCRIPTS[language]] if language in _SCRIPTS else []
    names = [font, *own, *(name for name in _SCRIPTS.values() if name not in own)]
    return ",".join([*(f"'{name}'" for name in names), kind])


@cache
def installed_families() -> frozenset[str]:
    """Return every font family of this machine, by fontconfig. Raises MissingProgram."""
    program = find_program("fc-list")
    if program is None:
        raise MissingProgram("Drawing screens", "fontconfig", "apt-get install fontconfig")
    told = subprocess.run(
        [program, ":", "family"], capture_output=True, text=True, check=True, env=program_environment()
    ).stdout
    return frozenset(name.strip() for line in told.splitlines() for name in line.split(","))


def fonts_of(split: Split) -> tuple[str, ...]:
    """Return the installed families of this split. Raises MissingProgram where there is none."""
    results = tuple(font for font in FONTS[split] if font in installed_families())
    if not results:
        raise MissingProgram(
            f"Drawing screens for {split}",
            f"one of the fonts {', '.join(FONTS[split])}",
            f"apt-get install {' '.join(PACKAGES)}",
        )
    return results
