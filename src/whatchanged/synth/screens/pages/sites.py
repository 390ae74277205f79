"""Pages published as npm packages (``sites.toml``): displayed in whole or in part, then changed by us.

Their scripts are removed, and nothing is loaded from the network, so a page is the same every time. CSS
selectors assign names to the elements after the page is laid out.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from whatchanged.records import Split
from whatchanged.synth.screens.choices import magnitude
from whatchanged.synth.screens.fonts import fonts_of
from whatchanged.synth.screens.pages.designs import HERE, find_files, find_modules
from whatchanged.synth.screens.pages.document import SCALES, HTMLDocument, PageCrop
from whatchanged.synth.screens.pages.looks import random_look
from whatchanged.synth.screens.words import Rng

PART = 0.7
"""The fraction of documents that show only one part of a page."""
LEAST, MOST = (340, 320), (1281, 901)
"""The least and the largest width and height of a window."""
FROM_TOP = 0.4
"""The fraction of windows that begin at the top of the page."""
FONTS = """
html { overflow: hidden; }
body, body *:not(i, i *, pre, pre *, code, kbd, [class*="icon"], [class*="fa-"]) {
  font-family: var(--w-font) !important;
}
pre, pre *, code, kbd { font-family: var(--w-mono) !important; }
"""
"""CSS for installed fonts: the fonts that the pages name are seldom installed."""
ALONE = """
html, body {{
  margin: 0 !important; height: auto !important; min-height: 0 !important; min-width: 0 !important;
}}
body {{
  padding: {pad}px !important; width: fit-content !important; display: block !important;
  position: relative !important;
}}
"""
"""CSS for a single part: the picture ends where the part does."""
LEFT_OUT = re.compile(
    r"<(script|noscript|iframe|video|audio|object|template)\b.*?</\1\s*>|<meta\b[^>]*>|<!--.*?-->"
    r"|\s(?:loading=[\"']?lazy[\"']?|autofocus\b)",
    re.IGNORECASE | re.DOTALL,
)
HEAD = re.compile(r"<link\b[^>]*stylesheet[^>]*>|<style\b.*?</style\s*>", re.IGNORECASE | re.DOTALL)
BODY = re.compile(r"<body\b([^>]*)>(.*?)(?:</body\s*>|\Z)", re.IGNORECASE | re.DOTALL)
CLASSES = re.compile(r"class=[\"']([^\"']*)[\"']", re.IGNORECASE)


@dataclass(frozen=True)
class Site:
    """A package of published pages: its licence, its split, its files as patterns."""

    package: str
    licence: str
    split: Split
    pages: tuple[str, ...]


@dataclass(frozen=True)
class PublishedPage:
    """A published page as HTML.

    name: the path of its file in the folder of packages. styles: its own links and styles. body: classes of
    the body. content: the HTML in it. published: as every design says.
    """

    name: str
    styles: str
    body: str
    content: str
    published = True

    def head(self, modules: Path) -> str:
        """Return its styles, with addresses relative to its own folder."""
        return f'<base href="{(modules / self.name).as_uri()}">{self.styles}'


@cache
def _table() -> dict[str, Any]:
    with (HERE / "sites.toml").open("rb") as file:
        return tomllib.load(file)


@cache
def sites() -> tuple[Site, ...]:
    """Return every package, in the order of the file."""
    return tuple(
        Site(package, table["licence"], table["split"], tuple(table["pages"]))
        for package, table in _table()["sites"].items()
    )


def element_names() -> Mapping[str, str]:
    """Return CSS selector -> the name of the elements that it selects; "" for those without a name."""
    names: Mapping[str, str] = _table()["elements"]
    return names


def find_site_files(named: Path | None) -> Path:
    """Return the folder node_modules with every package of pages, as ``find_files``. Raises
    MissingProgram.
    """
    modules = find_modules(named)
    return find_files(
        "Drawing published pages", modules, [(s.package, f"{s.package}/package.json") for s in sites()]
    )


def pages_of(modules: Path, site: Site) -> list[Path]:
    """Return the files of a site's pages, in the order of their names."""
    return sorted(path for pattern in site.pages for path in (modules / site.package).glob(pattern))


def read_page(modules: Path, path: Path) -> PublishedPage:
    """Read a page, and remove its scripts and the elements that play media or load later."""
    text = LEFT_OUT.sub("", path.read_text(encoding="utf-8", errors="replace"))
    found = BODY.search(text)
    attributes, content = found.groups() if found else ("", text)
    classes = CLASSES.search(attributes)
    styles = "".join(HEAD.findall(text[: found.start()] if found else ""))
    return PublishedPage(str(path.relative_to(modules)), styles, classes[1] if classes else "", content)


def write_site(
    rng: Rng, modules: Path, split: Split, largest: tuple[int, int]
) -> tuple[HTMLDocument, PublishedPage]:
    """Return a random page of this split, or a part of one; its picture has at most ``largest`` width and
    height.

    The probability of a site grows with the square root of its number of pages.
    """
    able = [(site, pages_of(modules, site)) for site in sites() if site.split == split]
    shares = [len(pages) ** 0.5 for _, pages in able]
    site, pages = able[int(rng.choice(len(able), p=[share / sum(shares) for share in shares]))]
    page = read_page(modules, pages[int(rng.integers(len(pages)))])
    fonts = fonts_of(split)
    font = fonts[int(rng.integers(len(fonts)))]
    alone = bool(rng.random() < PART)
    scale = float(rng.choice(SCALES)) if alone else 1.0
    width, height = (
        min(int(whole / scale), int(magnitude(rng, least, most)))
        for whole, least, most in zip(largest, LEAST, MOST, strict=True)
    )
    look = random_look(rng, split, font, "en", dark=False, width=f"{width}px", own=False)
    sheet = FONTS + (ALONE.format(pad=int(rng.integers(0, 25))) if alone else "")
    cut = PageCrop(
        names=element_names(),
        part=float(rng.random()) if alone else None,
        top=0.0 if rng.random() < FROM_TOP else float(rng.random()),
    )
    document = HTMLDocument(
        body=page.content,
        look=replace(look, sheet=sheet),
        root='lang="en" dir="ltr"',
        width=width,
        height=int(largest[1] / scale) if alone else height,
        scale=scale,
        fitted=alone,
        narrow=alone,
        design={
            "library": site.package,
            "page": page.name,
            "font": font,
            "language": "en",
            "shape": "component" if alone else "window",
            "scale": scale,
        },
        crop=cut,
    )
    return document, page
