"""Designs: libraries and fonts of the splits, what is missing, the words on pages."""

import json
import re
from itertools import combinations

import numpy as np
import pytest

from whatchanged.errors import MissingProgram
from whatchanged.synth.screens import FAMILIES, browser, fonts
from whatchanged.synth.screens.pages.designs import HERE, PACKAGES, find_modules, libraries, libraries_of
from whatchanged.synth.screens.pages.document import PARTS
from whatchanged.synth.screens.pages.looks import random_look, treatments
from whatchanged.synth.screens.pages.writer import Writer
from whatchanged.synth.screens.words import LANGUAGES, RandomTexts
from whatchanged.worlds.screens.elements import ELEMENTS
from whatchanged.worlds.screens.world import WORLD

SPLITS = ("train", "val", "test")
FORBIDDEN = ("vaadin", "streamlit", "bokeh", "katex", "openlayers", "plotnine")
"""What real pairs that measure were made with."""


def missing_fonts() -> bool:
    """Whether a split has no font on this machine."""
    try:
        return not all(fonts.fonts_of(split) for split in SPLITS)
    except MissingProgram:
        return True


def test_no_design_is_in_two_splits():
    for one, other in combinations(SPLITS, 2):
        assert not {lib.package for lib in libraries_of(one)} & {lib.package for lib in libraries_of(other)}
        assert not set(fonts.FONTS[one]) & set(fonts.FONTS[other])
    assert {lib.name for split in SPLITS for lib in libraries_of(split)} == {lib.name for lib in libraries()}
    assert all(len(libraries_of(split)) >= 2 for split in SPLITS)


def test_packages_are_locked_and_named_with_their_licence():
    wanted = json.loads((PACKAGES / "package.json").read_text("utf-8"))["dependencies"]
    locked = json.loads((PACKAGES / "package-lock.json").read_text("utf-8"))["packages"]
    for library in libraries():
        if library.package:
            entry = locked[f"node_modules/{library.package}"]
            assert entry["version"] == wanted[library.package]
            assert entry["license"] == library.licence
            assert entry["integrity"]
    assert not [name for name in locked if any(word in name.lower() for word in FORBIDDEN)]


def test_what_is_missing_is_named_with_its_command(tmp_path, monkeypatch):
    with pytest.raises(
        MissingProgram, match=r"bootstrap.*mkdir -p .* && npm ci --legacy-peer-deps --ignore-scripts --prefix"
    ):
        find_modules(tmp_path)
    monkeypatch.setattr(browser, "find_program", lambda name: None)
    with pytest.raises(MissingProgram, match=r"Chromium.*apt-get install chromium"):
        browser.find_chromium()
    monkeypatch.setattr(fonts, "installed_families", lambda: frozenset({"Roboto"}))
    assert fonts.fonts_of("train") == ("Roboto",)
    with pytest.raises(MissingProgram, match=r"Open Sans.*apt-get install .*fonts-open-sans"):
        fonts.fonts_of("val")


def test_words_hold_nothing_that_would_break_a_sentence():
    assert len(LANGUAGES) >= 15
    for language in LANGUAGES.values():
        assert len(language.words) >= 15
        assert not [word for word in language.words if set(word) & set('";0123456789<&')]


def test_the_command_offers_every_family():
    (drawer,) = WORLD.drawers
    family = next(option for option in drawer.options if option.name == "family")
    assert family.choices == ("all", *FAMILIES)


def test_treatments_are_of_one_split_and_use_variables_that_pages_have():
    for part, ways in treatments().items():
        assert set(ways) == set(SPLITS), part
        for one, other in combinations(SPLITS, 2):
            assert not {css for css in ways[one].values() if css} & set(ways[other].values()), part
    look = random_look(np.random.default_rng(0), "train", "Roboto", "en", False, "90px", True)
    known = set(re.findall(r"--w-([a-z-]+):", look.variables)) | {"cell"}
    files = ("own.css", "parts.css", "treatments.toml")
    all_css = "".join((HERE / name).read_text("utf-8") for name in files)
    assert set(re.findall(r"var\(--w-([a-z-]+)\)", all_css)) <= known


@pytest.mark.skipif(missing_fonts(), reason="fonts of some split are not installed")
def test_hardly_two_pages_share_a_look_and_each_has_what_only_its_split_has():
    for split in SPLITS:
        looks = [
            random_look(np.random.default_rng(seed), split, "Roboto", "en", False, "90px", True)
            for seed in range(60)
        ]
        assert len({look.sheet for look in looks}) >= 59
        assert len({look.names["accent"] for look in looks}) >= 50
        for look in looks:
            assert look.names["button"] in treatments()["button"][split]


def test_markup_of_a_library_has_classes_that_its_sheets_know(styles):
    """Where a newer version no longer has a class, the part would be shown without any style."""
    unknown = []
    for library in libraries():
        css = "".join((find_modules(styles) / path).read_text("utf-8") for path in library.sheets)
        for part, markup in library.parts.items():
            classes = re.findall(r"class=(?:'([^']*)'|(\S+))", markup)
            names = [name for found in classes for name in "".join(found).split()]
            if css and names and not any(name.startswith("w-") or f".{name}" in css for name in names):
                unknown.append((library.name, part))
    assert not unknown


def test_every_component_names_elements_of_the_world():
    for library in libraries():
        for component in PARTS:
            rng = np.random.default_rng(0)
            for _ in range(2):
                found = re.findall(
                    r'data-e="([^"]*)"', component(Writer(rng, library, RandomTexts(rng, "en")))
                )
                assert set(found) <= set(ELEMENTS), component.__name__
