"""RESULTS.md says what the recorded measurements say."""

import dataclasses
import json

import pytest

SCRIPT = "report"


@pytest.fixture
def results(bench):
    return bench.read_results()


def test_results_md_is_up_to_date_with_the_records(bench, capsys):
    assert bench.main(["--check"]) == 0, capsys.readouterr().err


def test_every_record_has_a_table_on_the_page(bench, results):
    marks = {found["view"].split()[0] for found in bench.MARKED.finditer(bench.PAGE.read_text())}
    assert set(results) <= marks


def test_a_changed_figure_makes_the_page_stale(bench, results):
    figures = json.loads(json.dumps(results["demo"].figures))
    figures["right"] -= 1
    results["demo"] = dataclasses.replace(results["demo"], figures=figures)
    page = bench.PAGE.read_text(encoding="utf-8")
    after, stale = bench.filled(page, results)
    assert stale == ["demo sentences"] and "9 of 10 sentences" in after
    assert bench.filled(after, results) == (after, [])


def test_the_headline_is_that_of_the_reports(bench, results):
    """Each number by hand from the counts of the recorded report."""
    scene = results["shipped-blender"].figures["scene"]
    true = scene["semantic"]["true"]
    line = next(line for line in bench.headline(results).splitlines() if "wholly true" in line)
    assert line.split("|")[2].strip().startswith(f"{100 * true['count'] / true['of']:.1f} (")


@pytest.mark.parametrize(
    ("mark", "words"), [("nothing table", "nothing.json"), ("demo references", "demo has the views")]
)
def test_a_mark_that_names_nothing_is_refused(mark, words, bench, results):
    with pytest.raises(ValueError, match=words):
        bench.section(mark, results)


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
