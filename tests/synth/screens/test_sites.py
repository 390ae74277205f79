"""Published pages: whose they are, what is left out of them, and that they are drawn as ours are.

What needs Chromium, the npm packages or fonts is skipped without them.
"""

import html
import json
import re
from itertools import combinations

import numpy as np
import pytest

from whatchanged.errors import MissingProgram
from whatchanged.synth.screens import FamilyOptions
from whatchanged.synth.screens.browser import Browser
from whatchanged.synth.screens.pages import family, sites
from whatchanged.synth.screens.pages.designs import HERE, PACKAGES, find_modules
from whatchanged.worlds.screens.elements import ELEMENTS

SIZE = (700, 500)
SPLITS = ("train", "val", "test")
SHOP = """<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="utf-8"><link href="css/shop.css" rel="stylesheet"><script src="js/shop.js"></script>
  <style>body { color: red; }</style>
</head>
<body id="top" class="shop wide">
  <!-- a note -->
  <h1 onclick="go()">Shop</h1><script>document.write("late")</script>
  <img src="a.png" loading="lazy"><iframe src="https://example.org"></iframe>
</body>
</html>
"""


@pytest.fixture(scope="module")
def drawn_sites(styles):
    with family.open_sites(FamilyOptions(styles, SIZE)) as opened:
        yield opened


def test_packages_are_locked_named_with_their_licence_and_of_one_split():
    wanted = json.loads((PACKAGES / "package.json").read_text("utf-8"))["dependencies"]
    locked = json.loads((PACKAGES / "package-lock.json").read_text("utf-8"))["packages"]
    for site in sites.sites():
        entry = locked[f"node_modules/{site.package}"]
        assert entry["version"] == wanted[site.package]
        assert entry["license"] == site.licence
    packages = {split: {s.package for s in sites.sites() if s.split == split} for split in SPLITS}
    assert all(len(results) >= 3 for results in packages.values())
    for one, other in combinations(SPLITS, 2):
        assert not packages[one] & packages[other]


def test_names_are_those_of_elements():
    assert set(sites.element_names().values()) - {""} <= set(ELEMENTS)


def test_a_page_is_read_without_what_runs_plays_or_comes_later(tmp_path):
    path = tmp_path / "shop" / "index.html"
    path.parent.mkdir()
    path.write_text(SHOP, encoding="utf-8")
    page = sites.read_page(tmp_path, path)
    assert page.name == "shop/index.html"
    assert page.body == "shop wide"
    assert page.styles == '<link href="css/shop.css" rel="stylesheet"><style>body { color: red; }</style>'
    assert page.content.split() == ["<h1", 'onclick="go()">Shop</h1>', "<img", 'src="a.png">']
    assert page.head(tmp_path) == f'<base href="{path.as_uri()}">{page.styles}'


def test_a_page_without_a_body_is_all_body(tmp_path):
    path = tmp_path / "part.html"
    path.write_text("<p>only this", encoding="utf-8")
    assert sites.read_page(tmp_path, path).content == "<p>only this"


def test_what_is_missing_is_named_with_its_command(tmp_path):
    with pytest.raises(MissingProgram, match=r"npm ci"):
        sites.find_site_files(tmp_path)


def test_every_pattern_finds_pages(styles):
    modules = find_modules(styles)
    for site in sites.sites():
        for pattern in site.pages:
            assert list((modules / site.package).glob(pattern)), (site.package, pattern)


def test_nothing_moves_in_a_page_that_insists_on_it(styles, tmp_path):
    insisting = (
        "transition: all 9s !important; animation: turn 9s !important; will-change: transform !important"
    )
    parts = (HERE / "parts.css").read_text("utf-8")
    path = tmp_path / "page.html"
    path.write_text(
        f"<style>@keyframes turn {{ to {{ rotate: 1turn }} }} body > #menu.open {{ {insisting} }}</style>"
        f"<style>{parts}</style>"
        '<p id="menu" class="open">Menu</p><p id="kept" style="will-change: transform">',
        encoding="utf-8",
    )
    style = "getComputedStyle(document.getElementById('{}')).{}"
    with Browser() as browser:
        browser.open(path.as_uri())
        results = {
            name: browser.run(style.format("menu", name))
            for name in ("transitionDuration", "animationName", "willChange")
        }
        kept = browser.run(style.format("kept", "willChange"))
    assert results == {"transitionDuration": "0s", "animationName": "none", "willChange": "auto"}
    assert kept == "transform"  # a noise of ours


def test_a_document_gives_the_same_bytes_whatever_was_drawn_before(drawn_sites):
    first = drawn_sites.draw(9, 5, "train")
    drawn_sites.draw(9, 6, "train")
    drawn_sites.draw(9, 9, "test")
    assert drawn_sites.draw(9, 5, "train") == first
    assert {pair.truth.family for pair in first} == {"sites"}


def test_truths_lie_in_the_pictures_and_pages_are_of_the_split(drawn_sites):
    elements = set()
    for number, split in ((0, "train"), (1, "train"), (8, "val"), (9, "test")):
        packages = {site.package for site in sites.sites() if site.split == split}
        for pair in drawn_sites.draw(2, number, split):
            truth = pair.truth
            assert truth.design["library"] in packages
            assert truth.changes or truth.noise
            elements |= {change.element for change in truth.changes}
            for change in truth.changes:
                for box, (width, height) in (
                    (change.box_before, truth.size_before),
                    (change.box_after, truth.size_after),
                ):
                    assert box is None or (0 <= box[0] < box[2] <= width and 0 <= box[1] < box[3] <= height)
    assert elements
    assert elements <= set(ELEMENTS)


def words_of(body):
    return html.unescape(re.sub(r"<[^>]*>", " ", body)).split()


def test_a_part_alone_has_no_words_but_some_of_its_pages(styles):
    modules = find_modules(styles)
    fewer = []
    with family.open_sites(FamilyOptions(styles, SIZE)) as opened:
        for number in range(8):
            page, _ = sites.write_site(np.random.default_rng([3, 2, number]), modules, "train", SIZE)
            shown = opened._show(3, number, "train").document
            assert shown.crop is None
            assert set(words_of(shown.body)) <= set(words_of(page.body))
            if page.crop.part is not None:
                fewer.append(len(words_of(shown.body)) < len(words_of(page.body)))
    assert len(fewer) >= 3
    assert np.mean(fewer) >= 0.8
