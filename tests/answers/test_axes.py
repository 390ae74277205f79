"""Another range of a plot's axis, by its tick labels."""

from dataclasses import replace

import numpy as np
import pytest
from support.drawn_lines import reading

from whatchanged.answers import axes
from whatchanged.answers.axes import TickAxis, with_axis, without_axis
from whatchanged.measured import Statement
from whatchanged.measured.pixels.reading import Pixels

POSITIONS = (50.0, 150.0, 250.0)


def _curve(upside_down: bool = False, factor: float = 1.0, bumps: float = 1.0) -> Pixels:
    """Draw a blue curve whose values are scaled from the bottom (250) of a plot."""
    picture = np.full((300, 300, 3), 255, np.uint8)
    for column in range(50, 250):
        value = factor * (100 + 60 * np.sin(bumps * column / 30))
        row = round(50 + value if upside_down else 250 - value)
        picture[row - 2 : row + 2, column] = (30, 60, 220)
    return picture


def _axis(numbers: tuple[int, ...], horizontal: bool = False) -> TickAxis:
    """Return an axis with these numbers at the positions."""
    return TickAxis(horizontal, 40, POSITIONS, tuple(map(float, numbers)), tuple(map(str, numbers)))


def _told(monkeypatch: pytest.MonkeyPatch, pictures: tuple[Pixels, Pixels], numbers: tuple[int, ...]) -> str:
    """Return the sentence of a pair whose vertical axis showed 200 to 0 from top to bottom."""
    vertical = {0: _axis((200, 100, 0)), 1: _axis(numbers)}
    same = _axis((0, 1, 2), horizontal=True)
    monkeypatch.setattr(axes, "_axes", lambda _reader, side: [vertical[side], same])
    box = (50, 50, 250, 250)
    first = Statement("replaced", box, box, "Something looks different.", 0.5, values={"aspect": "part"})
    return with_axis([first], pictures)[0].sentence


def test_data_that_follows_its_axis_tells_the_range(monkeypatch: pytest.MonkeyPatch) -> None:
    sentence = _told(monkeypatch, (_curve(), _curve(factor=0.5)), (400, 200, 0))
    assert sentence == "The range of the vertical axis changed from 0\N{EN DASH}200 to 0\N{EN DASH}400."


def test_an_axis_is_inverted(monkeypatch: pytest.MonkeyPatch) -> None:
    sentence = _told(monkeypatch, (_curve(), _curve(upside_down=True)), (0, 100, 200))
    assert sentence == "The vertical axis was inverted."


def test_other_data_is_not_told_as_a_range(monkeypatch: pytest.MonkeyPatch) -> None:
    sentence = _told(monkeypatch, (_curve(), _curve(factor=0.5, bumps=2)), (400, 200, 0))
    assert sentence == "Something looks different."


def test_a_region_with_several_lines_of_words_has_no_axis() -> None:
    box = (50, 50, 250, 250)
    values = {"aspect": "axis limit", "axis": 1, "factor": 0.9}
    first = Statement("moved", box, box, "It was squeezed.", 0.6, values=values)
    lines = [reading(text, side=1) for text in ("Layers", "Browser", "Filters", "Story")]
    assert without_axis(first, lines).values == {"aspect": "part"}
    assert without_axis(first, lines[1:]) is first
    other = replace(first, values={"aspect": "position"})
    assert without_axis(other, lines) is other
