"""Tables of one record."""

import dataclasses

import pytest

from benchmarks.record import read_results

SCRIPT = "views"


@pytest.fixture
def results():
    return read_results()


@pytest.mark.parametrize(("other_load", "shown"), [(0.02, True), (0.5, False), (None, False)])
def test_times_are_shown_only_where_nothing_else_ran(other_load, shown, bench, results):
    figures = {"rows": [{"size": "240x160", "seconds": 1.25}], "times": ["seconds"]}
    result = dataclasses.replace(results["demo"], kind="rows", figures=figures, other_load=other_load)
    assert ("1.25" in bench.rows(result)) == shown
    operations = dataclasses.replace(results["operations"], other_load=other_load)
    assert ("ms, one thread" in bench.operations(operations)) == shown


def test_a_kind_of_which_no_picture_was_found_has_no_least_distance(bench, results):
    rows = [{"kind": "photographs", "warned_of": 0, "of": 0, "least_distance": None}]
    rows.append({"kind": "noise", "warned_of": 3, "of": 4, "least_distance": 1.5})
    result = dataclasses.replace(results["strange"], figures={"known": [], "strange": rows})
    assert "| photographs | 0 of 0 | - |" in bench.strange(result)
    assert "| noise | 3 of 4 | 1.50 |" in bench.strange(result)


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (None, None, "-"),
        (True, None, "yes"),
        (12345, None, "12,345"),
        (1.4e-6, None, "1.4e-06"),
        (93.456, None, "93.5"),
        (0.0, 1, "0.0"),
        ({"mean": 31.6, "low": 26.3, "high": 37.9}, None, "31.6 (26.3-37.9)"),
    ],
)
def test_cells_by_hand(value, decimals, text, bench):
    assert bench.value_text(value, decimals) == text


def test_cases_and_faults_of_the_planted_suite_are_counted_by_command(bench, results):
    figures = {
        "cases": 3,
        "rows": [{"command": "caption", "cases": 2}, {"command": "demo", "cases": 1}],
        "faults": [{"command": "demo", "what": "case 2", "fault": "code: 70"}],
    }
    shown = bench.planted(dataclasses.replace(results["kills"], figures=figures)).splitlines()
    assert shown[-3:] == ["| caption | 2 | 0 |", "| demo | 1 | 1 |", "| all | 3 | 1 |"]


def test_the_short_gate_shows_no_other_tool(bench, results):
    counts = {"right": 3, "pairs": 4, "false greens": 1, "false alarms": 0}
    systems = {"whatchanged": {"cases": counts}, "gate": {"cases": counts}, "odiff": {"cases": counts}}
    result = dataclasses.replace(results["gate"], figures={"systems": systems})
    shown = bench.VIEWS["gate"]
    assert shown["own"](result).splitlines()[0] == "| kind | pairs | whatchanged | gate |"
    assert shown["table"](result).splitlines()[-1] == "| cases | 4 |" + " 3 of 4 (1, 0) |" * 3
