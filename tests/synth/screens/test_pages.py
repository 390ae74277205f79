"""Pages drawn by Chromium: the same bytes from the same numbers, and a truth that the pixels bear out.

Skipped without Chromium, the npm packages (in the cache folder, or where WHATCHANGED_STYLES says) or fonts.
"""

import io
from contextlib import ExitStack
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from whatchanged.synth.screens import FamilyOptions, browser, run
from whatchanged.synth.screens.browser import Browser, BrowserGone
from whatchanged.synth.screens.pages import family
from whatchanged.synth.screens.pages.components import buttons, menu, table, text_field
from whatchanged.synth.screens.pages.designs import OWN, find_modules, libraries, own_way
from whatchanged.synth.screens.pages.document import HTMLDocument, write_document
from whatchanged.synth.screens.pages.looks import random_look
from whatchanged.synth.screens.pages.making import candidates
from whatchanged.synth.screens.pages.noise import LOCAL, RENDERERS, SAME_WIDTHS, local_noise, words_stay
from whatchanged.synth.screens.pages.shown import Shown
from whatchanged.synth.screens.pages.writer import Writer
from whatchanged.synth.screens.visible import difference
from whatchanged.synth.screens.words import RandomTexts
from whatchanged.testing.worlds import check_drawer
from whatchanged.worlds import find_world
from whatchanged.worlds.screens.kinds import ASPECTS

SIZE = (500, 360)


@pytest.fixture(scope="module")
def pages(styles):
    with family.open_pages(FamilyOptions(styles, SIZE)) as opened:
        yield opened


def pixels(data):
    return np.asarray(Image.open(io.BytesIO(data)))


def pairs_of(pages, numbers, split="train", seed=4):
    return [pair for index in numbers for pair in pages.draw(seed, index, split)]


def test_a_document_gives_the_same_bytes_whatever_was_drawn_before(pages):
    first = pages.draw(9, 3, "train")
    pages.draw(9, 70, "test")
    assert pages.draw(9, 3, "train") == first
    assert 2 <= len(first) <= family.PAIRS


def test_browsers_that_end_are_opened_anew(pages):
    first = pages.draw(9, 3, "train")
    for opened, _ in pages._open.values():
        opened._process.kill()
        opened._process.wait()
    assert pages.draw(9, 3, "train") == first


def test_a_browser_that_does_not_answer_is_left(monkeypatch):
    with Browser() as silent:
        monkeypatch.setattr(browser, "PATIENCE", 0.2)
        with pytest.raises(BrowserGone, match=r"not answered for 0.2 seconds\. Give the same"):
            silent.run("new Promise(() => 0)")


def test_every_pair_has_several_changes_where_that_is_asked_for(styles):
    with family.open_pages(FamilyOptions(styles, SIZE, several=True)) as opened:
        counts = [len(pair.truth.changes) for pair in pairs_of(opened, range(4))]
    assert len(counts) >= 8
    assert set(counts) <= {0, 1, 2, 3}  # some are too faint to see
    assert np.mean([count >= 2 for count in counts]) >= 0.6


def test_designs_are_those_of_the_split(pages):
    for split, number in (("train", 0), ("val", 8), ("test", 9)):
        packages = {OWN} | {lib.name for lib in libraries() if lib.split == split}
        assert {pair.truth.design["library"] for pair in pages.draw(1, number, split)} <= packages


def test_a_narrow_picture_ends_where_its_content_does(styles, tmp_path):
    document = write_document(np.random.default_rng(0), own_way(), "train", SIZE)
    document = replace(document, body='<span class="w-chip" data-e="chip">x</span>', scale=1.0)
    variables = document.look.variables.replace("--w-width:", "--w-width:fit-content;--w-was:")
    look = replace(document.look, variables=variables)
    document = replace(document, look=look, root="lang=en", narrow=True, fitted=True, width=300, height=200)
    with Browser("grey", ("--allow-file-access-from-files",)) as browser:
        shown = Shown(browser, find_modules(styles), tmp_path)
        layout = shown.load(document, own_way())
        height, width = shown.photograph(layout).shape[:2]
    assert width < 200 and height < 150
    assert 0 <= width - layout.right < 1 and 0 <= height - layout.bottom < 1


def test_an_element_that_was_taken_away_is_not_a_candidate(styles, tmp_path):
    document = write_document(np.random.default_rng(0), own_way(), "train", SIZE)
    body = '<p data-e="text">one <span data-e="chip" class="w-chip">two</span></p><p data-e="text">three</p>'
    with Browser("grey", ("--allow-file-access-from-files",)) as browser:
        shown = Shown(browser, find_modules(styles), tmp_path)
        before = shown.load(replace(document, body=body, root="lang=en"), own_way())
        after = shown.change("screens.elements[1].textContent = 'one'")
    assert [e.element for e in before.elements] == ["page", "text", "chip", "text"]
    assert [e.i for e in candidates(before, SIZE)] == [0, 1, 2, 3]
    assert [e.i for e in candidates(after, SIZE)] == [0, 1, 3]
    assert after.elements[2].border == after.elements[2].size == 0


def test_truths_are_of_the_pictures(pages):
    for pair in pairs_of(pages, range(4)):
        before, after = pixels(pair.before), pixels(pair.after)
        truth = pair.truth
        assert (before.shape[1], before.shape[0]) == truth.size_before
        assert (after.shape[1], after.shape[0]) == truth.size_after
        assert before.shape != after.shape or np.any(before != after)
        assert truth.changes or truth.noise
        for change in truth.changes:
            assert change.aspect in ASPECTS[change.kind]
            for box, (width, height) in (
                (change.box_before, truth.size_before),
                (change.box_after, truth.size_after),
            ):
                assert box is None or (0 <= box[0] < box[2] <= width and 0 <= box[1] < box[3] <= height)


@pytest.mark.slow
def test_pixels_differ_where_the_truth_says_and_hardly_elsewhere(pages, monkeypatch):
    """One change and no noise: where pixels differ, something is told to have changed or moved."""
    monkeypatch.setattr(family, "PLANS", {"change": 1.0, "changes": 0.0, "both": 0.0, "noise": 0.0})
    results = []
    for pair in pairs_of(pages, range(0, 160, 8)):
        for change in pair.truth.changes:
            differs = difference(pixels(pair.before), pixels(pair.after)) > 24
            told = np.zeros(differs.shape, bool)
            boxes = [change.box_before, change.box_after]
            boxes += [box for motion in change.consequences for box in (motion.box_before, motion.box_after)]
            for left, top, right, bottom in filter(None, boxes):
                told[max(0, top - 3) : bottom + 3, max(0, left - 3) : right + 3] = True
            results.append(np.count_nonzero(differs & ~told) <= 0.1 * np.count_nonzero(differs))
    assert len(results) > 50
    assert np.mean(results) >= 0.9


@pytest.mark.slow
def test_every_noise_alters_pixels_and_leaves_words_in_place(styles, tmp_path):
    """A renderer or a way of drawing without effect would teach nothing: it must fail here."""
    library = next(lib for lib in libraries() if lib.name == "bootstrap")
    rng = np.random.default_rng(0)
    look = random_look(rng, "train", "Roboto", "en", dark=False, width="460px", own=False)
    writer = Writer(rng, library, RandomTexts(rng, "en"))
    body = "".join(component(writer) for component in (menu, buttons, text_field, table))
    look = replace(look, variables=f"{look.variables};--w-size:14px", sheet="")
    document = HTMLDocument(body, look, "lang=en", 460, 360, 1.0, False, False, {})
    with ExitStack() as stack:
        layouts, pictures = {}, {}
        for name, (fonts, gpu) in RENDERERS.items():
            browser = stack.enter_context(Browser(fonts, ("--allow-file-access-from-files",), gpu))
            shown = Shown(browser, find_modules(styles), tmp_path)
            layouts[name] = shown.load(document, library)
            pictures[name] = shown.photograph(layouts[name])
            if name == SAME_WIDTHS[0][0]:
                for way in LOCAL:
                    shown.reset()
                    _, script = local_noise(np.random.default_rng(0), layouts[name], way)
                    there = shown.change(script)
                    assert words_stay(layouts[name].words, there.words), way
                    assert np.any(shown.photograph(there) != pictures[name]), way
    for group in SAME_WIDTHS:
        first = group[0]
        for name in group[1:]:
            assert words_stay(layouts[first].words, layouts[name].words), name
            assert np.any(pictures[first] != pictures[name]), name


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pages", "sites"])
def test_the_drawer_keeps_the_contract(name, styles, tmp_path, monkeypatch):
    """The same bytes with one worker and with two, others from another seed, and true captions."""
    monkeypatch.setattr(run, "PART", 4)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    place = tmp_path / "cache" / "whatchanged"
    place.mkdir(parents=True)
    (place / "screens").symlink_to(styles)
    world = find_world("screens")
    family, *others = world.drawers[0].options
    drawer = replace(world.drawers[0], options=(replace(family, default=name), *others))
    check_drawer(replace(world, drawers=(drawer,)), "screens", tmp_path, scenes=10, size=SIZE)
