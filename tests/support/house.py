"""The files of the package as the rules of the house read them: their modules, imports and names."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

HOUSE = Path(__file__).resolve().parents[2] / "src" / "whatchanged"
FILES = sorted(HOUSE.rglob("*.py"))


@cache
def trees() -> dict[Path, ast.Module]:
    """Each file with its syntax tree. They are parsed once, by the tests that need them."""
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in FILES}


def module_of(path: Path) -> str:
    """The file's module inside the package: ``training.methods.pcl``."""
    return ".".join(path.relative_to(HOUSE).with_suffix("").parts).removesuffix(".__init__")


def room_of(path: Path) -> str:
    """Its module, by which a package's own file is told from those within."""
    module = module_of(path)
    return f"{module}.__init__" if path.name == "__init__.py" else module


def imported(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Lines and modules of every import, those inside functions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.lineno, node.module
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def names_in(node: ast.AST) -> set[str]:
    """Names of variables and attributes in an expression."""
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return names | {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
