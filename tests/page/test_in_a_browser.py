"""The page's script, as somebody uses it: with keys, in a headless Chromium, from a file."""

import json
import shutil
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from whatchanged.page import Group, Page, Pair, write_page

pytestmark = pytest.mark.slow
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'é"
SIZE = (60, 40)
VIEWS = ("before", "after", "side-by-side", "blink", "slider", "overlay", "difference")


@pytest.fixture(scope="module")
def browser():
    if not (shutil.which("chromium") or shutil.which("google-chrome")):
        pytest.skip("no Chromium here")
    root = str(Path(__file__).parents[2])
    sys.path.insert(0, root)
    from whatchanged.synth.screens.browser import Browser

    with Browser() as opened:
        yield opened
    sys.path.remove(root)


def changed(number, kind="moved"):
    """A pair in which the square of after.png appeared."""
    change = {"kind": kind, "sentence": f"It {kind}.", "box_before": None, "box_after": [40, 20, 50, 30]}
    return {
        "caption": f"Number {number} {kind}.",
        "verdict": "changed",
        "no_change": number / 100,
        "answer": "measured",
        "changes": [change],
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A grey picture before, the same with a red square after, and one that is a hardly lighter grey."""
    made = tmp_path_factory.mktemp("page")
    before = np.full((SIZE[1], SIZE[0], 3), 100, np.uint8)
    after = before.copy()
    after[20:30, 40:50] = (255, 0, 0)
    for name, pixels in (("before", before), ("after", after), ("lighter", before + np.uint8(2))):
        Image.fromarray(pixels).save(made / f"{name}.png")
    return made


@pytest.fixture(scope="module")
def shown(folder):
    """The address of a page of groups: 30 alike pairs, the third of them odd; two of noise; four others."""
    before, after = folder / "before.png", folder / "after.png"
    pairs = [Pair(f"name-{i}.png", before, after, changed(i), tags={"browser": "firefox"}) for i in range(30)]
    noise = {"verdict": "noise", "caption": "Nothing visible changed.", "no_change": 0.9}
    maps = np.zeros((2, 20, 30))
    maps[1, 12, 22] = 1.0  # its middle lies at x = 45, y = 25
    pairs += [Pair(f"noise-{i}.png", before, folder / "lighter.png", noise) for i in range(2)]
    pairs.append(Pair(HOSTILE, before, after, {**changed(50, "added"), "caption": HOSTILE}, heatmaps=maps))
    pairs.append(Pair("gone.png", folder / "gone.png", after, {"error": "no such file"}))
    pairs.append(Pair("new.png", None, after, references=["a reference"]))
    pairs.append(Pair("wide.png", before, after, changed(60, "resized"), ignored=[(0, 0, 5, 5)]))
    groups = [
        Group("All moved.", [2, 0, 1, *range(3, 30)], odd=[2]),
        Group("Nothing visible changed.", [30, 31], closed=True),
    ]
    write_page(folder / "page.html", Page("Title", pairs, groups=groups))
    return (folder / "page.html").as_uri()


@pytest.fixture
def page(browser, shown):
    browser.open(shown)
    yield browser
    told = [json.dumps(complaint) for complaint in browser.complaints()]
    # The browser itself says that a picture is not there; nothing else is wrong.
    assert [text for text in told if "ERR_FILE_NOT_FOUND" not in text or "gone.png" not in text] == []


def names(page):
    return page.run("[...document.querySelectorAll('#list article .id')].map((name) => name.textContent)")


def headings(page):
    return page.run("[...document.querySelectorAll('.group')].map((title) => title.textContent)")


def count(page):
    return page.run("document.getElementById('count').textContent")


def set_value(page, element, value, event="change"):
    page.run(
        f"{{ const e = document.querySelector({json.dumps(element)}); e.value = {json.dumps(value)};"
        f" e.dispatchEvent(new Event('{event}')); }}"
    )


def viewer(page):
    """What the viewer shows: nothing where it is closed."""
    return page.run("viewer.open ? [stage.className.split(' ')[0], current.id] : null")


def loaded(page):
    """Wait until the pictures of the viewer are there."""
    page.run(
        "Promise.all([...stage.querySelectorAll('img')].map((i) => i.decode().catch(() => 0)))"
        ".then(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))"
    )


def seen_at(page, x, y):
    """The colour on the screen at a point of the first sheet, in pixels of the picture."""
    loaded(page)
    box = page.run("stage.querySelector('.sheet').getBoundingClientRect().toJSON()")
    across = box["x"] + (x + 0.5) * box["width"] / SIZE[0]
    down = box["y"] + (y + 0.5) * box["height"] / SIZE[1]
    return page.photograph().getpixel((round(across), round(down)))


def place_of(page, name):
    """Left, top, right, bottom of an element in the viewer, in pixels of the picture."""
    sheet, element = (
        page.run(f"stage.querySelector('{one}').getBoundingClientRect().toJSON()") for one in (".sheet", name)
    )
    across, down = SIZE[0] / sheet["width"], SIZE[1] / sheet["height"]
    return [
        (element["left"] - sheet["left"]) * across,
        (element["top"] - sheet["top"]) * down,
        (element["right"] - sheet["left"]) * across,
        (element["bottom"] - sheet["top"]) * down,
    ]


def test_groups_come_first_odd_members_first_and_fold(page):
    assert count(page) == "36 of 36 pairs"
    assert headings(page) == [
        "30 pairsAll moved.1 with more than that, first",
        "2 pairsNothing visible changed.",
        "4 pairsIn no group",
    ]
    first = [f"name-{i}.png" for i in (2, 0, 1, 3, 4, 5)]
    assert names(page) == [*first, HOSTILE, "gone.png", "new.png", "wide.png"]
    page.run("document.querySelector('.rest').click()")
    assert len(names(page)) == 34
    page.run("document.querySelectorAll('.fold')[0].click()")
    assert names(page)[0] == HOSTILE
    assert page.run("document.activeElement.textContent").startswith("30 pairs")
    page.press("Enter")  # opens it again
    assert names(page)[0] == "name-2.png"
    page.run("document.querySelectorAll('.fold')[1].click()")
    assert "noise-1.png" in names(page)


def test_search_filters_and_orders(page):
    page.press("/")
    for letter in "NUMBER 7":
        page.press(letter)
    assert count(page) == "3 of 36 pairs"
    assert names(page) == ["name-7.png", "name-17.png", "name-27.png"]
    set_value(page, "#text", "", "input")
    set_value(page, "[aria-label='Only one kind']", "resized")
    assert names(page) == ["wide.png"]
    set_value(page, "[aria-label='Only one kind']", "")
    set_value(page, "[aria-label='Only one verdict']", "failed")
    assert names(page) == ["gone.png"]
    set_value(page, "[aria-label='Only one verdict']", "")
    set_value(page, "#order", "by name")
    assert headings(page) == [] and names(page)[-1] == "wide.png"
    assert names(page).index("name-3.png") < names(page).index("name-20.png")
    set_value(page, "#order", "surest change first")
    assert names(page)[:2] == ["name-0.png", "name-1.png"]
    # one value alone is nothing to choose from
    assert page.run("document.querySelectorAll('#filters select').length") == 2


def test_keys_open_step_through_and_close_the_viewer(page):
    page.press("j")
    assert page.run("document.activeElement.ariaLabel") == "Look closely at name-2.png"
    page.press("Enter")
    assert viewer(page) == ["side-by-side", "name-2.png"]
    for key, wanted in zip("1234567", VIEWS, strict=True):
        page.press(key)
        assert viewer(page)[0] == wanted
    page.press("ArrowRight")
    assert viewer(page) == ["difference", "name-0.png"]
    page.press("k")
    page.press("k")  # there is nothing before the first
    assert viewer(page)[1] == "name-2.png"
    assert page.run("location.hash") == "#name-2.png"
    page.press("Escape")
    assert viewer(page) is None
    assert page.run("document.activeElement.ariaLabel") == "Look closely at name-2.png"


def test_one_click_shows_the_words_one_by_one(browser, folder):
    """Both pictures once for each word, the highest place of its map where it belongs."""
    pictures = folder / "before.png", folder / "after.png"
    maps = np.zeros((2, 20, 30))
    maps[1, 12, 22] = 1.0
    known = Pair("known.png", *pictures, {}, words=[("the", np.zeros((2, 20, 30))), (HOSTILE, maps)])
    write_page(folder / "words.html", Page("Title", [known, Pair("unknown.png", *pictures, {})]))
    browser.open((folder / "words.html").as_uri())
    assert browser.run("document.querySelectorAll('.foot button').length") == 3  # one of the pairs has words
    browser.run("document.querySelector('[aria-label=\"Where each word of known.png looked\"]').click()")
    assert viewer(browser) == ["words", "known.png"]
    titles = "[...document.querySelectorAll('#stage .word figcaption')].map((title) => title.textContent)"
    assert browser.run(titles) == ["the", HOSTILE]
    shown = (
        "[...document.querySelectorAll('#stage .word')].map((one) => one.querySelectorAll('canvas').length)"
    )
    assert browser.run(shown) == [2, 2]
    alpha = (
        "[...document.querySelectorAll('#stage .word canvas')].map((drawing) => {"
        " const bytes = drawing.getContext('2d').getImageData(0, 0, 30, 20).data;"
        " return [...bytes].flatMap((byte, i) => i % 4 === 3 && byte ? [(i - 3) / 4] : []); })"
    )
    assert browser.run(alpha) == [[], [], [], [12 * 30 + 22]]
    browser.press("j")
    assert viewer(browser) == ["side-by-side", "unknown.png"]
    browser.press("k")
    browser.press("8")
    assert viewer(browser) == ["words", "known.png"]


def test_a_name_that_is_not_utf_8_has_an_address(browser, folder):
    """Half a surrogate pair stands for a byte of such a name; no address can hold it."""
    name = "\udcff.png"
    write_page(folder / "odd.png.html", Page("Title", [Pair(name, folder / "before.png", None, {})]))
    address = (folder / "odd.png.html").as_uri()
    browser.open(address)
    browser.run("openViewer(0)")
    assert browser.run("location.hash") == "#%EF%BF%BD.png"
    browser.open("about:blank")
    browser.open(f"{address}#%EF%BF%BD.png")
    assert browser.run("document.getElementById('viewer').open")


def test_before_after_and_difference_show_the_pixels(page):
    page.run("openViewer(0); toggle('boxes')")
    page.press("1")
    assert seen_at(page, 45, 25) == (100, 100, 100)
    page.press("2")
    assert seen_at(page, 45, 25) == (255, 0, 0)
    page.press("7")
    assert seen_at(page, 45, 25) == (255, 255, 255)  # 155, 100, 100 amplified 8 times
    assert seen_at(page, 10, 10) == (0, 0, 0)


def test_noise_is_one_click_from_its_amplified_pixels(page):
    page.run("document.querySelectorAll('.fold')[1].click()")
    page.run("document.querySelector('article[data-place=\"30\"] .foot button').click()")
    assert viewer(page) == ["difference", "noise-0.png"]
    assert seen_at(page, 10, 10) == (16, 16, 16)  # 2 levels, 8 times
    set_value(page, "#range", "6", "input")
    assert seen_at(page, 10, 10) == (128, 128, 128)


def test_slider_and_overlay_follow_their_range(page):
    page.run("openViewer(0); toggle('boxes')")
    page.press("5")
    set_value(page, "#range", "90", "input")
    assert seen_at(page, 45, 25) == (100, 100, 100)
    set_value(page, "#range", "10", "input")
    assert seen_at(page, 45, 25) == (255, 0, 0)
    page.run("document.getElementById('range').focus()")
    page.press("ArrowRight")  # moves the slider, not to the next pair
    assert page.run("range.value") == "11" and viewer(page)[1] == "name-0.png"
    page.press("6")
    set_value(page, "#range", "40", "input")
    assert seen_at(page, 45, 25) == pytest.approx((162, 60, 60), abs=2)


def test_blink_shows_both_pictures_by_turns_and_stops(page):
    page.run("openViewer(0); toggle('boxes')")
    page.press("4")
    seen = set()
    for _ in range(8):
        seen.add(seen_at(page, 45, 25))
        time.sleep(0.2)
    assert seen == {(100, 100, 100), (255, 0, 0)}
    page.press(" ")  # by hand from now on
    first = seen_at(page, 45, 25)
    time.sleep(0.8)
    assert seen_at(page, 45, 25) == first
    page.press(" ")
    assert seen_at(page, 45, 25) != first


def test_boxes_and_lines_lie_where_they_belong(page):
    page.run("openViewer(pairs.find((pair) => pair.outlines).place)")
    page.press("2")
    loaded(page)
    assert place_of(page, ".box.change") == pytest.approx([40, 20, 50, 30], abs=2)
    left, top, right, bottom = place_of(page, ".outline0")
    assert ((left + right) / 2, (top + bottom) / 2) == pytest.approx((45, 25), abs=0.5)
    page.press("w")
    assert page.run("getComputedStyle(stage.querySelector('.marks svg')).display") == "none"
    page.press("b")
    assert page.run("getComputedStyle(stage.querySelector('.box')).display") == "none"


def test_pairs_with_one_picture_or_a_missing_one(page):
    page.run("openViewer(pairs.find((pair) => pair.id === 'new.png').place)")
    page.press("7")
    assert viewer(page) == ["after", "new.png"]
    page.run("openViewer(pairs.find((pair) => pair.id === 'gone.png').place)")
    page.press("3")
    loaded(page)
    assert page.run("stage.querySelector('.gone').textContent") == "no picture at gone.png"


def test_strangers_words_are_shown_as_words(page):
    assert page.run("document.querySelectorAll('script').length") == 2
    card = page.run("list.querySelector('article[data-place=\"32\"]').outerHTML")
    assert "<script" not in card and "onerror=alert(1)&gt;" in card
    page.run("openViewer(32)")
    assert page.run("document.querySelector('#viewer-name .id').textContent") == HOSTILE
    assert page.run("document.querySelector('#words .said').textContent") == HOSTILE


def test_an_address_names_a_pair(browser, shown):
    browser.open(shown + "#name-9.png")
    assert viewer(browser) == ["side-by-side", "name-9.png"]


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_is_wider_than_the_window(browser, shown, width):
    browser.open(shown, width, 800)
    assert browser.run("document.documentElement.scrollWidth") <= width
    browser.run("openViewer(0)")
    assert browser.run("document.documentElement.scrollWidth") <= width


def test_colours_follow_the_system_until_somebody_chooses(browser, shown):
    ground = "getComputedStyle(document.body).backgroundColor"
    browser.open(shown, dark=True)
    dark = browser.run(ground)
    browser.run("theme.click()")
    assert browser.run("theme.textContent") == "Colours: light"
    light = browser.run(ground)
    browser.run("theme.click()")
    assert browser.run(ground) == dark != light
    browser.run("theme.click()")  # as it was


def test_who_answered_is_said_only_where_models_answered_too(browser, folder):
    before, after = folder / "before.png", folder / "after.png"
    measured = Pair("measured.png", before, after, changed(1))
    by_model = Pair("model.png", before, after, {**changed(2), "answer": "clevr-pcl"})
    told = []
    for pairs in ([measured], [measured, by_model]):
        write_page(folder / "answers.html", Page("Title", pairs))
        browser.open((folder / "answers.html").as_uri())
        told.append(browser.run("[...document.querySelectorAll('article .facts')].map((p) => p.textContent)"))
    assert ["measured" in text for text in told[0]] == [False]
    assert sorted("measured" in text for text in told[1]) == [False, True]
    assert sum("said by clevr-pcl" in text for text in told[1]) == 1
