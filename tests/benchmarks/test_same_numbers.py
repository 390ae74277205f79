"""What the comparison of two trees calls a difference, and a whole one of two recipes."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

SCRIPT = "same_numbers"
ROOT = Path(__file__).resolve().parents[2]
RUN = {
    "lines": [{"stage": "see", "step": 1, "detection/shape": 1.5, "lr": 0.1}],
    "parameters": {"a.weight": "11", "a.bias": "22"},
}


def changed(**settings):
    return {**RUN, **settings}


def test_equal_runs_have_no_difference(bench):
    assert bench.difference_of(RUN, changed()) is None


def test_renamed_parameters_are_no_difference(bench):
    assert bench.difference_of(RUN, changed(parameters={"b.weight": "11", "b.bias": "22"})) is None


def test_renamed_terms_are_no_difference(bench):
    old = [{"stage": "match", "step": 1, "matching/fate": 2.0}]
    new = [{"stage": "match", "step": 1, "matching/change_label": 2.0}]
    assert bench.difference_of(changed(lines=old), changed(lines=new)) is None


@pytest.mark.parametrize(
    ("new", "words"),
    [
        ({"lines": [{**RUN["lines"][0], "detection/shape": 1.5000000000000002}]}, "detection/shape"),
        ({"lines": [{**RUN["lines"][0], "detection/size": 1.0}]}, "detection/size"),
        ({"lines": [*RUN["lines"], *RUN["lines"]]}, "1 lines were, 2 are"),
        ({"parameters": {"a.weight": "11", "a.bias": "23"}}, "a.bias"),
        ({"parameters": {"a.weight": "11"}}, "a.bias"),
    ],
)
def test_every_other_change_is_named(new, words, bench):
    assert words in bench.difference_of(RUN, changed(**new))


def test_a_recipe_in_one_tree_only_or_a_failed_run_is_a_difference(bench):
    assert "new tree" in bench.difference_of(None, RUN)
    assert "no such key" in bench.difference_of(RUN, {"failed": "no such key"})


@pytest.mark.parametrize(("excepted", "failed"), [([], True), (["pcl-*"], False), (["scorer-*"], True)])
def test_what_is_excepted_may_differ(excepted, failed, bench, capsys):
    old, new = ({"recipes": {"pcl-tiny": run}} for run in (RUN, changed(parameters={})))
    assert bench.report(old, new, excepted) == failed
    assert "tensors differ" in capsys.readouterr().out


@pytest.fixture
def trees(bench, tmp_path, monkeypatch):
    """Trees that need no time: each writes the numbers that ``numbers`` says; where they worked is kept."""
    worked = []
    numbers = {"recipes": {"pcl-tiny": RUN}}

    def start(tree, data, out, recipes, pairs):
        worked.append((data, out))
        out.mkdir(parents=True, exist_ok=True)
        (out / "numbers.json").write_text(json.dumps(numbers))
        return SimpleNamespace(wait=lambda: 0)

    monkeypatch.setattr(bench, "start", start)
    monkeypatch.setattr(bench, "make_data", lambda data, tree: data.mkdir(parents=True))
    monkeypatch.chdir(tmp_path)
    return SimpleNamespace(worked=worked, numbers=numbers)


def test_both_trees_work_in_the_same_folder_which_is_new(bench, trees, tmp_path, capsys):
    """A relative one is that of the caller, though the trees run elsewhere."""
    given = ["--old", str(ROOT), "--new", str(ROOT), "--work", "kept"]
    assert bench.main(given) == 0
    kept = tmp_path / "kept"
    assert trees.worked == [(kept / "data", kept / "old"), (kept / "data", kept / "new")]
    with pytest.raises(SystemExit):
        bench.main(given)
    assert "--work kept: it is not empty. Name a new folder." in capsys.readouterr().err


def test_an_old_side_is_kept_for_any_number_of_new_trees(bench, trees, tmp_path, capsys):
    assert bench.main(["--old", str(ROOT), "--work", "kept"]) == 0
    assert bench.main(["--old", str(ROOT), "--work", "kept"]) == 0  # goes on where it was stopped
    kept = tmp_path / "kept"
    assert trees.worked == [(kept / "data", kept / "old")] * 2
    assert bench.main(["--new", str(ROOT), "--work", "kept"]) == 0
    trees.numbers["recipes"] = {"pcl-tiny": changed(parameters={})}
    assert bench.main(["--new", str(ROOT), "--work", "kept"]) == 1
    assert "tensors differ" in capsys.readouterr().out
    assert {data for data, _ in trees.worked} == {kept / "data"}
    assert sorted(path.name for path in kept.iterdir()) == ["data", "old"]


def test_of_a_kept_side_only_the_recipes_asked_for_are_compared(bench, trees):
    trees.numbers["recipes"] = {"pcl-tiny": RUN, "scorer-tiny": RUN}
    bench.main(["--old", str(ROOT), "--work", "kept"])
    trees.numbers["recipes"] = {"pcl-tiny": RUN}
    assert bench.main(["--new", str(ROOT), "--work", "kept", "--recipe", "pcl-tiny"]) == 0
    assert bench.main(["--new", str(ROOT), "--work", "kept"]) == 1


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([], "name --old, --new or both"),
        (["--old", "."], "needs --work"),
        (["--new", ".", "--work", "none"], "no old side is here. Make it: --old OLD --work none"),
        (["--new", ".", "--work", "kept", "--pairs", "."], "Make it with --pairs, too"),
    ],
)
def test_a_folder_that_does_not_fit_is_refused(given, words, bench, trees, capsys):
    bench.main(["--old", str(ROOT), "--work", "kept"])
    with pytest.raises(SystemExit):
        bench.main(given)
    assert words in capsys.readouterr().err


def test_sentences_are_compared_word_for_word_and_by_every_number(bench):
    one = {"id": "1", "caption": "the cube moved", "no_change": 0.25, "seconds": 1.0}
    assert bench.difference_of_captions([one], [{**one}]) is None
    assert "the cube" in bench.difference_of_captions([one], [{**one, "caption": "the cube"}])
    assert "0.2500001" in bench.difference_of_captions([one], [{**one, "no_change": 0.2500001}])


@pytest.mark.slow
def test_a_tree_equals_itself(bench, capsys):
    recipes = ["pcl-tiny", "scorer-tiny", "clevr-scorer"]
    assert bench.main(["--old", str(ROOT), "--new", str(ROOT), "--recipe", *recipes]) == 0
    assert capsys.readouterr().out.count("equal") == len(recipes)
