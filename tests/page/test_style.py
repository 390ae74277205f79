import re
from pathlib import Path

import pytest

import whatchanged.page

CSS = (Path(whatchanged.page.__file__).parent / "style.css").read_text(encoding="utf-8")
COLORS = {
    name: ends for name, *ends in re.findall(r"--(\w+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", CSS)
}


def luminance(color):
    """Relative luminance as WCAG 2 defines it."""
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("mode", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("ground", ["ground", "card", "well"])
@pytest.mark.parametrize("ink", ["ink", "quiet", "accent", "good", "bad", "doubt"])
def test_text_can_be_read(ink, ground, mode):
    """At least 4.5 to 1, as WCAG 2 asks of text at level AA."""
    assert contrast(COLORS[ink][mode], COLORS[ground][mode]) >= 4.5


def test_numbers_on_boxes_can_be_read():
    (change,) = re.findall(r"--change: (#[0-9a-f]{6})", CSS)
    assert contrast(change, "#ffffff") >= 4.5
