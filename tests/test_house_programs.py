"""Programs and libraries that are asked for in one place, and files that are read in one."""

import ast
import re
from collections.abc import Iterator

import pytest
from support.house import FILES, HOUSE, imported, module_of, names_in, trees


def test_json_and_numpys_files_are_read_in_one_place():
    """Each reader has its own errors for what strangers write; one place knows them all."""
    readers = re.compile(r"\bjson\.loads?\(|\bnp\.load\(|\bopen_memmap\(|\ballow_pickle=True")
    results = {path.name for path in FILES if readers.search(path.read_text(encoding="utf-8"))}
    assert results == {"arrays.py", "json_values.py"}


def imports_of(library: str) -> set[str]:
    """The files that import a library, by ``import`` statements or by its name."""
    by_name = re.compile(rf"""(import_module|__import__)\(\s*["']{library}\b""")
    return {
        module_of(path)
        for path, tree in trees().items()
        if any(name.split(".")[0] == library for _, name in imported(tree))
        or by_name.search(path.read_text(encoding="utf-8"))
    }


@pytest.mark.parametrize("library", ["onnxruntime", "ray"])
def test_what_reports_home_is_imported_by_telemetry_alone(library):
    assert imports_of(library) == set()
    text = (HOUSE / "telemetry.py").read_text(encoding="utf-8")
    assert f'"{library}"' in text


def test_numba_is_imported_in_one_place():
    assert imports_of("numba") == {"synth.clevr.compiling"}


def starts(tree: ast.Module) -> Iterator[ast.Call]:
    """Every start of a program."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            if isinstance(owner, ast.Name) and owner.id == "subprocess":
                yield node


def test_programs_are_found_and_given_variables_in_one_place():
    results = {module_of(p): list(starts(tree)) for p, tree in trees().items()}
    assert sum(map(len, results.values())) >= 4
    unsafe = [
        f"{name}:{call.lineno}"
        for name, calls in results.items()
        for call in calls
        if not any(k.arg == "env" and "program_environment" in names_in(k.value) for k in call.keywords)
    ]
    assert unsafe == []
    other = re.compile(r"os\.(system|popen|exec\w+|spawn\w+|posix_spawn\w*)\(|shell=True")
    assert [module_of(p) for p in FILES if other.search(p.read_text(encoding="utf-8"))] == []
    looking = {module_of(p) for p in FILES if "shutil.which(" in p.read_text(encoding="utf-8")}
    assert looking == {"programs", "evaluation.metrics.java"}  # there a path that a person has named


def test_new_interpreters_are_started_in_one_place():
    spawning = re.compile(r"get_context\(|ProcessPoolExecutor\(|set_start_method\(")
    assert {module_of(p) for p in FILES if spawning.search(p.read_text(encoding="utf-8"))} == {"processes"}
