"""Each tool's folder as it documents it: which files are old and new, and what the pairs are called."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from support.compared_screens import save, screen, with_square

from whatchanged.compare.layouts import _without, match_results
from whatchanged.errors import DatasetError

OLD, NEW = screen(1), with_square(screen(1))
FILES = {
    "playwright": (
        {
            "test-results/home-chromium/home-1-expected.png": OLD,
            "test-results/home-chromium/home-1-actual.png": NEW,
            "test-results/home-chromium/home-1-diff.png": NEW,
            "test-results/home-chromium/test-failed-1.png": NEW,
        },
        "Playwright",
        {"test-results/home-chromium/home-1.png": ("home-1-expected.png", "home-1-actual.png")},
    ),
    "Playwright with retries": (
        {
            f"test-results/home-chromium{retry}/home-1-{side}.png": picture
            for retry in ("", "-retry1", "-retry2")
            for side, picture in (("expected", OLD), ("actual", NEW if retry == "-retry2" else OLD))
        },
        "Playwright",
        {
            "test-results/home-chromium/home-1.png": ("home-1-expected.png", "home-1-actual.png"),
        },
    ),
    "pytest-mpl": (
        {
            "results/tests.test_a.test_line/baseline.png": OLD,
            "results/tests.test_a.test_line/result.png": NEW,
            "results/tests.test_a.test_line/result-failed-diff.png": NEW,
        },
        "pytest-mpl",
        {"results/tests.test_a.test_line": ("baseline.png", "result.png")},
    ),
    "matplotlib": (
        {
            "result_images/test_axes/line-expected.png": OLD,
            "result_images/test_axes/line.png": NEW,
            "result_images/test_axes/line-failed-diff.png": NEW,
            "result_images/test_axes/bar-expected_pdf.png": OLD,
            "result_images/test_axes/bar_pdf.png": NEW,
        },
        "matplotlib's image_comparison",
        {
            "result_images/test_axes/line.png": ("line-expected.png", "line.png"),
            "result_images/test_axes/bar_pdf.png": ("bar-expected_pdf.png", "bar_pdf.png"),
        },
    ),
    "backstop": (
        {
            "backstop_data/bitmaps_reference/home_0_phone.png": OLD,
            "backstop_data/bitmaps_test/20240101-090000/home_0_phone.png": OLD,
            "backstop_data/bitmaps_test/20240102-090000/home_0_phone.png": NEW,
            "backstop_data/bitmaps_test/20240102-090000/failed_diff_home_0_phone.png": NEW,
        },
        "BackstopJS",
        {"home_0_phone.png": ("home_0_phone.png", "home_0_phone.png")},
    ),
    "reg-suit": (
        {".reg/expected/a/b.png": OLD, ".reg/actual/a/b.png": NEW, ".reg/diff/a/b.png": NEW},
        "reg-suit",
        {"a/b.png": ("b.png", "b.png")},
    ),
    "loki": (
        {".loki/reference/x.png": OLD, ".loki/current/x.png": NEW, ".loki/difference/x.png": NEW},
        "Loki",
        {"x.png": ("x.png", "x.png")},
    ),
    "cypress-visual-regression": (
        {
            "cypress/snapshots/base/home.cy.js/home-base.png": OLD,
            "cypress/snapshots/actual/home.cy.js/home-actual.png": NEW,
            "cypress/snapshots/diff/home.cy.js/home-diff.png": NEW,
        },
        "cypress-visual-regression",
        {"home.cy.js/home.png": ("home-base.png", "home-actual.png")},
    ),
    "cypress-image-diff": (
        {
            "cypress-image-diff-screenshots/baseline/home.png": OLD,
            "cypress-image-diff-screenshots/comparison/home.png": NEW,
            "cypress-image-diff-screenshots/diff/home.png": NEW,
        },
        "cypress-image-diff",
        {"home.png": ("home.png", "home.png")},
    ),
    "received": (
        {
            "__image_snapshots__/a-snap.png": OLD,
            "__image_snapshots__/passed-snap.png": OLD,
            "__image_snapshots__/__received_output__/a-snap-received.png": NEW,
            "__image_snapshots__/__diff_output__/a-snap-diff.png": NEW,
        },
        "jest-image-snapshot",
        {
            "__image_snapshots__/a-snap.png": (
                "a-snap.png",
                "a-snap-received.png",
            )
        },
    ),
    "names": (
        {"login_before.png": OLD, "login_after.png": NEW, "logo.png": OLD},
        "pairs by name",
        {"login.png": ("login_before.png", "login_after.png")},
    ),
    "before beside after": (
        {"before/x/a.png": OLD, "after/x/a.png": NEW},
        "before and",
        {"x/a.png": ("a.png", "a.png")},
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_old_and_new_of_every_tool(tmp_path, name):
    files, tool, wanted = FILES[name]
    for path, pixels in files.items():
        save(pixels, tmp_path / "project" / path)
    found = match_results(tmp_path / "project", tmp_path / "scratch")
    assert tool in found.source
    assert {pair.pair_id: (pair.before.name, pair.after.name) for pair in found.pairs} == wanted
    for pair in found.pairs:
        assert np.array_equal(np.asarray(Image.open(pair.before)), OLD)
        assert np.array_equal(np.asarray(Image.open(pair.after)), NEW)


@pytest.mark.parametrize("direction", ["horizontal", "vertical"])
def test_the_new_picture_is_cut_out_of_three(tmp_path, direction):
    axis = 1 if direction == "horizontal" else 0
    snapshots = tmp_path / "cypress" / "snapshots" / "home.cy.js"
    save(OLD, snapshots / "home.snap.png")
    save(np.concatenate([OLD, 0 * OLD, NEW], axis), snapshots / "__diff_output__" / "home.diff.png")
    found = match_results(tmp_path / "cypress", tmp_path / "scratch")
    (pair,) = found.pairs
    assert pair.pair_id == "snapshots/home.cy.js/home.snap.png" and pair.trouble == ""
    assert np.array_equal(np.asarray(Image.open(pair.after)), NEW)
    assert "updateSnapshot" in found.accepted


def test_a_picture_of_the_difference_alone_is_no_new_picture(tmp_path):
    save(OLD, tmp_path / "x-snap.png")
    save(NEW[:-1], tmp_path / "__diff_output__" / "x-snap-diff.png")
    (pair,) = match_results(tmp_path, tmp_path / "scratch").pairs
    assert "storeReceivedOnFailure" in pair.trouble


def test_an_added_picture_of_a_tool_has_no_old_one(tmp_path):
    for number in (1, 2):
        save(NEW, tmp_path / f"t/x-{number}-actual.png")
    save(OLD, tmp_path / "t/x-1-expected.png")
    found = match_results(tmp_path, tmp_path / "scratch")
    told = [(pair.pair_id, pair.status) for pair in found.pairs]
    assert told == [("t/x-1.png", "both"), ("t/x-2.png", "added")]


def test_a_folder_of_single_pictures_says_what_is_recognised(tmp_path):
    save(OLD, tmp_path / "a.png")
    with pytest.raises(DatasetError, match=r"no pairs of pictures.*Playwright.*BackstopJS.*a_before\.png"):
        match_results(tmp_path, tmp_path / "scratch")


def test_no_picture_is_lost_where_two_names_are_one_without_the_tools_ending():
    pictures = {"a.png": Path("1"), "a-base.png": Path("2"), "b-base.png": Path("3")}
    assert _without("-base", pictures) == {"a.png": Path("1"), "a-base.png": Path("2"), "b.png": Path("3")}


def test_links_that_lead_out_of_the_results_are_left_out(tmp_path):
    save(screen(5), tmp_path / "private" / "x.png")
    folder = tmp_path / "results"
    for side in ("before", "after"):
        save(screen(1), folder / side / "a.png")
    (folder / "after" / "b.png").symlink_to("../../private/x.png")
    (folder / "after" / "c.png").symlink_to("../before/a.png")
    found = match_results(folder, tmp_path)
    assert [pair.pair_id for pair in found.pairs] == ["a.png", "c.png"]
    assert found.notes == (
        f"Links that lead out of {folder}, not compared: 1 (first: {folder}/after/b.png).",
    )


def test_a_side_of_the_results_that_is_a_link_elsewhere_is_left_out(tmp_path):
    save(screen(5), tmp_path / "private" / "x.png")
    folder = tmp_path / "results"
    save(screen(1), folder / "before" / "x.png")
    (folder / "after").symlink_to("../private")
    found = match_results(folder, tmp_path)
    assert [pair.status for pair in found.pairs] == ["removed"] and "lead out" in found.notes[0]
    alone = tmp_path / "alone"
    alone.mkdir()
    (alone / "a_before.png").symlink_to("../private/x.png")
    with pytest.raises(DatasetError, match=r"no pairs of pictures.*Links that lead out of"):
        match_results(alone, tmp_path)
