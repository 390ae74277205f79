"""Tables of several records."""

import dataclasses

import pytest

from benchmarks.record import read_results

SCRIPT = "across"


@pytest.fixture
def results():
    return read_results()


def test_the_scores_of_clevr_pcl_are_those_of_the_reports(bench, results):
    """Each number by hand from the counts of the recorded report."""
    true = results["shipped-blender"].figures["scene"]["semantic"]["true"]
    shown = bench.ACROSS["clevr-pcl"].table(results)
    line = next(line for line in shown.splitlines() if "wholly true" in line)
    assert line.split("|")[2].strip().startswith(f"{100 * true['count'] / true['of']:.1f} (")


def test_stopped_commands_are_summed_over_their_records(bench, results):
    rows = [{"command": "train", "stopped": 3, "faults": 1}, {"command": "export", "stopped": 2, "faults": 0}]
    few = {name: dataclasses.replace(results[name], figures={"rows": rows}) for name in bench.KILLS}
    shown = bench.stopped(few).splitlines()
    assert shown[2].endswith("| `train`, `export` | 5 | 1 |")
    assert shown[-1] == "| all |  | 20 | 4 |"


def test_every_record_is_listed_with_its_commands(bench, results):
    shown = bench.records(results)
    assert shown.count("\n") == len(results) + 1
    assert "`whatchanged caption twin -o out.jsonl`<br>`whatchanged evaluate out.jsonl twin`" in shown


def test_each_table_names_records_that_are_there(bench, results):
    for name, across in bench.ACROSS.items():
        assert set(across.records) <= set(results), name
        assert across.table(results).startswith("| ")
