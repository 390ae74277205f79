"""A page on which pairs are accepted and rejected, as somebody does it: with keys and clicks, in Chromium."""

import json
import os
import shutil
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from support.trees import state

from whatchanged.page import Group, Page, Pair, Review, write_page

pytestmark = pytest.mark.slow
ODD = 'it\'s "odd" <b>.png'
SIZE = (48, 32)
SHIFT = 8
SENTENCE = "An area at the left turned from blue to red."


@pytest.fixture(scope="module")
def browser():
    if not (shutil.which("chromium") or shutil.which("google-chrome")):
        pytest.skip("no Chromium here")
    from whatchanged.synth.screens.browser import Browser

    with Browser() as opened:
        yield opened


def pages(folder, count):
    """The address of a page: a group of all but three pairs, one of it odd; a removed one; two alone."""
    for name, color in (("before", (20, 60, 220)), ("after", (220, 30, 20))):
        Image.fromarray(np.full((SIZE[1], SIZE[0], 3), color, np.uint8)).save(folder / f"{name}.png")
    change = {"kind": "recolored", "sentence": SENTENCE, "box_before": None, "box_after": [8, 8, 20, 20]}
    line = {"caption": SENTENCE, "verdict": "changed", "no_change": 0.01, "changes": [change]}
    line = {**line, "size_before": SIZE, "size_after": SIZE}
    names = [ODD, *(f"page-{number}.png" for number in range(1, count - 3))]
    pairs = [Pair(name, folder / "before.png", folder / "after.png", line) for name in names]
    pairs.append(Pair("gone.png", folder / "before.png", None, fixed="it was removed"))
    pairs += [
        Pair(f"alone-{number}.png", folder / "before.png", folder / "after.png", line) for number in (1, 2)
    ]
    command = "whatchanged accept report 1 'it'\"'\"'s \"odd\" <b>.png'"
    page = Page(
        "What changed",
        pairs,
        groups=[Group("Group 1. All turned red.", range(count - 3), odd=[0], command=command)],
        review=Review("0123", "whatchanged accept report --decisions decisions.json"),
    )
    write_page(folder / "page.html", page)
    return (folder / "page.html").as_uri()


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    return pages(tmp_path_factory.mktemp("review"), 12)


@pytest.fixture(params=[1280, 390])
def page(request, browser, shown):
    browser.open(shown, request.param, 844)
    browser.run("localStorage.clear()")
    browser.open(shown, request.param, 844)
    yield browser
    assert browser.complaints() == []
    assert browser.run("document.documentElement.scrollWidth") <= request.param


def progress(page):
    return page.run("document.getElementById('progress').textContent")


def saved(page):
    document = json.loads(page.run("savedDecisions()"))
    assert document["format"] == 1 and document["report"] == "0123"
    return document["accept"], document["reject"]


def focused(page):
    return page.run("document.activeElement.closest('article')?.querySelector('.id').textContent ?? null")


def press(page, *keys):
    for key in keys:
        page.press(key)


def click(page, selector):
    """Press the element with the mouse, where it stands on the screen."""
    element = f"document.querySelector({json.dumps(selector)})"
    page.run(f"{element}.scrollIntoView({{block: 'center'}})")
    box = page.run(f"{element}.getBoundingClientRect().toJSON()")
    place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    for kind in ("mousePressed", "mouseReleased"):
        page.call("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **place)


def test_keys_decide_one_after_the_other_and_undo(page):
    press(page, "a")  # nothing is at hand yet: the first pair is
    assert progress(page) == "0 accepted, 0 rejected, 12 left" and focused(page) == ODD
    press(page, "a", "r", "a")
    assert progress(page) == "2 accepted, 1 rejected, 9 left" and focused(page) == "page-3.png"
    assert saved(page) == ([ODD, "page-2.png"], ["page-1.png"])
    press(page, "u", "u")
    assert saved(page) == ([ODD], []) and focused(page) == "page-1.png"
    press(page, "u", "u")  # there is nothing more to undo
    assert progress(page) == "0 accepted, 0 rejected, 12 left"


def test_buttons_decide_and_take_back(page):
    click(page, "[aria-label='Accept page-1.png']")
    click(page, "[aria-label='Reject page-2.png']")
    assert saved(page) == (["page-1.png"], ["page-2.png"])
    state_of = "document.querySelector('article[data-place=\"1\"]').dataset.decision"
    assert page.run(state_of) == "accept"
    click(page, "[aria-label='Accept page-1.png']")
    assert saved(page) == ([], ["page-2.png"]) and page.run(state_of) == ""


def test_a_group_but_for_its_odd_members(page):
    press(page, "j", "j")
    page.call("Input.dispatchKeyEvent", type="keyDown", key="A", modifiers=SHIFT, windowsVirtualKeyCode=65)
    assert progress(page) == "8 accepted, 0 rejected, 4 left"
    assert ODD not in saved(page)[0]
    assert "1 to look at alone" in page.run("document.querySelector('.group-review').textContent")
    press(page, "u")
    assert progress(page) == "0 accepted, 0 rejected, 12 left"
    click(page, ".group-review .choice.reject")
    assert progress(page) == "0 accepted, 8 rejected, 4 left"


def test_all_that_are_left_of_what_is_listed(page):
    press(page, "l")
    told = page.run("document.getElementById('left-dialog').textContent")
    assert "12 pairs left" in told and "1 pair of them show" in told and "1 pair of them cannot be" in told
    press(page, "Escape")
    assert progress(page) == "0 accepted, 0 rejected, 12 left"
    press(page, "l", "a")
    assert progress(page) == "11 accepted, 0 rejected, 1 left"  # what was removed cannot be accepted
    assert page.run("document.querySelector(\"[aria-label='Accept gone.png']\").disabled")
    press(page, "u")
    page.run("get('text').value = 'alone'; choose()")
    press(page, "l", "r")
    assert saved(page) == ([], ["alone-1.png", "alone-2.png"])


def test_the_list_is_filtered_by_what_was_decided(page):
    press(page, "j", "a", "r")
    counted = "document.getElementById('count').textContent"
    for wanted in ("10 of 12 pairs", "1 of 12 pairs", "1 of 12 pairs", "12 of 12 pairs"):
        press(page, "f")  # left, accepted, rejected, all
        assert page.run(counted) == wanted


def test_the_viewer_decides_and_goes_on(page):
    press(page, "j", "Enter", "a", "r")
    assert page.run("current.id") == "page-2.png" and saved(page) == ([ODD], ["page-1.png"])
    press(page, "k")
    assert page.run("document.querySelector('#viewer-review .reject').ariaPressed") == "true"
    click(page, "#viewer-review .accept")
    assert saved(page) == ([ODD, "page-1.png"], [])


def test_what_was_decided_is_there_at_the_next_visit(page, shown):
    press(page, "j", "a", "r")
    time.sleep(1)  # the browser writes down what is kept while it goes on
    page.open(shown, page.run("innerWidth"), 844)
    assert saved(page) == ([ODD], ["page-1.png"])
    assert page.run("document.querySelector('article[data-place=\"0\"]').dataset.decision") == "accept"


def test_the_command_of_a_group_is_copied(page):
    """What is selected when the page copies; the clipboard itself belongs to the machine."""
    page.run("document.addEventListener('copy', () => { window.taken = document.activeElement.value; })")
    assert page.run("document.querySelector('.group-review code').textContent").endswith("<b>.png'")
    click(page, ".group-review .copy")
    assert page.run("window.taken").startswith("whatchanged accept report 1 'it'")
    assert page.run("document.querySelector('.group-review .copy').textContent") == "Copied"


def test_keys_look_like_buttons(page):
    for selector in ("#keys", "#theme", ".foot .quiet"):
        border = page.run(f"getComputedStyle(document.querySelector({json.dumps(selector)})).borderTopColor")
        assert border != "rgba(0, 0, 0, 0)", selector


def test_5000_pairs_are_decided_without_a_wait(browser, tmp_path):
    """Far below what a person notices on a quiet machine; the bound is for one that hangs."""
    browser.open(pages(tmp_path, 5000), 1280, 844)
    browser.run("document.querySelector('.rest').click()")
    browser.run("while (drawn < entries.length) draw(STEP)")
    assert browser.run("document.querySelectorAll('article').length") == 5000
    spent = browser.run(
        "(() => { moveFocus(1); const start = performance.now();"
        " for (let i = 0; i < 20; i += 1) { decideAtHand('accept'); }"
        " return (performance.now() - start) / 20; })()"
    )
    assert progress(browser) == "20 accepted, 0 rejected, 4,980 left"
    assert spent < 3000
    press(browser, "l", "a")
    assert progress(browser) == "4,999 accepted, 0 rejected, 1 left"
    assert len(json.loads(browser.run("savedDecisions()"))["accept"]) == 4999


RULES = ("button{background:#b5371f!important}", ".card{box-shadow:0 4px 12px #0007}")
STYLE = (
    "body{font:15px Arial;margin:18px;background:#fff;color:#222}button{background:#1f58b5;color:#fff;"
    "border:0;border-radius:5px;padding:8px 16px;margin-right:8px}.card{border:1px solid #ccc;"
    "border-radius:8px;padding:12px;margin:14px 0;width:300px}"
)


def draw(browser, folder):
    """Eight screens whose buttons turned red, the third of which lost a line too, and two with a shadow."""
    for number in range(10):
        words = [("Save", "Send", "Open", "Print", "Share")[number % 5], f"Order {number + 1}", "Total"]
        body = f"<h2>{words[1]}</h2><p>{words[2]} of {number + 3} items</p>"
        body += f'<div class="card"><b>{words[1]}</b><br>ready on day {number + 2}</div>'
        if number < 8:
            body += f"<button>{words[0]}</button><button>Cancel</button>"
        for side in ("old", "new"):
            style = STYLE + (RULES[number // 8] if side == "new" else "")
            shown = (
                body.replace(f"<p>{words[2]} of {number + 3} items</p>", "")
                if (side, number) == ("new", 2)
                else body
            )
            (folder / "page.html").write_text(f"<!doctype html><style>{style}</style><body>{shown}")
            browser.open((folder / "page.html").as_uri(), 380, 260)
            (folder / side).mkdir(exist_ok=True)
            browser.photograph().save(folder / side / f"order-{number + 1}.png")
    (folder / "page.html").unlink()


def test_a_review_from_the_first_look_to_the_accepted_pictures(browser, whatchanged, tmp_path, monkeypatch):
    """As the documentation shows it; WHATCHANGED_PICTURES names a folder that gets its pictures."""
    monkeypatch.chdir(tmp_path)
    draw(browser, tmp_path)
    assert whatchanged("compare", "old", "new", "-o", "report", "--workers", 1)[0] == 1
    address = (tmp_path / "report" / "index.html").as_uri()
    kept = Path(os.environ.get("WHATCHANGED_PICTURES", tmp_path / "pictures"))
    kept.mkdir(exist_ok=True)

    def photograph(name):
        browser.photograph().quantize(96).save(kept / f"review-{name}.png", optimize=True)

    browser.open(address, 1280, 760)
    browser.run("localStorage.clear()")
    browser.open(address, 1280, 760)
    photograph("1-page")
    press(browser, "j", "r", "a")
    photograph("2-decided")
    press(browser, "l")
    photograph("3-left")
    press(browser, "a")
    assert progress(browser).endswith(" 0 left")
    browser.open(address, 390, 760)
    press(browser, "j")
    photograph("4-narrow")
    assert all(path.stat().st_size < 150_000 for path in kept.glob("review-*.png"))
    decisions = tmp_path / "decisions.json"
    decisions.write_text(browser.run("savedDecisions()"))
    rejected = json.loads(decisions.read_text())["reject"]
    code, said, err = whatchanged("accept", "report", "--decisions", decisions)
    assert code == 0 and said.startswith("9 pictures accepted."), err
    old, new = state(tmp_path / "old"), state(tmp_path / "new")
    assert [name for name in new if old[name] != new[name]] == rejected
