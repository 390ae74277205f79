"""One word, one meaning: what classes, aliases, functions and their parameters are called."""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

import pytest
from support.house import FILES, module_of, trees

ONE_FORM = {"Array", "Box", "Floats", "Table", "Values"}
"""Aliases that say the same in more than one type: arrays of numbers in the width that a module computes in;
left, top, right, bottom as whole pixels or as any numbers; a title and rows as lists or as any sequences."""


def meanings(trees: Iterable[ast.Module]) -> dict[str, list[str]]:
    """Name -> what it stands for, of every class and type alias at the top of a file."""
    results: dict[str, list[str]] = defaultdict(list)
    for node in (node for tree in trees for node in tree.body):
        if isinstance(node, ast.ClassDef):
            results[node.name].append("class")
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if re.fullmatch(r"_?[A-Z]+[a-z]\w*", name):
                results[name].append(ast.unparse(node.value))
    return results


def test_no_two_classes_have_one_name():
    found = Counter(
        node.name for tree in trees().values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)
    )
    assert sum(found.values()) > 300
    assert [name for name, count in found.items() if count > 1] == []


def test_no_alias_has_the_name_of_a_class_or_of_another_alias():
    results = meanings(trees().values())
    unlike = {name for name, kinds in results.items() if len(set(kinds)) > 1}
    assert unlike - ONE_FORM == set()
    assert unlike >= ONE_FORM
    assert not any("class" in results[name] for name in ONE_FORM)


def test_what_names_stand_for():
    text = "class A(B): pass\nWORDS = 1\n_Pair = tuple[A, A]\ndef f():\n  class A: pass\n"
    assert meanings([ast.parse(text), ast.parse("class A: pass")]) == {
        "A": ["class", "class"],
        "_Pair": ["tuple[A, A]"],
    }


# The words of the house

OLD_WORDS = {
    *(
        "place",
        "places",
        "placed",
        "placing",
        "found",
        "told",
        "tell",
        "laid",
        "asked",
        "ask",
        "asks",
        "asking",
    ),
    *("stranger", "strangers", "said", "say", "idle", "colour", "colours", "coloured", "must", "held"),
    *("seeing", "survey", "fate", "strangeness", "sitting", "relate", "untrained", "parcel"),
}
"""Words that are private, or that stood for several things each."""
MAY_STAY = {
    "worlds.WorldLanguage.tell": "promised in docs/promises.md",
    "worlds.WorldLanguage.__post_init__.tell": "promised in docs/promises.md",
    "recipes.methods.MethodSettings.compares_by_place": "promised in docs/promises.md",
    "recipes.methods.scorer.ScorerConfig.compares_by_place": "promised in docs/promises.md",
    "recipes.methods.duda.DudaConfig.compares_by_place": "promised in docs/promises.md",
    "recipes.methods.dirl.DirlConfig.compares_by_place": "promised in docs/promises.md",
    "measured.result.Measured.idle": "a key of stored answers",
    "worlds.screens.judging.Grades.place": "a key of the report",
    "training.objects.pool_source._begin.held": "a key of a run's file",
}
"""Names with an old word -> why each stays. The part of the package does not count: modules move."""


def parts_of(name: str) -> set[str]:
    """The words of a name in snake_case or CamelCase, in lower case."""
    return {part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)}


def defined(body: Iterable[ast.AST], owner: str = "") -> Iterator[tuple[int, str]]:
    """Lines and dotted names of functions, their parameters, classes and their fields, nested ones too."""
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            own = f"{owner}.{node.name}"
            yield node.lineno, own
            if not isinstance(node, ast.ClassDef):
                named = [part for part in ast.walk(node.args) if isinstance(part, ast.arg)]
                yield from ((part.lineno, f"{own}.{part.arg}") for part in named)
            yield from defined(node.body, own)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            if owner and owner.rpartition(".")[2][:1].isupper():
                yield node.lineno, f"{owner}.{node.target.id}"
        else:
            yield from defined(ast.iter_child_nodes(node), owner)


def old_words(module: str, tree: ast.Module) -> list[str]:
    """The names of a module that have an old word, with their lines."""
    kept = {name.split(".")[-2] + "." + name.split(".")[-1] for name in MAY_STAY}
    return [
        f"{module}:{line}: {name.removeprefix('.')}"
        for line, name in defined(tree.body)
        if parts_of(name.rpartition(".")[2]) & OLD_WORDS and ".".join(name.split(".")[-2:]) not in kept
    ]


def test_names_have_none_of_the_old_words():
    assert [module_of(path) for path in FILES if parts_of(path.stem) & OLD_WORDS] == []
    assert [name for path, tree in trees().items() for name in old_words(module_of(path), tree)] == []


def test_every_exception_is_needed():
    there = {".".join(name.split(".")[-2:]) for tree in trees().values() for _, name in defined(tree.body)}
    assert {name for name in MAY_STAY if ".".join(name.split(".")[-2:]) not in there} == set()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("def place(): pass", ["m:1: place"]),
        ("def replace(placement): pass", []),
        ("def f(*, found): pass", ["m:1: f.found"]),
        ("class SaidByRun: pass", ["m:1: SaidByRun"]),
        ("class A:\n  idle: int\n  def told_with(self): pass", ["m:2: A.idle", "m:3: A.told_with"]),
        ("if True:\n  def f():\n    def asked_rows(): pass", ["m:3: f.asked_rows"]),
        ("def f():\n  found: int = 1", []),
        ("class WorldLanguage:\n  tell: int", []),
    ],
)
def test_what_has_an_old_word(text, names):
    assert old_words("m", ast.parse(text)) == names
