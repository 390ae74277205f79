"""Plots: where their elements lie, against the pixels; changes, against what they say of themselves."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from whatchanged.errors import WhatchangedError
from whatchanged.synth.screens import FamilyOptions, find_family
from whatchanged.synth.screens.edits import nothing_moved
from whatchanged.synth.screens.plots import changes, looks
from whatchanged.synth.screens.plots.family import MatplotlibMaker
from whatchanged.synth.screens.plots.plot import Axis, Plot, Series, Text
from whatchanged.synth.screens.plots.sampling import nice_step, random_plot
from whatchanged.synth.screens.plots.themes import MAPS, THEMES
from whatchanged.synth.screens.plots.vega_spec import take_data, ticks_of, vega_spec
from whatchanged.worlds.screens.elements import ELEMENTS
from whatchanged.worlds.screens.kinds import ASPECTS

RED, BLUE = "#e00000", "#0000e0"
BARS = Plot(
    form="bar",
    theme="default",
    font="DejaVu Sans",
    width=300,
    height=200,
    scale=1.0,
    series=(Series("one", (4.0, 2.0, 6.0), RED, colors=((1, BLUE),)),),
    x=Axis(-0.6, 2.6, 1.0),
    y=Axis(0.0, 8.0, 2.0, label=Text("height", 9)),
    categories=("a", "b", "c"),
    title=Text("Three bars", 12),
)


def box_of_colour(pixels: np.ndarray, color: str) -> tuple[int, int, int, int]:
    wanted = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)])
    there = (pixels == wanted).all(axis=2)
    rows, columns = np.flatnonzero(there.any(axis=1)), np.flatnonzero(there.any(axis=0))
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


@pytest.fixture(scope="module")
def options() -> FamilyOptions:
    found = next((p for p in (Path.home() / "npm").glob("*/node_modules") if (p / "vega").is_dir()), None)
    return FamilyOptions(found, (1280, 800))


@pytest.fixture(scope="module", params=["plots", "charts"])
def maker(request: pytest.FixtureRequest, options: FamilyOptions):
    if request.param == "plots":
        pytest.importorskip("matplotlib")
    opened = find_family(request.param)(options)
    try:
        family = opened.__enter__()
    except WhatchangedError as error:
        pytest.skip(str(error))
    yield family.maker
    opened.__exit__(None, None, None)


def test_a_bar_lies_where_its_colour_is(maker):
    drawn = maker.draw(BARS, maker.usual)
    results = box_of_colour(drawn.pixels, BLUE)
    assert np.allclose(drawn.elements["item 0 1"].box, results, atol=1.5)


def test_a_title_lies_where_the_picture_without_it_differs(maker):
    drawn, bare = (maker.draw(plot, maker.usual) for plot in (BARS, replace(BARS, title=None)))
    rows, columns = np.nonzero((drawn.pixels != bare.pixels).any(axis=2))
    left, top, right, bottom = drawn.elements["title"].box
    assert left - 1.5 <= columns.min()
    assert columns.max() < right + 1.5
    assert top - 1.5 <= rows.min()
    assert rows.max() < bottom + 1.5
    assert columns.max() - columns.min() > 0.8 * (right - left)
    assert drawn.elements["title"].text == "Three bars"


def test_a_bar_of_twice_the_value_is_twice_as_high(maker):
    placed = maker.draw(BARS, maker.usual).elements
    heights = [placed[f"item 0 {i}"].box[3] - placed[f"item 0 {i}"].box[1] for i in range(3)]
    assert heights[0] == pytest.approx(2 * heights[1], abs=2)
    assert heights[2] == pytest.approx(3 * heights[1], abs=3)


def test_half_of_the_noise_alters_pixels_and_leaves_elements_in_place(maker):
    rng = np.random.default_rng(5)
    usual = maker.draw(BARS, maker.usual)
    noisy = [maker.draw(BARS, maker.noisy(rng, BARS)[0]) for _ in range(10)]
    kept = [drawn for drawn in noisy if nothing_moved(usual.elements, drawn.elements)]
    assert sum(bool((drawn.pixels != usual.pixels).any()) for drawn in kept) >= 5


@pytest.mark.parametrize(
    "way", [way for way, _ in (*changes.WAYS, *looks.WAYS)], ids=lambda way: way.__name__
)
def test_every_change_is_made_of_some_plot_and_says_what_it_is(way):
    rng = np.random.default_rng(0)
    made = 0
    for _ in range(400):
        plot = random_plot(rng, "train", ["DejaVu Sans"])
        step = way(rng, plot)
        if step is None:
            continue
        changed, edit = step
        made += 1
        assert changed != plot
        assert edit.element in ELEMENTS
        assert edit.aspect in ASPECTS[edit.kind], (edit.kind, edit.aspect)
        if made == 10:
            return
    assert made >= 3


def test_fonts_that_matplotlib_has_not_listed_are_told(monkeypatch):
    maker = MatplotlibMaker()
    monkeypatch.setattr(maker, "known", frozenset())
    with pytest.raises(WhatchangedError, match=r"holds none of DejaVu Sans, .*fontlist-\*\.json"):
        maker.document(np.random.default_rng(0), "train")


@pytest.mark.parametrize(("dash", "told"), [("solid", {True}), ("dashed", {False})])
def test_of_a_line_it_is_told_whether_it_became_dashed(dash, told):
    """Of dots nothing is told."""
    one = replace(BARS, form="line", series=(replace(BARS.series[0], dash=dash),))
    results = set()
    for seed in range(30):
        made = looks.line_style(np.random.default_rng(seed), one)
        assert made is not None
        changed, edit = made
        both = {dash, changed.series[0].dash}
        assert ("on_after" in edit.values) is ("dashed" in both)
        results |= {edit.values[name] for name in ("on_after",) if name in edit.values}
    assert results == told


def test_splits_share_no_theme_and_no_colour_map():
    for table in (THEMES, MAPS):
        names = [name for split in ("train", "val", "test") for name in table[split]]
        assert len(names) == len(set(names))
        assert all(table[split] for split in ("train", "val", "test"))


@pytest.mark.parametrize(
    ("span", "wanted", "step"), [(10, 5, 2), (1, 4, 0.25), (900, 4, 250), (0.07, 7, 0.01)]
)
def test_a_step_is_one_two_or_five_times_a_power_of_ten(span, wanted, step):
    assert nice_step(span, wanted) == pytest.approx(step)


def test_ticks_are_the_multiples_of_the_step_within_the_limits():
    assert ticks_of(Axis(-1.0, 5.2, 2.0), 0) == [0.0, 2.0, 4.0]
    assert ticks_of(Axis(0.0, 1.0, 0.5), 3) == [0.0, 1.0, 2.0]


def test_a_specification_has_a_data_set_for_each_mark():
    spec = take_data(vega_spec(BARS))
    assert {mark["from"]["data"] for mark in spec["marks"]} == {one["name"] for one in spec["data"]}
    assert spec["padding"]["left"] + spec["width"] + spec["padding"]["right"] == BARS.width
