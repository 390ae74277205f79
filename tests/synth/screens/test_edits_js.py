"""What is done in a page: Python calls what is there, which does what it says to a page in miniature."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from whatchanged.synth.screens import pages

ROOM = Path(pages.__file__).parent
EDITS = ROOM / "edits.js"

MARK = """
class Mark {
  constructor(attributes) { this.attributes = attributes; }
  getAttribute(name) { return this.attributes[name]; }
  setAttribute(name, value) { this.attributes[name] = String(value); }
}
const screens = { elements: [] };
globalThis.window = { screens };
"""
"""The least of a page that marks of a chart need."""


def test_python_calls_every_function_that_is_there_and_no_other():
    calls = {
        name
        for path in (ROOM / "changes").glob("*.py")
        for name in re.findall(r'\bcall\(\s*"(\w+)"', path.read_text(encoding="utf-8"))
    } | {"toggle", "check"}  # one of these two, by what is clicked
    there = re.findall(r"^    (\w+)\(index", EDITS.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(calls) == sorted(there)


def test_python_holds_no_script_of_its_own():
    for path in (ROOM / "changes").glob("*.py"):
        assert "screens.elements" not in path.read_text(encoding="utf-8"), path.name


def attributes_after(script: str, **attributes: str) -> dict[str, str]:
    """The attributes of the one element of a page after a script; skipped without Node."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed")
    program = "\n".join(
        [
            MARK,
            EDITS.read_text(encoding="utf-8"),
            f"screens.elements.push(new Mark({json.dumps(attributes)}));",
            script,
            "console.log(JSON.stringify(screens.elements[0].attributes));",
        ]
    )
    done = subprocess.run([node, "-"], input=program, capture_output=True, text=True, check=True, timeout=60)
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize(("step", "height", "top"), [(7, 57, 23), (-7, 43, 37)])
def test_a_bar_of_a_chart_keeps_its_foot(step, height, top):
    after = attributes_after(f"screens.edits.bar(0, {step});", y="30", height="50")
    assert after == {"y": str(top), "height": str(height)}


def test_a_line_of_a_chart_moves_up_and_down_and_stays_below_the_top():
    """Heights from 10 to 30 span 20, and 10 are added: half of that, times each step in turn."""
    after = attributes_after("screens.edits.series(0, 0.5, [1, -1]);", points="0,10 5,30 9,10 12,12")
    assert after == {"points": "0,25 5,15 9,25 12,1"}


def test_an_attribute_of_a_mark_is_set():
    assert attributes_after('screens.edits.attribute(0, "width", 12);', width="5") == {"width": "12"}
