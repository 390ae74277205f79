"""Links that a stranger has put where a command writes: what they lead to stays as it is."""

import shutil
import socket
import sys

import pytest

from planted.commands import PLANNED

SECONDS = 400
QUICK = {"describe --heatmap"}
UNLOCKED = {"demo --save"}
"""Commands that take no lock: what has its name is nothing to them."""
GONE = 2**22 + 1
"""A number that no process has: it is beyond what Linux gives."""
MOST_ENTRIES = 8
"""Of a folder that a command wrote, how many are replaced by links, one after the other."""
SH = 'for name in {names}; do ln -s "{target}" "$(dirname $name)/.$(basename $name).{host}-$$.draft"; done'
"""Links by the name of a draft of the very process that then becomes the command."""

WRITERS = [
    plan for plan in PLANNED if plan.command.outputs and plan.before is None and "ray" not in plan.name
]
FOLDERS = [plan for plan in WRITERS if "." not in plan.command.outputs[0]]


def each(plans):
    """Test parameters: a few by default, the others among the slow tests."""
    return [pytest.param(p, id=p.name, marks=() if p.name in QUICK else pytest.mark.slow) for p in plans]


def prepared(planted, inputs, plan):
    """The names of what the command writes, in a folder that has what it reads."""
    inputs(planted.here, plan.command.needs)
    return plan.command.outputs


@pytest.mark.parametrize("plan", each(WRITERS))
@pytest.mark.parametrize("target", ["file", "new"])
def test_a_lock_that_is_a_link_is_refused(plan, target, planted, inputs):
    output, *_ = prepared(planted, inputs, plan)
    (planted.here / f".{output}.lock").symlink_to(f"../victim/{target}")
    ran = planted.run(*plan.command.arguments, seconds=SECONDS, watch=False)
    planted.check()
    if plan.name in UNLOCKED:
        assert ran.code == 0, ran.err
        return
    assert ran.code == 2
    assert f".{output}.lock" in ran.err and ran.err.count("whatchanged: ") == 1
    assert not (planted.here / output).exists()


@pytest.mark.parametrize("plan", each(WRITERS))
def test_what_killed_processes_seem_to_have_left_leads_nowhere(plan, planted, inputs):
    host = socket.gethostname()
    for output in prepared(planted, inputs, plan):
        (planted.here / f".{output}.{host}-{GONE}.draft").symlink_to("../victim/folder")
        (planted.here / f".{output}.{host}-{GONE + 1}.draft").symlink_to("../victim/file")
        (planted.here / f".{output}.{host}-{GONE}.replaced").symlink_to("../victim/folder")
    ran = planted.run(*plan.command.arguments, seconds=SECONDS, watch=False)
    planted.check()
    assert ran.code in (0, 2), ran.err


@pytest.mark.parametrize("plan", each(WRITERS))
@pytest.mark.parametrize(
    "target", ["file", *(pytest.param(t, marks=pytest.mark.slow) for t in ("folder", "new"))]
)
def test_a_draft_of_this_very_process_that_is_a_link_is_not_written_through(plan, target, planted, inputs):
    names = " ".join(f"./{output}" for output in prepared(planted, inputs, plan))
    planting = SH.format(names=names, target=planted.victim / target, host=socket.gethostname())
    program = f'{planting}; exec "{sys.executable}" "{planted.root}/bin/whatchanged" "$@"'
    ran = planted.run(
        *plan.command.arguments, start=["sh", "-c", program, "sh"], seconds=SECONDS, watch=False
    )
    planted.check()
    assert ran.code in (0, 2), ran.err


def entries_of(folder):
    """Some of the files and folders in a folder and in those of it, spread over all of them."""
    results = [p for p in sorted(folder.rglob("*")) if len(p.relative_to(folder).parts) <= 2]
    return results[:: -(-len(results) // MOST_ENTRIES)] if results else []


@pytest.mark.slow
@pytest.mark.parametrize("plan", [pytest.param(plan, id=plan.name) for plan in FOLDERS])
def test_a_link_inside_an_output_is_refused_or_replaced(plan, planted, inputs):
    output, *_ = prepared(planted, inputs, plan)
    first = planted.run(*plan.command.arguments, seconds=SECONDS, watch=False)
    if first.code == 2 and "which is not here. Install it" in first.err:
        pytest.skip(first.err)
    assert first.code == 0, first.err
    (planted.here / output).rename(planted.root / "written")
    checked = 0
    for entry in entries_of(planted.root / "written"):
        shutil.rmtree(planted.here / output, ignore_errors=True)
        shutil.copytree(planted.root / "written", planted.here / output, symlinks=True)
        place = planted.here / output / entry.relative_to(planted.root / "written")
        if place.is_dir():
            shutil.rmtree(place)
            place.symlink_to(planted.victim / "folder")
        else:
            place.unlink()
            place.symlink_to(planted.victim / "file")
        words = (*plan.command.arguments, *(plan.command.over or plan.command.again))
        ran = planted.run(*words, seconds=SECONDS, watch=False)
        planted.check()
        assert ran.code in (0, 1, 2), (place, ran.err)
        checked += 1
    assert checked
