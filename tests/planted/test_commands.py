"""Every command, run in a folder that a stranger has prepared: nothing of it is run, nothing is sent."""

import pytest
from planted_commands import PLANNED
from planted_folder import files_below

from whatchanged.cli import COMMANDS

SECONDS = 400
"""A command takes a fraction of it; then it hangs."""


def each(plans):
    """Test parameters: the quick ones by default, the others among the slow tests."""
    return [pytest.param(p, id=p.name, marks=() if p.quick else pytest.mark.slow) for p in plans]


def test_every_command_is_among_them():
    assert {plan.command.arguments[0] for plan in PLANNED} == set(COMMANDS)


@pytest.mark.parametrize("plan", each(PLANNED))
def test_no_planted_code_is_run_and_nothing_is_sent(plan, planted, inputs):
    inputs(planted.here, plan.command.needs)
    if plan.before is not None:
        plan.before(planted.here)
    planted.plant_code()
    ran = planted.run(*plan.command.arguments, seconds=SECONDS)
    planted.check()
    assert ran.code in plan.codes, ran.err
    assert "evil" not in ran.err
    assert [file for file in files_below(planted.home) if not file.startswith(".cache/whatchanged/")] == []
    assert ran.sent in (None, ())
    assert not (planted.here / "numba_cache").exists()  # as the planted settings would have it
