"""Plug-ins found by their entry points; what is broken costs one line that names its package."""

import sys

import pytest

from whatchanged import plugins
from whatchanged.errors import PluginError

GROUP = plugins.WORLDS
BUILTIN = {"sqrt": "math:sqrt", "pi": "math:pi"}


def anything(name, found):
    return found


def test_names_are_the_built_in_ones_and_then_those_of_plug_ins_which_stay_unimported(site):
    site.install("b-package", {GROUP: {"zwei": "bees:TWO", "eins": "bees:ONE"}}, bees="ONE, TWO = 1, 2")
    site.install("a-package", {GROUP: {"drei": "ays:THREE"}}, ays="THREE = 3")
    assert plugins.names(GROUP, BUILTIN) == ("sqrt", "pi", "drei", "eins", "zwei")
    assert not {"bees", "ays"} & set(sys.modules)
    results = plugins.installed(GROUP)
    assert [(p.name, p.value, p.package) for p in results] == [
        ("drei", "ays:THREE", "a-package 1.5"),
        ("eins", "bees:ONE", "b-package 1.5"),
        ("zwei", "bees:TWO", "b-package 1.5"),
    ]


def test_an_entry_is_found_by_name_and_other_groups_are_not_looked_at(site):
    site.install("b-package", {GROUP: {"two": "bees:TWO"}, plugins.METHODS: {"x": "bees:X"}}, bees="TWO = 2")
    assert plugins.find(GROUP, "two", BUILTIN, anything) == 2
    assert plugins.find(GROUP, "pi", BUILTIN, anything) == pytest.approx(3.14159, abs=1e-5)
    assert plugins.names(plugins.METHODS, ()) == ("x",)
    with pytest.raises(PluginError, match=r"There is no world 'x'\. Known: sqrt, pi, two\."):
        plugins.find(GROUP, "x", BUILTIN, anything)


def test_an_entry_may_be_a_whole_module(site):
    site.install("b-package", {plugins.DATASETS: {"bees": "bees"}}, bees="VALUE = 5")
    assert plugins.find(plugins.DATASETS, "bees", {}, anything).VALUE == 5


@pytest.mark.parametrize(
    ("module", "fault"),
    [
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("raise ValueError('two\\nlines')", "ValueError: two lines"),
        ("OTHER = 1", "AttributeError: module 'bees' has no attribute 'TWO'"),
        ("TWO = 'text'", "TypeError: wanted an object of builtins.int, got 'text'"),
        ("x = 1 +", "SyntaxError: invalid syntax"),
    ],
)
def test_a_broken_plug_in_costs_one_line_that_names_its_package(site, capsys, module, fault):
    site.install("b-package", {GROUP: {"two": "bees:TWO"}}, bees=module)
    site.install("good-package", {GROUP: {"zehn": "good:TEN"}}, good="TEN = 10")
    check = plugins.instance_of(int)
    message = f"The world 'two' of b-package 1.5 cannot be used: {fault}"
    for _ in range(2):
        assert dict(plugins.find_all(GROUP, {}, check)) == {"zehn": 10}
    err = capsys.readouterr().err
    assert err.startswith(f"whatchanged: {message}") and err.count("\n") == 1
    with pytest.raises(PluginError) as raised:
        plugins.find(GROUP, "two", {}, check)
    assert str(raised.value).startswith(message)


def test_a_name_of_ours_stays_ours(site, capsys):
    site.install("b-package", {GROUP: {"pi": "bees:PI"}}, bees="PI = 3")
    assert plugins.names(GROUP, BUILTIN) == ("sqrt", "pi")
    assert plugins.find(GROUP, "pi", BUILTIN, anything) > 3.1
    err = capsys.readouterr().err
    assert "'pi' of b-package 1.5 is not used" in err and "whatchanged itself" in err


def test_of_two_plug_ins_of_one_name_neither_is_used(site, capsys):
    site.install("b-package", {GROUP: {"two": "bees:TWO"}}, bees="TWO = 2")
    site.install("a-package", {GROUP: {"two": "ays:TWO"}}, ays="TWO = 22")
    assert plugins.names(GROUP, ()) == ()
    assert "'two' is not used: a-package 1.5 and b-package 1.5 both bring one" in capsys.readouterr().err
    with pytest.raises(PluginError, match="no world 'two'"):
        plugins.find(GROUP, "two", {}, anything)


def test_a_package_that_is_there_twice_counts_once(site, tmp_path, monkeypatch):
    from support.fake_packages import Site

    site.install("b-package", {GROUP: {"two": "bees:TWO"}}, bees="TWO = 2")
    other = tmp_path / "other"
    other.mkdir()
    monkeypatch.setattr(sys, "path", [*sys.path, str(other)])
    Site(other).install("B_package", {GROUP: {"two": "bees:OLD"}})
    assert plugins.find(GROUP, "two", {}, anything) == 2


@pytest.mark.parametrize("how", ["", "{here}"])
def test_what_lies_in_the_working_directory_is_not_installed(site, tmp_path, monkeypatch, how):
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.syspath_prepend(how.format(here=here))
    planted = type(site)(here)
    planted.install("evil", {GROUP: {"evil": "evil:VALUE"}}, evil="VALUE = 1")
    site.install("good", {GROUP: {"good": "good:VALUE"}}, good="VALUE = 1")
    assert [plugin.name for plugin in plugins.installed(GROUP)] == ["good"]


def test_an_objects_own_name_should_be_its_entrys(site):
    text = "from types import SimpleNamespace\nIT = SimpleNamespace(name='bee')"
    site.install("b-package", {GROUP: {"bug": "bees:IT", "bee": "bees:IT"}}, bees=text)
    check = plugins.instance_of(object)
    assert plugins.find(GROUP, "bee", {}, check).name == "bee"
    with pytest.raises(PluginError, match="it calls itself 'bee'"):
        plugins.find(GROUP, "bug", {}, check)


def test_metadata_that_cannot_be_read_costs_a_line(site, capsys):
    site.install("good-package", {GROUP: {"zehn": "good:TEN"}}, good="TEN = 10")
    about = site.folder / "broken-2.dist-info"
    about.mkdir()
    (about / "entry_points.txt").write_text(f"[{GROUP}]\nno equals sign\n")
    assert plugins.names(GROUP, ()) == ("zehn",)
    err = capsys.readouterr().err
    assert "entry points of unnamed cannot be read" in err and err.count("\n") == 1
