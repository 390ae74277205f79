"""Designs: libraries and fonts of the splits, what is missing, the words on pages."""

import json
from itertools import combinations

import pytest

from whatchanged.errors import MissingProgram
from whatchanged.worlds.screens.drawing import FAMILIES, browser, fonts
from whatchanged.worlds.screens.drawing.pages.designs import PACKAGES, find_modules, libraries, libraries_of
from whatchanged.worlds.screens.drawing.words import LANGUAGES
from whatchanged.worlds.screens.elements import ELEMENTS
from whatchanged.worlds.screens.world import WORLD

SPLITS = ("train", "val", "test")
FORBIDDEN = ("vaadin", "streamlit", "bokeh", "katex", "openlayers", "plotnine")
"""What real pairs that measure were made with."""


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
    monkeypatch.setattr(browser.shutil, "which", lambda name: None)
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


def test_every_component_names_elements_of_the_world():
    import re

    import numpy as np

    from whatchanged.worlds.screens.drawing.pages.components import COMPONENTS
    from whatchanged.worlds.screens.drawing.pages.writer import Writer
    from whatchanged.worlds.screens.drawing.words import Texts

    for library in libraries():
        for component in COMPONENTS:
            rng = np.random.default_rng(0)
            for _ in range(3):
                found = re.findall(r'data-e="([^"]*)"', component(Writer(rng, library, Texts(rng, "en"))))
                assert set(found) <= set(ELEMENTS), component.__name__
