"""The tables of real screens, of a record with the network that left and of one without it."""

import dataclasses

import pytest

from benchmarks.record import read_results

SCRIPT = "screens.tables"


@pytest.fixture
def result():
    return read_results()["screens"]


def test_other_tools_stand_beside_the_measured_answer(bench, result):
    shown = bench.verdicts(result)
    figures = result.figures
    assert f"| whatchanged | {figures['measured']['auroc']['value']:.3f} (" in shown
    assert f"| pixelmatch, its default | {figures['pixelmatch']['default']['auroc']['value']:.3f} (" in shown
    assert "network" not in shown


def test_a_record_without_the_network_has_all_tables(bench, result):
    figures = {name: value for name, value in result.figures.items() if name not in ("model", "answered by")}
    alone = dataclasses.replace(result, figures=figures)
    assert bench.verdicts(alone) == bench.verdicts(result)
    assert bench.statements(alone) == bench.statements(result)
    assert "network" not in bench.network(alone) and "| pointing |" in bench.network(alone)
    assert bench.parts(alone).splitlines()[0].count("measured answer") == 3
