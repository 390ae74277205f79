"""The families of pages: show documents in a browser, change them in place, and take screenshots.

Our own pages are written for the picture (``document.py``); other pages are published ones (``sites.py``).
"""

import hashlib
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from whatchanged.records import Split
from whatchanged.synth.screens import DrawnPair, FamilyOptions
from whatchanged.synth.screens.browser import Browser, BrowserGone, chromium_version
from whatchanged.synth.screens.fonts import fonts_of
from whatchanged.synth.screens.pages.changes import choose
from whatchanged.synth.screens.pages.designs import PACKAGES, find_modules, libraries_of, own_way
from whatchanged.synth.screens.pages.document import HTMLDocument, write_document
from whatchanged.synth.screens.pages.making import Made, alike, candidates, script_of, truth_of
from whatchanged.synth.screens.pages.noise import RENDERERS, SAME_WIDTHS, local_noise, words_stay
from whatchanged.synth.screens.pages.shown import Design, PageElement, PageLayout, Pixels, Shown
from whatchanged.synth.screens.pages.sites import find_site_files, write_site
from whatchanged.synth.screens.recoding import png, recode
from whatchanged.synth.screens.visible import draws_a_line
from whatchanged.synth.screens.words import RandomTexts, Rng
from whatchanged.worlds.screens.truth import ScreenChange, ScreenTruth

PAIRS = 4
"""Pairs of one document."""
TRIES = 4
"""How often a pair is tried again after a failed attempt."""
STARTS = 3
"""How often a document is drawn again in new browsers after a browser crashed."""
MOST_BROWSERS = 4
"""The largest number of open browsers; the least recently used one is closed."""
FLAGS = ("--allow-file-access-from-files", "--host-resolver-rules=MAP * ~NOTFOUND")
"""Flags of the browser: files may load files, and nothing comes from the network."""
TOGETHER = 40
"""How many consecutive documents share a library and two renderers, so that pages are seldom opened anew."""
PLANS = {"change": 0.4, "changes": 0.16, "both": 0.18, "noise": 0.26}
"""The content of a pair, with its probability: one change, two or three, a change with noise, noise alone."""
SEVERAL_NOISY = 0.25
"""The fraction of pairs with noise beside their changes, where every pair has several changes."""
NOISES = {"local": 0.5, "renderer": 0.28, "file": 0.22}
"""Where noise comes from."""
ALIKE = 0.2
"""The fraction of changes that are made in all alike elements, where that makes sense."""
TURNED = 0.4
"""The fraction of pairs whose pictures are exchanged."""
OWN_WAY = 0.6
"""The fraction of documents in our own design, each with a style sheet of its own."""
SPLITS: tuple[Split, ...] = ("train", "val", "test")
Write = Callable[[Rng, float, Split, tuple[int, int]], tuple[HTMLDocument, Design]]
"""A function that writes a document of this split, of at most this size, and returns its design. The number,
from 0 to 1, stays the same for some consecutive documents; it may select the design, so that designs are
seldom opened anew.
"""


@dataclass(frozen=True)
class _Sheet:
    """A displayed document: its design, renderers, layout and picture."""

    document: HTMLDocument
    design: Design
    renderers: tuple[str, str]
    layout: PageLayout
    picture: Pixels


class Pages:
    """Draws pages, with one browser for each renderer; each browser has one page whose document is exchanged.

    name: of the family. write: returns a document and its design. modules: the folder of the npm packages.
    folder: for the browser's files.
    """

    def __init__(self, name: str, write: Write, modules: Path, options: FamilyOptions, folder: Path) -> None:
        self._name = name
        self._write = write
        self._modules = modules
        self._size = options.size
        self._several = options.several
        self._folder = folder
        self._open: dict[tuple[str, bool], tuple[Browser, Shown]] = {}
        self.renderer = f"{chromium_version()}; packages {_lock_hash()}; fonts {_font_hash()}"

    def draw(self, seed: int, index: int, split: Split) -> Sequence[DrawnPair]:
        """Draw the pairs of one document. Raises BrowserGone where it crashes every browser."""
        for _ in range(STARTS):
            try:
                return self._draw(seed, index, split)
            except BrowserGone:
                self.close()
        return self._draw(seed, index, split)

    def _draw(self, seed: int, index: int, split: Split) -> Sequence[DrawnPair]:
        """Draw the pairs of one document, in one attempt."""
        sheet = self._show(seed, index, split)
        first = png(sheet.picture)
        results = []
        for number in range(PAIRS):
            pair = self._pair(np.random.default_rng([seed, 3, index, number]), sheet, first)
            if pair is not None:
                results.append(pair)
        return results

    def _show(self, seed: int, index: int, split: Split) -> _Sheet:
        """Display a document of this split, and take its picture."""
        shared = np.random.default_rng([seed, 1, index // TOGETHER, SPLITS.index(split)])
        which = shared.random()
        able = SAME_WIDTHS[int(shared.integers(len(SAME_WIDTHS)))]
        quick = [name for name in able if not RENDERERS[name][1]]  # a GPU in software is several times slower
        one = quick[int(shared.integers(len(quick)))]
        rest = [name for name in able if name != one]
        other = rest[int(shared.integers(len(rest)))]
        document, design = self._write(np.random.default_rng([seed, 2, index]), which, split, self._size)
        shown = self._renderer(one, document.scale)
        layout = shown.load(document, design)
        if document.crop is not None:
            document = replace(document, body=shown.named(document.crop), crop=None)
            layout = shown.load(document, design)
        return _Sheet(document, design, (one, other), layout, shown.photograph(layout))

    def _renderer(self, name: str, scale: float) -> Shown:
        """Return the page of a renderer.

        Each large scale has a browser of its own: a browser caches the letters of earlier documents, and
        positions them differently at large scales, so that a document would depend on earlier ones. A browser
        that paints as with a graphics card rounds cached letters differently at every scale, and is opened
        anew for every picture.
        """
        fonts, gpu = RENDERERS[name]
        key = (name, scale > 1)
        if gpu and key in self._open:
            self._open.pop(key)[0].close()
        if key not in self._open:
            if len(self._open) == MOST_BROWSERS:
                self._open.pop(next(iter(self._open)))[0].close()
            browser = Browser(fonts, FLAGS, gpu)
            self._open[key] = (browser, Shown(browser, self._modules, self._folder))
        self._open[key] = self._open.pop(key)  # the last to be closed
        return self._open[key][1]

    def close(self) -> None:
        """End every browser; the next drawing opens new ones."""
        while self._open:
            self._open.popitem()[1][0].close()

    def _pair(self, rng: Rng, sheet: _Sheet, first: bytes) -> DrawnPair | None:
        """Return one pair; None where a few attempts failed."""
        for _ in range(TRIES):
            drawn = self._try(rng, sheet)
            if drawn is None:
                continue
            after, truth = drawn
            if after.shape == sheet.picture.shape and np.array_equal(after, sheet.picture):
                continue
            last = png(after)
            if rng.random() < TURNED:
                return DrawnPair(last, first, truth.reversed())
            return DrawnPair(first, last, truth)
        return None

    def _try(self, rng: Rng, sheet: _Sheet) -> tuple[Pixels, ScreenTruth] | None:
        """Return the picture after, and the truth; None where it is unclear whether a change is visible."""
        plan = "changes" if self._several else str(rng.choice(list(PLANS), p=list(PLANS.values())))
        count = {"change": 1, "changes": int(rng.integers(2, 4)), "both": 1, "noise": 0}[plan]
        noisy = rng.random() < SEVERAL_NOISY if self._several else plan in ("both", "noise")
        shown = self._renderer(sheet.renderers[0], sheet.document.scale)
        shown.reset()
        layout, picture = sheet.layout, sheet.picture
        made: list[Made] = []
        for _ in range(count):
            one = self._make(rng, sheet, layout, picture, made)
            if one is None:
                return None
            made.append(one)
            layout, picture = one.layout_after, one.after
        noise: tuple[str, ...] = ()
        if noisy:
            altered = self._noise(rng, sheet, layout, picture, made)
            if altered is None:
                return None
            name, picture = altered
            noise = (name,)
        return self._truth_of(sheet, made, layout, picture, noise)

    def _make(
        self, rng: Rng, sheet: _Sheet, layout: PageLayout, picture: Pixels, before: list[Made]
    ) -> Made | None:
        """Make a change that is clearly visible or clearly invisible, away from the earlier changes."""
        document = sheet.document
        size = (document.width, document.height)
        taken = {i for one in before for i in one.targets}
        there_first = [e for e in candidates(layout, size) if e.i < len(sheet.layout.elements)]
        able = [e for e in there_first if not _touches(e, taken, layout)]
        chosen = choose(rng, layout, able, RandomTexts(rng, str(document.design["language"])))
        if chosen is None:
            return None
        edit, element = chosen
        targets = alike(layout, element, size) if edit.alike and rng.random() < ALIKE else (element.i,)
        shown = self._renderer(sheet.renderers[0], sheet.document.scale)
        after = shown.change(script_of(edit, targets))
        made = Made(edit, targets, layout, after, picture, shown.photograph(after), document.scale)
        if np.array_equal(made.before, made.after) or made.seen == "uncertain":
            return None
        return made

    def _noise(
        self, rng: Rng, sheet: _Sheet, layout: PageLayout, picture: Pixels, made: list[Made]
    ) -> tuple[str, Pixels] | None:
        """Return the name of some noise and the picture with it; None where it moves words or alters
        nothing.
        """
        source = list(NOISES)[int(rng.choice(len(NOISES), p=list(NOISES.values())))]
        if source == "file":
            name, altered = recode(rng, picture)
        elif source == "local":
            name, script = local_noise(rng, layout)
            if not script:
                return None
            shown = self._renderer(sheet.renderers[0], sheet.document.scale)
            there = shown.change(script)
            if not words_stay(layout.words, there.words):
                return None
            altered = shown.photograph(layout)
        else:
            shown = self._renderer(sheet.renderers[1], sheet.document.scale)
            there = shown.load(sheet.document, sheet.design)
            for one in made:
                there = shown.change(script_of(one.edit, one.targets))
            if not words_stay(layout.words, there.words):
                return None
            name, altered = " to ".join(sheet.renderers), shown.photograph(layout)
        if altered.shape != picture.shape or np.array_equal(altered, picture):
            return None
        if draws_a_line(picture, altered):
            return None
        return name, altered

    def _truth_of(
        self, sheet: _Sheet, made: list[Made], layout: PageLayout, picture: Pixels, noise: tuple[str, ...]
    ) -> tuple[Pixels, ScreenTruth] | None:
        """Return the truth of a pair."""
        sizes = (_size(sheet.picture), _size(picture))
        changes: list[ScreenChange] = []
        for one in made:
            if one.seen == "no":
                noise = (*noise, f"faint: {one.edit.kind} {one.edit.aspect}")
                continue
            change = truth_of(one, sheet.layout, layout, sizes)
            if change is None:
                return None
            changes.append(change)
        design = {**sheet.document.design, "renderer": sheet.renderers[0]}
        return picture, ScreenTruth(tuple(changes), noise, *sizes, self._name, design)


def _touches(e: PageElement, taken: set[int], layout: PageLayout) -> bool:
    """Return whether an element was already changed, contains a changed one, or lies in one."""
    if not taken:
        return False
    if any(layout.inside(e, i) for i in taken):
        return True
    return e.element == "page" or any(layout.inside(layout.elements[i], e.i) for i in taken)


def _size(picture: Pixels) -> tuple[int, int]:
    return picture.shape[1], picture.shape[0]


def _lock_hash() -> str:
    return hashlib.sha256((PACKAGES / "package-lock.json").read_bytes()).hexdigest()[:12]


def _font_hash() -> str:
    names = [name for split in SPLITS for name in fonts_of(split)]
    return hashlib.sha256("\n".join(names).encode()).hexdigest()[:12]


def write_page(rng: Rng, which: float, split: Split, size: tuple[int, int]) -> tuple[HTMLDocument, Design]:
    """Write one of our pages, in our own design, or under a library that ``which``, from 0 to 1, selects."""
    libraries = libraries_of(split)
    library = libraries[int(which * len(libraries))]
    if rng.random() < OWN_WAY:
        library = own_way()
    return write_document(rng, library, split, size), library


@contextmanager
def open_pages(options: FamilyOptions) -> Iterator[Pages]:
    """Open the family of our own pages for the duration of the block.

    Raises MissingProgram where something is not installed.
    """
    with _opened("pages", write_page, find_modules(options.styles), options) as pages:
        yield pages


@contextmanager
def open_sites(options: FamilyOptions) -> Iterator[Pages]:
    """Open the family of published pages. Raises as ``open_pages``."""
    modules = find_site_files(options.styles)

    def write(rng: Rng, which: float, split: Split, size: tuple[int, int]) -> tuple[HTMLDocument, Design]:
        return write_site(rng, modules, split, size)

    with _opened("sites", write, modules, options) as pages:
        yield pages


@contextmanager
def _opened(name: str, write: Write, modules: Path, options: FamilyOptions) -> Iterator[Pages]:
    """Yield pages with a folder of their own."""
    with tempfile.TemporaryDirectory(prefix="screens-pages-") as folder:
        pages = Pages(name, write, modules, options, Path(folder))
        try:
            yield pages
        finally:
            pages.close()
