"""What CONTRIBUTING promises of every source file: its size; nobody asks for a method's class or name."""

import ast
import io
import tokenize
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[1] / "src" / "whatchanged"
FILES = sorted(path for path in HOUSE.rglob("*.py"))
MOST_CODE, MOST_LINES = 350, 500
METHOD_FILES = ("pcl", "pcl_cross_task", "scorer", "clip4idc")
METHOD_NAMES = frozenset({"pcl", "pcl-cross-task", "scorer", "clip4idc"})
METHOD_CLASSES = frozenset({"PCL", "PCLCrossTask", "SCORER", "CLIP4IDC"})
OWN = (
    "training/methods/",
    "training/weights/",
    "recipes/methods/",
    "recipes/compatibility.py",
    "recipes/hints.py",
)
"""Where a method may be named: its own rooms, the readers of formats, and what earlier versions called it."""
SILENT = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE),
    *(tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER),
}


def code_lines(text):
    """Lines that hold code: no docstrings, comments or blank lines."""
    docs = set()
    for node in ast.walk(ast.parse(text)):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
                docs.update(range(child.lineno, child.end_lineno + 1))
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in SILENT:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - docs)


def test_lines_of_code_by_hand():
    text = '"""Doc."""\n\n# comment\nx = 1\n\n\ndef f():\n    """Doc\n    more."""\n    return (\n        x\n'
    text += "    )\n"
    assert code_lines(text) == 5


def test_no_file_is_too_long():
    assert len(FILES) > 150
    sizes = {str(path.relative_to(HOUSE)): path.read_text(encoding="utf-8") for path in FILES}
    long = {
        name: (code_lines(text), text.count("\n"))
        for name, text in sizes.items()
        if text.count("\n") > MOST_LINES or code_lines(text) > MOST_CODE
    }
    assert long == {}


def asks_for_a_method(text):
    """Imports of methods' modules, tests of their classes, comparisons of their names."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module:
            room, _, name = node.module.rpartition(".")
            if room == "whatchanged.training.methods" and name.startswith(METHOD_FILES):
                found.append(node.module)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "issubclass"):
            names = {part.id for part in ast.walk(node.args[1]) if isinstance(part, ast.Name)}
            found += sorted(names & METHOD_CLASSES)
        if isinstance(node, ast.Compare):
            values = [side.value for side in (node.left, *node.comparators) if isinstance(side, ast.Constant)]
            found += [value for value in values if value in METHOD_NAMES]
    return found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from whatchanged.training.methods.pcl import PCL", ["whatchanged.training.methods.pcl"]),
        ("isinstance(method, (PCL, SCORER))", ["PCL", "SCORER"]),
        ("if config.name == 'scorer': pass", ["scorer"]),
        ("from whatchanged.training.methods import Method\nisinstance(method, EmbedsCaptions)", []),
    ],
)
def test_what_counts_as_asking(text, found):
    assert asks_for_a_method(text) == found


def test_nobody_asks_for_a_methods_class_or_name():
    asked = {}
    for path in FILES:
        name = path.relative_to(HOUSE).as_posix()
        if not name.startswith(OWN):
            asked[name] = asks_for_a_method(path.read_text(encoding="utf-8"))
    assert len(asked) > 150
    assert {name: found for name, found in asked.items() if found} == {}
