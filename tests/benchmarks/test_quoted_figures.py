"""Pages that repeat a figure say what the recorded measurement says."""

import re

import pytest

from benchmarks.record import ROOT, read_results


@pytest.fixture(scope="module")
def figures():
    return {name: result.figures for name, result in read_results().items()}


def told(page, pattern):
    """The numbers that a page gives where the pattern fits; blanks stand for any white space."""
    found = re.findall(pattern.replace(" ", r"\s+"), (ROOT / page).read_text(encoding="utf-8"))
    assert len(found) == 1, f"{page}: {pattern!r} fits {len(found)} times"
    return [int(number) for number in (found[0] if isinstance(found[0], tuple) else found)]


@pytest.mark.parametrize("page", ["README.md", "docs/start/ten-minutes.md"])
def test_real_screens(page, figures):
    numbers = told(
        page,
        r"tells (\d+) % of the changed and (\d+) % of the unchanged ones; of the changed ones the kind is"
        r" right in (\d+) % and the place in (\d+) %",
    )
    rules = figures["screens"]["measured"]
    names = ("change", "no_change", "kind", "pointing")
    assert numbers == [round(100 * rules[name]["value"]) for name in names]


def test_clevr(figures):
    def shares(name):
        scene = figures[name]["scene"]
        counts = (scene["semantic"]["true"], scene["distractor"]["called_none"])
        return [round(100 * share["count"] / share["of"]) for share in counts]

    numbers = told(
        "README.md",
        r"On Blender's renders (\d+) % of its sentences about changes are wholly true, and (\d+) % of the"
        r" unchanged pairs are called unchanged; on 4,000 drawn pairs (\d+) and (\d+) %",
    )
    assert numbers == [*shares("shipped-blender"), *shares("shipped-untouched")]
    others = told(
        "README.md",
        r"on Blender's renders (\d+) and (\d+) % of their sentences about changes are wholly true",
    )
    assert others == [shares("scorer-blender")[0], shares("clip4idc-blender")[0]]
