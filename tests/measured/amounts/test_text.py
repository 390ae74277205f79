"""What became of text at a change, drawn with a known truth."""

import numpy as np
import pytest
from tests.drawn_text import draw, page, text

from whatchanged.measured.amounts.text import text_change, underline_change
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.kinds import Finding

BOX = (10, 8, 250, 40)


def changed(before, after, kind="restyled", aspect="shape", box=BOX):
    return text_change(before, after, DetectedChange(Finding(kind, aspect, 0.4), box, box, 200))


def test_text_that_only_moved_has_moved():
    one = changed(text(), text(at=(28, 15)))
    assert (one.finding.kind, one.finding.values) == ("moved", {"dx": 8, "dy": 3})
    assert one.box_after[0] - one.box_before[0] == 8


def test_text_of_another_colour_was_recoloured():
    one = changed(text(), text(color=(200, 30, 30)))
    assert (one.finding.kind, one.finding.aspect) == ("recolored", "ink")
    assert one.finding.values["color_after"] == "#c81e1e"


def stack(**options):
    return np.concatenate(
        [text(**options), text("Orders of last week", **options), text("Log in", **options)]
    )


def test_several_lines_agree():
    one = changed(stack(), stack(bold=True), box=(10, 0, 250, 144))
    assert one.finding.aspect == "weight"


def test_lines_that_do_not_agree_tell_nothing():
    mixed = np.concatenate([text(bold=True), text("Invoices by country"), text("Log in", at=(60, 12))])
    assert changed(stack(), mixed, box=(10, 0, 250, 144)) is None


def test_other_words_and_pictures_are_left_alone():
    assert changed(text(), text("Invoices by country"), "rewritten", "text") is None
    noise = np.random.default_rng(1).integers(0, 255, (48, 260, 3), dtype=np.uint8)
    assert changed(text(), noise) is None


def test_text_that_runs_upwards():
    before, after = (np.rot90(text(bold=bold)).copy() for bold in (False, True))
    one = changed(before, after, box=(8, 10, 40, 250))
    assert one.finding.aspect == "weight"


@pytest.mark.parametrize("on", [True, False])
def test_a_line_alone_under_text(on):
    plain, under = text(), text(underlined=True)
    base = round(12 + 1.15 * 16)
    box = (20, base, 175, base + 1)
    finding, around = underline_change(*((plain, under) if on else (under, plain)), box)
    assert (finding.aspect, finding.values) == ("decoration", {"on_after": on})
    assert around[1] < base - 8 and around[3] == base + 1


def test_a_line_under_nothing_is_no_underline():
    ruled = draw(page(), rectangle=((20, 50, 140, 51), {"fill": "black"}))
    assert underline_change(page(), ruled, (20, 50, 141, 52)) is None
