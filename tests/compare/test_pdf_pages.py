from pathlib import Path

import numpy as np
import pytest
from support.pdf_files import write_pdf

from whatchanged.compare import pdf_pages
from whatchanged.compare.accept import plan
from whatchanged.compare.comparison import compare
from whatchanged.compare.pairs import match_folders, notes_of_formats
from whatchanged.compare.pdf_pages import matched_pages, with_pages
from whatchanged.compare.record import record_of
from whatchanged.compare.settings import CompareSettings
from whatchanged.errors import DatasetError, WhatchangedError
from whatchanged.pdf import DrawnPage

pytest.importorskip("pypdfium2")


def pages(*seeds):
    """Pages of random blocks; those of one seed are the same."""
    smalls = [np.random.default_rng(seed).integers(0, 2, (32, 32)).astype(np.uint8) * 255 for seed in seeds]
    return [DrawnPage(k, Path(f"{k}.png"), small) for k, small in enumerate(smalls, 1)]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ((1, 2, 3), (1, 2, 3), [(1, 1), (2, 2), (3, 3)]),
        ((1, 2, 3), (1, 9, 2, 3), [(1, 1), (None, 2), (2, 3), (3, 4)]),
        ((1, 2, 3, 4), (2, 3, 4), [(1, None), (2, 1), (3, 2), (4, 3)]),
        ((1, 2, 3), (1, 9, 3), [(1, 1), (2, 2), (3, 3)]),
        ((1,), (9,), [(1, 1)]),
        ((1, 2), (1, 2, 3), [(1, 1), (2, 2), (None, 3)]),
    ],
)
def test_pages_that_came_or_went_leave_the_others_together(old, new, expected):
    found = matched_pages(pages(*old), pages(*new))
    assert [(one and one.number, other and other.number) for one, other in found] == expected


def test_blank_pages_are_the_same():
    blank = [DrawnPage(1, Path("1.png"), np.full((32, 32), 255, np.uint8))]
    assert [(one is None, other is None) for one, other in matched_pages(blank, blank)] == [(False, False)]


RED, BLUE = [(36, 18, 36, 18, "1 0 0")], [(0, 0, 72, 72, "0 0 1")]
GREEN = [(10, 10, 120, 10, "0 .6 0"), (100, 30, 20, 40, "0 0 0")]


@pytest.fixture
def folders(tmp_path):
    for side in ("old", "new"):
        (tmp_path / side).mkdir()
    write_pdf(tmp_path / "old/report.pdf", [RED, BLUE, GREEN])
    write_pdf(tmp_path / "new/report.pdf", [RED, [(60, 18, 36, 18, "1 0 0")], GREEN, BLUE])
    for side in ("old", "new"):
        write_pdf(tmp_path / side / "same.pdf", [RED, BLUE])
    write_pdf(tmp_path / "old/gone.pdf", [BLUE])
    (tmp_path / "new/broken.pdf").write_bytes(b"%PDF-1.7\n")
    write_pdf(tmp_path / "old/broken.pdf", [BLUE])
    return tmp_path


def test_a_pair_a_page_and_a_file_that_is_the_same_is_one(folders):
    found = with_pages(match_folders(folders / "old", folders / "new", pages=True), folders / "out", dpi=72)
    pairs = {pair.pair_id: pair for pair in found.pairs}
    assert list(pairs)[:2] == ["broken.pdf", "gone.pdf"]
    assert pairs["gone.pdf"].status == "removed"
    assert "new/broken.pdf" in pairs["broken.pdf"].trouble
    assert pairs["same.pdf"].before == pairs["same.pdf"].after
    of_report = [name for name in pairs if name.startswith("report.pdf#")]
    assert "report.pdf#1" in of_report and len(of_report) >= 4
    comparison = compare(found, CompareSettings(read_text=False), workers=1)
    verdicts = {one.pair.pair_id: one.answer and one.answer.verdict for one in comparison.outcomes}
    assert verdicts["report.pdf#1"] == verdicts["same.pdf"] == "identical"
    record = record_of(comparison, "")
    changed = next(one.pair.pair_id for one in comparison.outcomes if one.changed and "#" in one.pair.pair_id)
    with pytest.raises(WhatchangedError, match="it is a page of"):
        plan(record, [changed])


def test_too_many_pages_are_refused(folders, monkeypatch):
    monkeypatch.setattr(pdf_pages, "MOST_DRAWN", 2)
    with pytest.raises(DatasetError, match="More than 2 pages"):
        with_pages(match_folders(folders / "old", folders / "new", pages=True), folders / "out")


def test_without_the_extra_pdf_files_are_counted_with_what_to_install(folders, monkeypatch):
    for module in ("whatchanged.datasets.picture_files", "whatchanged.compare.pairs"):
        monkeypatch.setattr(f"{module}.can_draw", lambda: False)
    (folders / "new" / "a.png").write_bytes(b"x")
    found = match_folders(folders / "old", folders / "new", pages=True)
    assert [pair.pair_id for pair in found.pairs] == ["a.png"]
    assert notes_of_formats({".svg": 1}) == ("Not compared, as their formats are not read: 1 .svg.",)
    assert any("7 .pdf" in note and "[pdf]" in note for note in found.notes)
