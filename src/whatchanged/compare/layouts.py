"""The folders in which testing tools store pictures, and the rules that distinguish old from new pictures.

Every layout is the documented layout of the tool with its default names. If the folder of a tool has a fixed
name, the user may also specify the project folder that contains this folder.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from whatchanged.compare.composites import DIFF_FOLDER, RECEIVED_FOLDER, stored_pairs
from whatchanged.compare.pairs import Matched, PairToCompare, checked, matched, notes_of, notes_of_links
from whatchanged.datasets.named_pairs import match_names
from whatchanged.datasets.picture_files import pictures_below
from whatchanged.errors import DatasetError

NamedPictures = Mapping[str, Path]


@dataclass(frozen=True)
class TwoFolders:
    """The layout of a tool that stores old and new pictures under the same names in two folders.

    roots     the folders that may contain the two folders, relative to the given folder, which itself comes
              first
    accepted  the tool's own way to accept pictures; empty if the new pictures are copied over the old ones
    endings   the endings of old and new names in some versions of the tool
    """

    name: str
    roots: tuple[str, ...]
    old: str
    new: str
    accepted: str = ""
    endings: tuple[str, str] = ("", "")


TWO_FOLDERS = (
    TwoFolders("BackstopJS", ("", "backstop_data"), "bitmaps_reference", "bitmaps_test"),
    TwoFolders("Loki", ("", ".loki"), "reference", "current"),
    TwoFolders(
        "reg-suit",
        ("", ".reg"),
        "expected",
        "actual",
        "reg-suit takes the expected pictures from where they were published: merge, and run it again",
    ),
    TwoFolders(
        "cypress-visual-regression",
        ("", "snapshots", "cypress/snapshots"),
        "base",
        "actual",
        endings=("-base", "-actual"),
    ),
    TwoFolders(
        "cypress-image-diff",
        ("", "cypress-image-diff-screenshots", "cypress-visual-screenshots"),
        "baseline",
        "comparison",
    ),
    TwoFolders("two folders", ("",), "before", "after"),
)
_RUN = re.compile(r"\d{8}-\d{6}")
"""BackstopJS stores each run in a folder that is named after its time."""


@dataclass(frozen=True)
class ByName:
    """The layout of a tool that stores old and new pictures side by side with different names.

    sides     a function from a picture's relative path to (side, id), where the side is 0 for old and 1 for
              new; None for other pictures
    accepted  the tool's own way to accept pictures, because these pictures are copies
    """

    name: str
    sides: Callable[[str, NamedPictures], tuple[int, str] | None]
    accepted: str


def _playwright(name: str, pictures: NamedPictures) -> tuple[int, str] | None:
    """Match test-results/TEST/NAME-expected.png and NAME-actual.png. If there are retries, use the last one.

    Retries are in the folders TEST-retry1, TEST-retry2 and so on.
    """
    found = re.fullmatch(r"(.+)-(expected|actual)(\.\w+)", name)
    if found is None or f"{found[1]}-actual{found[3]}" not in pictures:
        return None
    path = PurePosixPath(found[1] + found[3])
    if not path.parent.name:
        return int(found[2] == "actual"), path.as_posix()
    test, _, count = path.parent.name.partition("-retry")
    following = path.parent.with_name(f"{test}-retry{int(count) + 1 if count.isdecimal() else 1}")
    if (following / f"{path.stem}-actual{path.suffix}").as_posix() in pictures:
        return None
    if count.isdecimal():
        path = path.parent.with_name(test) / path.name
    return int(found[2] == "actual"), path.as_posix()


def _matplotlib(name: str, pictures: NamedPictures) -> tuple[int, str] | None:
    """Match result_images/MODULE/NAME-expected.png and NAME.png, or NAME-expected_pdf.png and NAME_pdf.png.

    The suffixes _svg, _eps and _gif are treated like _pdf.
    """
    found = re.fullmatch(r"(.+)-expected((?:_\w+)?\.png)", name)
    if found is not None:
        return (0, found[1] + found[2]) if found[1] + found[2] in pictures else None
    parts = re.fullmatch(r"(.+?)((?:_(?:pdf|svg|eps|gif))?\.png)", name)
    return (1, name) if parts and f"{parts[1]}-expected{parts[2]}" in pictures else None


def _pytest_mpl(name: str, pictures: NamedPictures) -> tuple[int, str] | None:
    """Match TEST/baseline.png and TEST/result.png."""
    path = PurePosixPath(name)
    if (
        path.name not in ("baseline.png", "result.png")
        or path.with_name("result.png").as_posix() not in pictures
    ):
        return None
    return int(path.name == "result.png"), path.parent.as_posix()


BY_NAME = (
    ByName("Playwright", _playwright, "run: npx playwright test --update-snapshots"),
    ByName("pytest-mpl", _pytest_mpl, "run: pytest --mpl-generate-path=baseline"),
    ByName(
        "matplotlib's image_comparison", _matplotlib, "copy the pictures of result_images to baseline_images"
    ),
)

UPDATE_SNAPSHOTS = "run the tests with --updateSnapshot, in Cypress with --env updateSnapshots=true"
"""The way to accept a picture that was cropped from a composite.

It may contain a margin added by the tool.
"""


def match_results(folder: Path, scratch: Path, leave_out: Path | None = None) -> Matched:
    """Return the pairs in one folder: the results of a testing tool, or pairs that are recognised by name.

    scratch: a folder for pictures that have to be cropped from others.
    leave_out: a folder that is not searched.

    Raises DatasetError if no layout is recognised.
    """
    for layout in TWO_FOLDERS:
        found = _two_folders(layout, folder, leave_out)
        if found is not None:
            return found
    walked = pictures_below(folder, [leave_out] if leave_out else [])
    pictures, notes = walked.pictures, notes_of(str(folder), walked)
    for tool in BY_NAME:
        sides: tuple[dict[str, Path], dict[str, Path]] = ({}, {})
        for name, path in pictures.items():
            found_side = tool.sides(name, pictures)
            if found_side is not None:
                sides[found_side[0]][found_side[1]] = path
        if sides[0].keys() & sides[1].keys():
            return Matched(checked(matched(*sides)), f"{tool.name} results in {folder}", notes, tool.accepted)
    if any(part in (DIFF_FOLDER, RECEIVED_FOLDER) for name in pictures for part in name.split("/")):
        pairs, more = stored_pairs(pictures, scratch)
        if pairs:
            cut = any(pair.after is not None and pair.after.is_relative_to(scratch) for pair in pairs)
            source = f"jest-image-snapshot results in {folder}"
            return Matched(checked(pairs), source, (*notes, *more), UPDATE_SNAPSHOTS if cut else "")
    return _named(folder, pictures, notes, notes_of_links(str(folder), walked))


def _two_folders(layout: TwoFolders, folder: Path, leave_out: Path | None) -> Matched | None:
    """Return the pairs of a layout with two folders, or None if the folder has another layout."""
    for root in layout.roots:
        old, new = folder / root / layout.old, folder / root / layout.new
        if not (old.is_dir() and new.is_dir()):
            continue
        skip = [leave_out] if leave_out else []
        walked = [pictures_below(old, skip, [folder], pages=True)]
        before = _without(layout.endings[0], walked[0].pictures)
        if layout.new == "bitmaps_test":
            runs = sorted(path for path in new.iterdir() if _RUN.fullmatch(path.name) and path.is_dir())
            new = runs[-1] if runs else new
        walked.append(pictures_below(new, skip, [folder], pages=True))
        after = {name: path for name, path in walked[1].pictures.items() if not _is_diff(name)}
        after = _without(layout.endings[1], after)
        if before or after:
            source = (
                f"{layout.name} results in {folder}" if layout.name != "two folders" else f"{old} and {new}"
            )
            return Matched(
                checked(matched(before, after)),
                source,
                notes_of(str(folder), *walked),
                layout.accepted,
                old,
                layout.endings[0],
            )
    return None


def _without(ending: str, pictures: dict[str, Path]) -> dict[str, Path]:
    """Return the pictures by name without the ending that a tool adds. No two pictures get the same name."""
    if not ending:
        return pictures
    bare = {name: re.sub(rf"{ending}(\.\w+)$", r"\1", name) for name in pictures}
    return {name if bare[name] in pictures else bare[name]: path for name, path in pictures.items()}


def _is_diff(name: str) -> bool:
    """Return whether a picture shows differences. BackstopJS stores these beside the new pictures."""
    return PurePosixPath(name).name.startswith("failed_diff_")


def _named(folder: Path, pictures: NamedPictures, notes: tuple[str, ...], links: tuple[str, ...]) -> Matched:
    """Return the pairs that are recognised by name, such as ``a_before.png`` and ``a_after.png``.

    notes: notes about everything that was left out.
    links: the notes about links among them.

    Raises DatasetError if there are no such pairs.
    """
    found = match_names(pictures)
    if not found.pairs:
        tools = ", ".join(layout.name for layout in (*BY_NAME, *TWO_FOLDERS[:-1]))
        raise DatasetError(
            f"{folder}: no pairs of pictures are recognised in it. Name two folders, old and new; or a "
            f"folder of results of {tools}, jest-image-snapshot or cypress-image-snapshot; or one with names "
            + " ".join(("such as a_before.png and a_after.png.", *links))
        )
    pairs = [
        PairToCompare(name, pictures[before], pictures[after])
        for name, (before, after) in found.pairs.items()
    ]
    pairs += [PairToCompare(name, pictures[name], None) for name in found.single[0]]
    pairs += [PairToCompare(name, None, pictures[name]) for name in found.single[1]]
    if found.other:
        notes = (
            *notes,
            f"Pictures that belong to no pair, left out: {len(found.other):,} (first: {found.other[0]}).",
        )
    ordered = sorted(pairs, key=lambda pair: pair.pair_id)
    return Matched(checked(ordered), f"pairs by name in {folder}", notes)
