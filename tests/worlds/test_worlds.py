"""The table of worlds, and worlds that plug-ins add."""

import pytest

from whatchanged.errors import DatasetError, PluginError
from whatchanged.worlds import (
    WORLDS,
    all_drawers,
    all_worlds,
    find_drawer,
    find_world,
    language_of,
    world_names,
    world_of,
)

TOY = """
from whatchanged.worlds import Breakdown, TruthFiles, Verdict, World, WorldLanguage, WorldPictures

WORLD = World(
    "toy", "", WorldPictures(("toys",), False, ""),
    TruthFiles(
        exists=lambda root: (root / "toys.json").is_file(), read=lambda root, records: {},
        kind_of=lambda truth: "none",
    ),
    WorldLanguage(
        captions=lambda truth, rng: (), reads=lambda sentence: False,
        judge=lambda sentence, truth: Verdict(False, False, False, {}), no_change_sentences=(),
    ),
    Breakdown(("more",), ()),
)
"""


def test_a_world_is_found_by_its_name():
    assert [world.name for world in all_worlds()] == list(WORLDS) == list(world_names())
    assert find_world("clevr").name == "clevr"
    with pytest.raises(PluginError, match=r"no world 'mars'\. Known: clevr, birds"):
        find_world("mars")


def test_a_world_is_found_by_its_data_set_or_by_its_truth(tmp_path):
    assert world_of("clevr_change").name == world_of("clevr_dc").name == "clevr"
    assert world_of("birds_to_words") is None  # photographs
    assert world_of("plain", tmp_path) is None
    (tmp_path / "birds.json").touch()
    assert world_of("birds_to_words", tmp_path).name == "birds"
    assert world_of("clevr_change", tmp_path).name == "clevr"


def test_a_plug_ins_world_is_found_in_both_ways(site, tmp_path):
    site.install("toy-world", {"whatchanged.worlds": {"toy": "toys:WORLD"}}, toys=TOY)
    assert world_names() == (*WORLDS, "toy")
    assert find_world("toy").name == world_of("toys").name == "toy"
    (tmp_path / "toys.json").touch()
    assert world_of("plain", tmp_path).name == "toy"


def test_a_broken_world_leaves_the_others(site, capsys):
    site.install("bad-world", {"whatchanged.worlds": {"bad": "bad:WORLD"}}, bad="WORLD = 5")
    assert [world.name for world in all_worlds()] == list(WORLDS)
    assert world_of("nowhere") is None
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and "'bad' of bad-world 1.5 cannot be used: TypeError" in err


@pytest.mark.parametrize(("function", "argument"), [("exists", "root"), ("reads", "sentence")])
def test_a_world_whose_function_fails_costs_one_line(site, tmp_path, capsys, function, argument):
    broken = TOY.replace("captions=", 'false_captions="toys:no", captions=').replace(
        f"{function}=lambda {argument}: ", f"{function}=lambda {argument}: 1 / 0 or "
    )
    site.install("toy-world", {"whatchanged.worlds": {"toy": "toys:WORLD"}}, toys=broken)
    assert world_of("plain", tmp_path) is None
    assert language_of(["some words", "and others"]) is None
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "The world 'toy' of toy-world 1.5 cannot be asked: ZeroDivisionError: division by zero" in err
    (tmp_path / "birds.json").touch()
    assert world_of("plain", tmp_path).name == "birds"


def test_drawers_are_found_by_name():
    names = ["clevr-change", "clevr-dc", "clevr-low", "clevr-pool", "birds", "screens"]
    assert [drawer.name for drawer in all_drawers()] == names
    assert find_drawer("clevr-pool").size == (240, 160)
    with pytest.raises(PluginError, match=r"nothing called 'mars' to draw\. Known: clevr-change"):
        find_drawer("mars")


def test_a_wording_that_is_not_there_is_refused():
    with pytest.raises(DatasetError, match=r"birds has no wording 'full'\. It has: none"):
        find_world("birds").write((), "full")
    with pytest.raises(DatasetError, match="It has: short, full, clear, relational"):
        find_world("clevr").write((), "long")
