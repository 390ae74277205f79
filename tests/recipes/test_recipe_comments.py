"""What the comments of shipped recipes point to is there: pages, their headings, scripts, other recipes."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RECIPES = sorted((ROOT / "src" / "whatchanged" / "recipes").glob("*.toml"))
FILE = re.compile(r"\b((?:docs|benchmarks|src|tools)/[\w./-]+\.\w+|[A-Z]+\.md)\b")
HEADING = re.compile(r'\b([\w./-]+\.md), "([^"]+)"')
OTHER = re.compile(r"\(see ([\w-]+)\)|\bwhatchanged train ([a-z][\w-]+)")


def comment(path):
    """The comments of a recipe as one line."""
    lines = (line.partition("#")[2].strip() for line in path.read_text(encoding="utf-8").splitlines())
    return " ".join(line for line in lines if line)


def lost(text):
    """What a comment points to that is not there."""
    results = [name for name in FILE.findall(text) if not (ROOT / name).is_file()]
    for page, heading in HEADING.findall(text):
        wanted = re.compile(rf"^#+ .*{re.escape(heading)}", re.MULTILINE)
        if not (ROOT / page).is_file() or not wanted.search((ROOT / page).read_text(encoding="utf-8")):
            results.append(f'{page}, "{heading}"')
    known = {path.stem for path in RECIPES} | {"there"}
    return results + [one or other for one, other in OTHER.findall(text) if (one or other) not in known]


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_every_pointer_leads_somewhere(path):
    assert lost(comment(path)) == []


def test_pointers_that_lead_nowhere_are_found():
    text = 'docs/none.md; RESULTS.md, "No such heading"; (see no-recipe) whatchanged train not-one --data X'
    assert lost(text) == ["docs/none.md", 'RESULTS.md, "No such heading"', "no-recipe", "not-one"]
    assert lost('docs/results/papers.md, "Birds" (see pcl-tiny) benchmarks/learning/curves.py') == []
