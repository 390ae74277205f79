"""The rules of the house that no linter knows: who may know a method, a vision or a source of data, how long
a file may be, and how it is laid out. What things are called: ``test_house_names.py``; who starts programs
and imports what reports home: ``test_house_programs.py``."""

import ast
import io
import re
import tokenize
from functools import cache
from pathlib import Path

import pytest
from support.house import FILES, HOUSE, imported, module_of, names_in, trees

from whatchanged.recipes.methods import METHODS
from whatchanged.recipes.tables import DATA, VISION

MOST_CODE, MOST_LINES = 350, 500
METHOD_ROOMS = ("training.methods", "recipes.methods")
"""Where a method's torch module and its settings lie, one file or more a method."""
MAY_KNOW_METHODS = (
    *METHOD_ROOMS,
    "training.objects",
    "training.weights",  # reads published weights
    "recipes.__init__",  # gives public names
    "recipes.compatibility",  # reads recipes of earlier versions
    "recipes.hints",  # says what is meant by names of earlier versions
)
NAMES = {*METHODS}
"""``method.name``, by which nobody may choose what to do."""


def room_of(path: Path) -> str:
    """Its module, by which a package's own file is told from those within."""
    module = module_of(path)
    return f"{module}.__init__" if path.name == "__init__.py" else module


def inside(module: str, rooms: tuple[str, ...]) -> bool:
    return any(module == room or module.startswith(f"{room}.") for room in rooms)


@cache
def class_names() -> set[str]:
    """The classes of the methods' own files: modules and settings."""
    return {
        node.name
        for path, tree in trees().items()
        if inside(module_of(path), METHOD_ROOMS) and path.stem != "__init__"
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }


def knows_a_method(path: Path, tree: ast.Module) -> list[str]:
    """What a file outside the rooms of the methods knows of one of them."""
    modules = {f"whatchanged.{module_of(p)}" for p in FILES if inside(module_of(p), METHOD_ROOMS)}
    modules -= {f"whatchanged.{room}" for room in METHOD_ROOMS}
    results = [f"{path.name}:{line}: imports {name}" for line, name in imported(tree) if name in modules]
    for node in ast.walk(tree):
        what = asks_for_a_method(node)
        if what:
            results.append(f"{path.name}:{node.lineno}: {what}")
    return results


def asks_for_a_method(node: ast.AST) -> str | None:
    """A type test for a method's class, or a comparison with a method's name."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 2:
        named = names_in(node.args[1]) & class_names()
        if node.func.id in ("isinstance", "issubclass") and named:
            return f"{node.func.id} with {', '.join(sorted(named))}"
    if isinstance(node, ast.MatchClass) and names_in(node.cls) & class_names():
        return "case of a method's class"
    if isinstance(node, ast.Compare):
        parts = [node.left, *node.comparators]
        if any(isinstance(op, ast.Is) for op in node.ops) and any(names_in(p) & class_names() for p in parts):
            return "comparison with a method's class"
        named = {text for part in parts for text in texts_in(part)} & NAMES
        return f"comparison with {', '.join(sorted(named))}" if named else None
    if isinstance(node, ast.MatchValue) and texts_in(node.value) & NAMES:
        return "case of a method's name"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        named = {text for argument in node.args for text in texts_in(argument)} & NAMES
        if node.func.attr in ("startswith", "endswith") and named:
            return f"{node.func.attr} with {', '.join(sorted(named))}"
    return None


def texts_in(node: ast.AST) -> set[str]:
    """A text, or the texts of a tuple, list or set of them."""
    parts = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
    return {part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)}


def test_nobody_asks_for_a_methods_class_or_name():
    elsewhere = {p: tree for p, tree in trees().items() if not inside(room_of(p), MAY_KNOW_METHODS)}
    assert len(elsewhere) > 150
    assert [what for path, tree in elsewhere.items() for what in knows_a_method(path, tree)] == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from whatchanged.training.methods.pcl import PCL", "imports whatchanged.training.methods.pcl"),
        ("import whatchanged.training.methods.scorer", "imports whatchanged.training.methods.scorer"),
        (
            "from whatchanged.training.methods import clip4idc",
            "imports whatchanged.training.methods.clip4idc",
        ),
        ("from whatchanged.recipes.methods.pcl import PCLConfig", "imports whatchanged.recipes.methods.pcl"),
        ("isinstance(x, PCL)", "isinstance with PCL"),
        ("isinstance(x, (int, methods.SCORER))", "isinstance with SCORER"),
        ("isinstance(x, PCLConfig | ScorerConfig)", "isinstance with PCLConfig, ScorerConfig"),
        ("type(x) is CLIP4IDC", "comparison with a method's class"),
        ("match x:\n case PCLConfig(): pass", "case of a method's class"),
        ("match x:\n case 'pcl': pass", "case of a method's name"),
        ("x.name == 'scorer'", "comparison with scorer"),
        ("x in ('pcl', 'other')", "comparison with pcl"),
        ("x.startswith('pcl')", "startswith with pcl"),
        ("from whatchanged.training.methods import Method", None),
        ("isinstance(x, Method)", None),
        ("isinstance(x, EmbedsCaptions)", None),
        ("x == 'pcl-birds'", None),
    ],
)
def test_what_counts_as_asking(text, found):
    told = knows_a_method(Path("x.py"), ast.parse(text))
    assert bool(told) == (found is not None)
    assert found is None or found in told[0]


# Who may know a vision, or a source of data


@cache
def settings_rooms() -> dict[str, set[str]]:
    """Class of settings of a vision or a source -> the modules that may name it.

    They are its own file, what it names as "module:function", and the public names of recipes.
    """
    results = {}
    for kind in (*VISION.kinds(), *DATA.kinds()):
        texts = [text for text in vars(kind).values() if isinstance(text, str)]
        computes = {text.partition(":")[0] for text in texts if text.startswith("whatchanged.")}
        results[kind.__name__] = {kind.__module__, "whatchanged.recipes", *computes}
    return results


KINDS = {*VISION.builtin, *DATA.builtin}
"""``vision.kind`` and ``data.source``, by which nobody may choose what to do."""


def knows_settings(module: str, tree: ast.Module) -> list[str]:
    """The settings of visions and sources that a module names and may not; kinds that it compares with."""
    forbidden = {name for name, allowed in settings_rooms().items() if f"whatchanged.{module}" not in allowed}
    results = []
    for node in ast.walk(tree):
        names = {alias.name for alias in node.names} if isinstance(node, ast.ImportFrom) else set()
        names |= {node.id} if isinstance(node, ast.Name) else set()
        names |= {node.attr} if isinstance(node, ast.Attribute) else set()
        results += [f"{module}:{node.lineno}: names {name}" for name in sorted(names & forbidden)]
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
            asked = {part.attr for part in parts if isinstance(part, ast.Attribute)} & {"kind", "source"}
            compared = {text for part in parts for text in texts_in(part)} & KINDS
            if asked and compared:
                results.append(f"{module}:{node.lineno}: comparison with {', '.join(sorted(compared))}")
    return results


def test_nobody_names_the_settings_of_a_vision_or_a_source():
    results = [what for path, tree in trees().items() for what in knows_settings(module_of(path), tree)]
    assert results == []


def test_each_vision_and_source_has_a_file_of_its_own():
    for table in (VISION, DATA):
        files = {kind.__module__ for kind in table.kinds()}
        assert len(files) == len(table.builtin)
    assert {name for name, allowed in settings_rooms().items() if len(allowed) == 2} == set()


@pytest.mark.parametrize(
    ("module", "text", "found"),
    [
        ("training.run", "from whatchanged.recipes import PoolConfig", "names PoolConfig"),
        ("training.run", "isinstance(x, visions.ObjectsConfig)", "names ObjectsConfig"),
        ("training.objects.tokens", "isinstance(x, FeaturesConfig)", "names FeaturesConfig"),
        ("cli.train", "recipe.data.source == 'pool'", "comparison with pool"),
        (
            "training.export",
            "recipe.vision.kind in ('features', 'patches')",
            "comparison with features, patches",
        ),
        ("training.objects.tokens", "from whatchanged.recipes import ObjectsConfig", None),
        ("recipes.visions.patches", "class PatchesConfig(VisionSettings): pass\nPatchesConfig()", None),
        ("training.run", "recipe.vision.frozen", None),
        ("cli.features", "name == 'patches'", None),
    ],
)
def test_what_counts_as_knowing_settings(module, text, found):
    told = knows_settings(module, ast.parse(text))
    assert bool(told) == (found is not None)
    assert found is None or found in told[0]


# What Python tells from 3.12 on

SEEN = {"bool", "int", "float", "str"}
"""Types of attributes that lie in the object itself; those of a module's parts and buffers do not."""


def unseen(tree: ast.Module) -> list[str]:
    """Attributes by which a protocol is told at run time, and which Python 3.12 does not see in a module."""
    results = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and "runtime_checkable" in {
            n for d in node.decorator_list for n in names_in(d)
        }:
            for part in node.body:
                annotated = isinstance(part, ast.AnnAssign) and not names_in(part.annotation) <= SEEN
                made = isinstance(part, ast.FunctionDef) and bool(part.decorator_list)
                if annotated or made:
                    results.append(f"{node.name}, line {part.lineno}")
    return results


@pytest.mark.parametrize("path", FILES, ids=module_of)
def test_protocols_that_are_told_at_run_time_have_methods_and_plain_values_alone(path):
    assert not unseen(trees()[path])


def test_what_python_does_not_see_in_a_module():
    text = """
@runtime_checkable
class Seeing(Protocol):
    ready: bool
    mean: Tensor

    @property
    def backbone(self) -> nn.Module: ...

    def see(self) -> None: ...
"""
    assert unseen(ast.parse(text)) == ["Seeing, line 5", "Seeing, line 8"]


# How long a file may be


def code_lines(text: str) -> int:
    """Lines that hold code: no docstrings, comments or blank lines."""
    prose: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else ():
            prose.update(lines_of_text(statement))
    empty = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in (*empty, tokenize.ENDMARKER):
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - prose)


def lines_of_text(statement: ast.stmt) -> range:
    """The lines of a statement that is a text and nothing else; none of any other."""
    alone = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    if alone and isinstance(statement.value.value, str):
        return range(statement.lineno, (statement.end_lineno or 0) + 1)
    return range(0)


def test_what_counts_as_code():
    texts = '"""Doc\n\nstring."""\n\nX = 1\n"""About X."""\n\n\n'
    text = texts + 'def f(a,\n      b):\n    """Doc."""\n    # why\n    return """\n    text"""\n'
    assert code_lines(text) == 5


def test_no_file_is_too_long():
    texts = {module_of(path): path.read_text(encoding="utf-8") for path in FILES}
    assert [name for name, text in texts.items() if len(text.splitlines()) > MOST_LINES] == []
    # A file cannot have more lines of code than lines.
    long = {name: text for name, text in texts.items() if len(text.splitlines()) > MOST_CODE}
    assert long and [name for name, text in long.items() if code_lines(text) > MOST_CODE] == []


# What the formatter may be kept off


def is_table_of_numbers(statement: ast.stmt) -> bool:
    """An assignment of a literal at least half of whose entries are numbers."""
    if not isinstance(statement, ast.Assign | ast.AnnAssign) or statement.value is None:
        return False
    parts = list(ast.walk(statement.value))
    literal = (ast.Constant, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.UnaryOp, ast.USub, ast.Load)
    leaves = [node.value for node in parts if isinstance(node, ast.Constant)]
    numbers = [value for value in leaves if isinstance(value, int | float) and not isinstance(value, bool)]
    return all(isinstance(node, literal) for node in parts) and 2 * len(numbers) >= len(leaves)


def laid_out_by_hand(text: str) -> list[int]:
    """Lines at which the formatter is kept off something else than a table of numbers."""
    statements = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)]
    results = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        mark = re.search(r"fmt:\s*(skip|off)", token.string) if token.type == tokenize.COMMENT else None
        if mark is None:
            continue
        line = token.start[0]
        if mark[1] == "skip":  # the innermost statement that ends there
            meant = [node for node in statements if node.lineno <= line <= (node.end_lineno or 0)][-1:]
        else:  # the next one
            meant = sorted((n for n in statements if n.lineno > line), key=lambda n: n.lineno)[:1]
        if not all(map(is_table_of_numbers, meant)) or not meant:
            results.append(line)
    return results


def test_what_counts_as_a_table_of_numbers():
    assert laid_out_by_hand("X = {\n  'a': (1, 2),\n  'b': (3, 4.5),\n}  # fmt: skip\n") == []
    assert laid_out_by_hand("X = (1, 2,\n  3, 4)  # fmt: skip\n'About X.'\n") == []
    assert laid_out_by_hand("# fmt: off\nX = ((1, 2), (3, 4))\n# fmt: on\n") == []
    assert laid_out_by_hand("X = (1, 2, 3, 4)\n# fmt: off\nY = ('a', 'b')\n# fmt: on\n") == [2]
    assert laid_out_by_hand("def f():\n  g(1, 2,\n    3, 4)  # fmt: skip\n") == [3]
    assert laid_out_by_hand("f(a, 1, 2,\n  3, 4)  # fmt: skip\n") == [2]
    assert laid_out_by_hand("X = ['a', 'b',\n  'c', 1, 2, 3, 4, 'd', 'e']  # fmt: skip\n") == [2]
    assert laid_out_by_hand("X = f(1,\n  2, 3, 4)  # fmt: skip\n") == [2]
    assert laid_out_by_hand("X = 1  # nothing\n") == []


def test_the_formatter_is_kept_off_tables_of_numbers_alone():
    by_hand = {
        path.relative_to(HOUSE).as_posix()
        for path in FILES
        if "fmt:" in (text := path.read_text(encoding="utf-8")) and laid_out_by_hand(text)
    }
    assert by_hand == set()
