"""What became of a line of text, drawn with a known truth."""

import numpy as np
import pytest
from support.drawn_text import text

from whatchanged.measured.amounts.coverage import read_coverage
from whatchanged.measured.amounts.type import LineStep, attribute_of, compare_lines, read_line, type_change


def line(**options):
    """A line of text as it is read."""
    covered = read_coverage(text(**options))
    assert covered is not None
    read = read_line(covered.ink)
    assert read is not None
    return read


@pytest.mark.parametrize("size", [13, 16, 22])
def test_bolder_and_lighter(size):
    plain, bold = line(size=size), line(size=size, bold=True)
    finding = type_change(plain, bold)
    assert finding.aspect == "weight" and finding.values["amount_after"] > 1
    finding = type_change(bold, plain)
    assert finding.aspect == "weight" and finding.values["amount_after"] < 1


@pytest.mark.parametrize(("before", "after"), [(14, 16), (16, 20), (20, 16), (24, 18)])
def test_larger_and_smaller(before, after):
    finding = type_change(line(size=before), line(size=after))
    assert finding.aspect == "text size"
    assert finding.values["factor"] == pytest.approx(after / before, rel=0.07)
    larger = finding.values["amount_after"] > finding.values["amount_before"]
    assert larger == (after > before)


@pytest.mark.parametrize("on", [True, False])
def test_italics(on):
    upright, slanted = line(size=18), line(size=18, slant=0.25)
    finding = type_change(upright, slanted) if on else type_change(slanted, upright)
    assert (finding.aspect, finding.values) == ("slant", {"on_after": on})


@pytest.mark.parametrize("on", [True, False])
def test_an_underline(on):
    plain, under = line(), line(underlined=True)
    assert (plain.underlined, under.underlined) == (False, True)
    finding = type_change(plain, under) if on else type_change(under, plain)
    assert (finding.aspect, finding.values) == ("decoration", {"on_after": on})


@pytest.mark.parametrize(("across", "down", "aspect"), [(1.4, 1.35, "weight"), (1.12, 1.2, "face")])
def test_more_ink_is_bold_only_if_the_strokes_are_thicker(across, down, aspect):
    step = LineStep(0.26, 1.0, 1.05, 1.3, (1.3, 1.3, 1.3), 0.0, 1.0, across, down, 8, (16.0, 16.0))
    assert attribute_of(step, same_words=True).aspect == aspect


@pytest.mark.parametrize(
    ("contrast", "left_over", "width", "aspect"),
    [(1.2, 0.15, 1.05, "weight"), (1.0, 0.15, 1.05, None), (1.2, 0.15, 1.0, None), (1.2, 0.26, 1.05, "face")],
    ids=["bolder", "of the same strength", "only another colour", "other letters"],
)
def test_slightly_bolder_letters_are_wider_and_stronger(contrast, left_over, width, aspect):
    areas = (1.12, 1.15, 1.12)
    step = LineStep(left_over, 1.0, width, 1.13, areas, 0.0, 1.0, 1.14, 1.16, 4, (12.0, 12.0))
    found = attribute_of(step, same_words=True, contrast=contrast)
    assert (None if found is None else found.aspect) == aspect
    paler = LineStep(
        left_over, 1.0, 1 / width, 0.88, (0.9, 0.88, 0.89), 0.0, 1.0, 0.87, 0.87, 4, (12.0, 12.0)
    )
    found = attribute_of(paler, same_words=True, contrast=1 / contrast)
    assert (None if found is None else found.aspect) == aspect


def test_stroke_widths_are_measured():
    step = compare_lines(line(size=22), line(size=22, bold=True))
    assert step.across > 1.15 and step.across > step.down
    same = compare_lines(line(size=22), line(size=22, at=(20.5, 12.0)))
    assert same.across == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("spacing", [0.6, 1, 2])
def test_letter_spacing_by_little(spacing):
    finding = type_change(line(spacing=0.01), line(spacing=spacing))
    assert finding.aspect == "letter spacing"


def test_letter_spacing():
    close, wide = line(spacing=0.01), line(spacing=2)
    finding = type_change(close, wide)
    assert finding.aspect == "letter spacing" and finding.values["amount_after"] > 1


@pytest.mark.parametrize(
    "other",
    [
        {"at": (20.4, 12.0)},
        {"color": (30, 60, 160)},
        {"ground": (40, 40, 40), "color": (240, 240, 240)},
        {"words": "Invoices and letters"},
        {"words": "Settings and reposts"},
    ],
)
def test_what_is_none_of_these_is_not_guessed(other):
    assert type_change(line(), line(**other)) is None


def test_other_words_leave_more_over_than_bolder_ones():
    bold = compare_lines(line(), line(bold=True)).left_over
    other = compare_lines(line(), line(words="Invoices by country")).left_over
    assert bold < other


def test_another_face_is_told_of_words_that_were_read_alone():
    step = LineStep(0.3, 1.02, 0.93, 0.85, (0.85, 0.85, 0.85), 0.0, 0.93, 0.9, 0.9, 4, (16.0, 16.3))
    assert attribute_of(step, same_words=False) is None
    assert attribute_of(step, same_words=True).aspect == "face"


def test_much_wider_letters_of_about_the_same_height_are_another_typeface():
    step = LineStep(0.37, 1.17, 1.45, 1.27, (1.2, 1.3, 1.3), 0.0, 1.22, 1.1, 1.1, 76, (12.0, 14.0))
    assert attribute_of(step, same_words=True).aspect == "face"
    assert attribute_of(step, same_words=False) is None


@pytest.mark.parametrize("step", [6, 12, -4])
def test_an_icon_behind_a_line_that_moved_spaces_no_letters(step):
    lines = []
    for more in (0, step):
        ink = np.zeros((14, 130), np.float32)
        for left in range(5, 95, 9):  # Ten letters.
            ink[2:12, left : left + 6] = 1
        ink[3:11, 102 + more : 110 + more] = 1
        lines.append(read_line(ink))
    assert compare_lines(*lines).one_gap
    found = type_change(*lines, same_words=True)
    assert found is None or found.aspect != "letter spacing"
