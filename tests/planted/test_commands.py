"""Every command, run in a folder that a stranger has prepared: nothing of it is run, nothing is sent."""

import re
from pathlib import Path

import pytest

from planted.commands import PLANNED
from planted.folder import files_below
from whatchanged.cli import COMMANDS

SECONDS = 400
"""A command takes a fraction of it; then it hangs."""
CLOUD = {"169.254.169.254"}
"""Where machines in clouds ask what they are. Ray does, and asks the name server for another such place."""


def name_servers():
    """The addresses that this machine asks for names."""
    settings = Path("/etc/resolv.conf")
    return set(re.findall(r"^nameserver\s+(\S+)", settings.read_text(), re.MULTILINE))


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
    if ran.code == 2 and "which is not here. Install it" in ran.err:
        pytest.skip(ran.err)
    assert ran.code in plan.codes, ran.err
    assert "evil" not in ran.err
    own = (".cache/whatchanged/", ".ray/auth_token")  # the latter is what Ray's processes know each other by
    assert [file for file in files_below(planted.home) if not file.startswith(own)] == []
    if "ray" not in plan.name:
        assert ran.sent in (None, ())
    elif ran.sent is not None:
        assert set(ran.sent) <= CLOUD | name_servers()
    assert not (planted.here / "numba_cache").exists()  # as the planted settings would have it
