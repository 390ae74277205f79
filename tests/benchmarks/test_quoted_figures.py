"""Pages that repeat a figure say what the recorded measurement says."""

import json
import re
from collections import Counter

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


MEASURED = ("change", "no_change", "kind", "pointing")
"""What is told of the 262 pairs of real screens."""


@pytest.mark.parametrize(
    ("page", "patterns"),
    [
        (
            "README.md",
            {
                "change": r"(\d+) % of the changed pairs are called changed",
                "no_change": r"(\d+) % of the unchanged pairs are called unchanged",
                "pointing": r"in (\d+) % of the changed pairs its first box lies on the change",
                "kind": r"in (\d+) % of the changed pairs \|",
            },
        ),
        (
            "docs/start/ten-minutes.md",
            {
                "change": r"calls (\d+) % of the changed",
                "no_change": r"and (\d+) % of the unchanged pairs unchanged",
                "kind": r"the kind of change is right in (\d+) %",
                "pointing": r"the first box lies on the change in (\d+) %",
            },
        ),
    ],
)
def test_real_screens(page, patterns, figures):
    rules = figures["screens"]["measured"]
    assert patterns.keys() == set(MEASURED)
    for name, pattern in patterns.items():
        assert told(page, pattern) == [round(100 * rules[name]["value"])], name


def test_sentences_about_real_screens():
    """As a reader judged them, who did not know which state of the program spoke."""
    changed = set(json.loads((ROOT / "benchmarks/readings/screens.list.json").read_text())["changed"])
    lines = (ROOT / "benchmarks/readings/screens.verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    now = [line for line in map(json.loads, lines) if "rules, with icons" in line["states"]]
    read = [line for line in now if line["id"] in changed]
    count = Counter(line["verdict"] for line in read)
    useful = round(100 * count["useful"] / len(read))
    wrong = round(100 * (count["partly"] + count["false"]) / len(read))
    vague = round(100 * count["true-vague"] / len(read))
    assert told("README.md", r"(\d+) % of (\d+), to a reader who did not know") == [useful, len(read)]
    assert told("README.md", r"(\d+) % are true but vague") == [vague]
    assert told("README.md", r"(\d+) % of the same (\d+) are partly or wholly wrong") == [wrong, len(read)]


def test_clevr(figures):
    semantic = figures["shipped-blender"]["scene"]["semantic"]["true"]
    (share,) = told("README.md", r"(\d+) % of its sentences about Blender's renders are wholly true")
    assert share == round(100 * semantic["count"] / semantic["of"])
