"""Convert pairs of PDF files to pairs of pages, and match the pages of both files.

Pages are drawn into the folder of results, like the pictures of revisions. They are then compared, shown and
stored like any picture. Page 3 of ``report.pdf`` is called ``report.pdf#3``. If page 3 was removed, the page
is called ``report.pdf#old-3``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from whatchanged.compare.pairs import Matched, PairToCompare, checked
from whatchanged.compare.written import PAGES, begin_anew
from whatchanged.errors import DatasetError, ImageError
from whatchanged.measured.pixels.reading import same_bytes
from whatchanged.pdf import DPI, MOST_PAGES, Drawn, DrawnPage, can_draw, draw_files, is_pdf, require_drawing

MOST_DRAWN = 3000
"""The largest number of pages in all files of one comparison."""
ALONE = 0.5
"""The cost of a page without a counterpart.

The cost of matching two pages that have nothing in common is 1.
"""

PagePair = tuple[DrawnPage | None, DrawnPage | None]
"""A page before and the matching page after. If a page has no counterpart, the other page is None."""


def are_files(old: Path, new: Path) -> bool:
    """Return whether these are two PDF files."""
    return is_pdf(old) and is_pdf(new) and old.is_file() and new.is_file()


def match_files(old: Path, new: Path) -> Matched:
    """Return the pair of two PDF files. Raises MissingExtra if pages cannot be drawn here."""
    require_drawing()
    return Matched((PairToCompare(new.name, old, new),), f"{old} and {new}")


def with_pages(result: Matched, folder: Path, dpi: float = DPI) -> Matched:
    """Return the pairs with each pair of PDF files replaced by one pair for each page.

    If pages cannot be drawn here, the pairs are returned unchanged. An unchanged, added or removed file stays
    one pair, which is shown by the first page of the file. A file that cannot be drawn also stays one pair,
    with an error message.

    folder: the folder of results. The pages are written to its subfolder ``PAGES``.

    Raises DatasetError if there are too many pages, and OutputError if they cannot be written.
    """
    if not can_draw() or not any(_is_drawn(pair) for pair in result.pairs):
        return result
    begin_anew(folder / PAGES)
    files = [
        file
        for number, pair in enumerate(result.pairs)
        if _is_drawn(pair)
        for file in _files_of(pair, folder / PAGES / str(number))
    ]
    drawn = _counted(draw_files(files, dpi))
    pairs: list[PairToCompare] = []
    for pair in result.pairs:
        pairs += _pages_of(pair, drawn) if _is_drawn(pair) else [pair]
    return replace(result, pairs=checked(pairs))


def pages_of(old: Path, new: Path, folder: Path, dpi: float = DPI) -> list[PagePair]:
    """Return the matched pages of two files, drawn into a folder.

    For identical files, only draw the first page.

    Raises ImageError if a file cannot be drawn, and MissingExtra if no file can be drawn here.
    """
    require_drawing()
    same = same_bytes(old, new)
    files = [(old, folder / "old", 1 if same else MOST_PAGES), (new, folder / "new", MOST_PAGES)]
    drawn: list[list[DrawnPage]] = []
    for one in draw_files(files[:1] if same else files, dpi):
        if isinstance(one, ImageError):
            raise one
        drawn.append(one)
    return matched_pages(drawn[0], drawn[-1])


def _is_drawn(pair: PairToCompare) -> bool:
    """Return whether this is a pair of PDF files, or one PDF file without a counterpart."""
    files = [path for path in (pair.before, pair.after) if path is not None]
    return not pair.trouble and all(is_pdf(path) for path in files)


def _are_same(pair: PairToCompare) -> bool:
    """Return whether both files have the same bytes. Their pages need no comparison then."""
    return pair.before is not None and pair.after is not None and same_bytes(pair.before, pair.after)


def _files_of(pair: PairToCompare, folder: Path) -> list[tuple[Path, Path, int]]:
    """Return the files of a pair to draw: each with its output folder and the largest number of pages."""
    if pair.before is not None and pair.after is not None and not _are_same(pair):
        return [(pair.before, folder / "old", MOST_PAGES), (pair.after, folder / "new", MOST_PAGES)]
    shown = pair.after or pair.before
    assert shown is not None, "a pair has a file on one side at least"
    return [(shown, folder / "shown", 1)]


def _counted(drawn: Iterator[Drawn]) -> Iterator[Drawn]:
    """Yield the drawn files. Raises DatasetError if they have more than ``MOST_DRAWN`` pages."""
    pages = 0
    for one in drawn:
        pages += 0 if isinstance(one, ImageError) else len(one)
        if pages > MOST_DRAWN:
            raise DatasetError(f"More than {MOST_DRAWN:,} pages of PDF files. Name folders further down.")
        yield one


def _pages_of(pair: PairToCompare, drawn: Iterator[Drawn]) -> list[PairToCompare]:
    """Return the pairs that replace a pair of files.

    drawn: the drawn files. The next one or two belong to this pair.
    """
    if pair.before is None or pair.after is None or _are_same(pair):
        found = next(drawn)
        if isinstance(found, ImageError):
            return [replace(pair, trouble=str(found))]
        before, after = (None if path is None else found[0].file for path in (pair.before, pair.after))
        return [replace(pair, before=before, after=after, part_of=str(pair.after or ""))]
    old, new = next(drawn), next(drawn)
    if isinstance(old, ImageError) or isinstance(new, ImageError):
        wrong = " ".join(str(one) for one in (old, new) if isinstance(one, ImageError))
        return [replace(pair, trouble=wrong)]
    return [
        PairToCompare(
            f"{pair.pair_id}#{after.number if after else f'old-{before.number if before else 0}'}",
            None if before is None else before.file,
            None if after is None else after.file,
            part_of=str(pair.after),
        )
        for before, after in matched_pages(old, new)
    ]


def matched_pages(old: Sequence[DrawnPage], new: Sequence[DrawnPage]) -> list[PagePair]:
    """Return the matched pages in order. The matching keeps the order of the pages and has the lowest cost.

    Two matched pages cost their difference, from 0 to 1. A page without a counterpart costs ``ALONE``. If two
    solutions have the same cost, the one that matches more pages is used.
    """
    unlike = _unlike(old, new)
    least = np.zeros((len(old) + 1, len(new) + 1))
    least[:, 0] = ALONE * np.arange(len(old) + 1)
    least[0] = ALONE * np.arange(len(new) + 1)
    for row in range(1, len(old) + 1):
        for column in range(1, len(new) + 1):
            alone = ALONE + min(least[row - 1, column], least[row, column - 1])
            least[row, column] = min(least[row - 1, column - 1] + unlike[row - 1, column - 1], alone)
    row, column = len(old), len(new)
    pairs: list[PagePair] = []
    while row or column:
        together = row and column and least[row - 1, column - 1] + unlike[row - 1, column - 1]
        if row and column and least[row, column] == together:
            row, column = row - 1, column - 1
            pairs.append((old[row], new[column]))
        elif row and (not column or least[row, column] == ALONE + least[row - 1, column]):
            row -= 1
            pairs.append((old[row], None))
        else:
            column -= 1
            pairs.append((None, new[column]))
    return pairs[::-1]


def _unlike(old: Sequence[DrawnPage], new: Sequence[DrawnPage]) -> NDArray[np.float64]:
    """Return the mean difference of each two pages relative to their content, from 0 to 1."""
    one, other = (np.stack([page.small.ravel() for page in pages]).astype(np.int16) for pages in (old, new))
    inks = [np.abs(pages - np.median(pages, axis=1, keepdims=True)).mean(axis=1) for pages in (one, other)]
    apart = np.stack([np.abs(other - page).mean(axis=1) for page in one])
    return np.asarray(np.minimum(1.0, apart / np.maximum(1.0, np.maximum.outer(*inks))))
