"""The comparison as one command: what is recorded stays, what is missing is trained, rates come from the
search."""

import json
import sys
from importlib import import_module
from types import SimpleNamespace

import pytest
from support.learning_plan import SETTINGS, make_plan

from whatchanged.errors import OutputError, RecipeError

SCRIPT = "learning.curves"


@pytest.fixture(scope="module")
def plan(bench, learning_places, tmp_path_factory):
    learning_run = import_module("benchmarks.learning.run")
    return make_plan(learning_run, learning_places, tmp_path_factory.mktemp("learning"))


@pytest.fixture(scope="module")
def learning_record(bench):
    return import_module("benchmarks.learning.record")


@pytest.fixture
def results(bench, learning_record, monkeypatch, tmp_path):
    """A folder of results in the place of the repository's."""
    folder = tmp_path / "results"
    for function in (learning_record.Record.write, learning_record.recorded):
        monkeypatch.setattr(function, "__defaults__", (folder,))
    monkeypatch.setattr(bench, "RESULTS", folder)
    return folder


@pytest.fixture
def command(bench, plan, results, monkeypatch, tmp_path, capsys):
    """Runs the command with the plan's data; what it said on stderr, and what is recorded."""
    settings = [f"--set={setting}" for setting in SETTINGS["scorer"]]

    def run(out, *options):
        places = [f"--{name}={getattr(plan, name)}" for name in ("vision", "pool", "tokens", "val")]
        numbers = ["--pairs=48", "--every=24", "--resamples=20"]
        words = ["learning.py", str(tmp_path / out), *places, *numbers, *settings, "--record", "learning"]
        monkeypatch.setattr(sys, "argv", [*words, f"--test=near={plan.tests['near']}", *options])
        bench.main()
        file = results / "learning.json"
        return capsys.readouterr().err, json.loads(file.read_text())

    return run


@pytest.mark.slow
def test_runs_are_gathered_over_commands(command):
    """A second command on an empty folder trains what is not recorded, and keeps what is; asked for, a third
    one trains the first run once more, with the same result."""
    _, first = command("one", "--rows=scorer=1e-3")
    said, second = command("two", "--rows=scorer=1e-3", "--seeds=1,2")
    assert "scorer-rate0.001-pairs48-seed1: recorded" in said and "seed2: 48 pairs" in said
    runs = second["figures"]["runs"]
    assert [run["seed"] for run in runs] == [1, 2] and runs[:1] == first["figures"]["runs"]
    assert len(second["command"]) == 2 and second["command"][:1] == first["command"]
    assert set(second["figures"]["tests"]) == {"near"} and runs[1]["code"][0]["commit"]

    said, third = command("three", "--rows=scorer=1e-3", "--again")
    assert "seed1: 48 pairs" in said
    again, kept = third["figures"]["runs"]
    assert kept == runs[1] and without_time(again) == without_time(runs[0])


def without_time(run):
    return [{**point, "seconds": 0} for point in run["curve"]], run["tests"]


def test_the_data_must_be_the_recorded(command, plan, results, learning_record):
    data = learning_record.data_of(plan.pool, plan.tokens, plan.val)
    pool = {**data["pool"], "seed": 99}
    learning_record.Record({**data, "pool": pool}).write("learning", results)
    with pytest.raises(OutputError, match=r"other data \(pool\)"):
        command("one", "--rows=scorer=1e-3")
    learning_record.Record(data, {"near": {"sha256": "0"}}).write("learning", results)
    with pytest.raises(OutputError, match="near is another one"):
        command("one", "--rows=scorer=1e-3")
    assert json.loads((results / "learning.json").read_text())["figures"]["runs"] == []


def test_what_a_command_may_not_say(command):
    for options, message in (
        (["--rows=pcr"], "choose among all"),
        (["--seeds=1,two"], "write numbers"),
        (["--seeds=100"], "seed of the search"),
    ):
        with pytest.raises(RecipeError, match=message):
            command("one", *options)


def test_rows_take_the_rate_of_their_methods_search(bench, plan):
    """The best CIDEr-D at the end of the search's curves, not the best on the way."""

    def run(row, rate, *scores, seed=bench.SEARCH_SEED):
        return {"row": row, "rate": rate, "seed": seed, "curve": [{"CIDEr-D": score} for score in scores]}

    searched = [run("pcl", 7.5e-4, 90, 20), run("pcl", 3e-3, 0, 30), run("pcl", 6e-3, 99, seed=1)]
    found = bench.runs_of("table4,scorer,pcl=1e-4", [1, 2], plan, SimpleNamespace(runs=searched))
    rates = {(run.row, run.seed): run.rate for run in found}
    assert rates["pcl-table4-2-mlm", 2] == 3e-3 and rates["scorer", 1] == bench.RATE and len(rates) == 14


def test_the_search_is_the_same_for_every_method(bench, plan):
    runs = bench.searches(plan)
    assert {run.seed for run in runs} == {bench.SEARCH_SEED} and not any(run.plan.tests for run in runs)
    by_method = {row: {run.rate for run in runs if run.row == row} for row in bench.METHODS}
    assert set(map(frozenset, by_method.values())) == {frozenset(bench.SEARCHED)}
    assert {run.plan.pairs for run in runs} == {plan.pairs}


def test_the_search_goes_on_while_the_best_rate_is_at_its_end(bench, plan):
    def run(row, rate, score):
        return {"row": row, "rate": rate, "seed": bench.SEARCH_SEED, "curve": [{"CIDEr-D": score}]}

    inside = [run("pcl", 1, 5), run("pcl", 2, 9), run("pcl", 3, 5)]
    low = [run("scorer", 8e-3, 9), run("scorer", 1.6e-2, 5)]
    high = [run("clip4idc", 4e-3, 5), run("clip4idc", 8e-3, 9)]
    further = bench.further_searches(plan, SimpleNamespace(runs=[*inside, *low, *high]))
    assert {(one.row, one.rate) for one in further} == {("scorer", 4e-3), ("clip4idc", 1.6e-2)}
    far = [run("scorer", 1e-4, 9), run("scorer", 2e-4, 5), run("clip4idc", 1e-2, 5), run("clip4idc", 2e-2, 9)]
    assert bench.further_searches(plan, SimpleNamespace(runs=[*inside, *far])) == []
