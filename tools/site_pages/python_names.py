"""The pages of the Python names: every public name of the public modules, for mkdocstrings."""

from collections.abc import Callable

import griffe

PAGES = {
    "describe": ("Describing pictures", ("whatchanged",)),
    "datasets": ("Data sets", ("whatchanged.datasets", "whatchanged.records")),
    "evaluation": ("Evaluation", ("whatchanged.evaluation",)),
    "training": ("Recipes and training", ("whatchanged.recipes", "whatchanged.training")),
    "methods": ("A method of your own", ("whatchanged.training.methods",)),
    "page": ("Pages", ("whatchanged.page",)),
    "plugins": (
        "Plug-ins and their tests",
        (
            "whatchanged.worlds",
            "whatchanged.training.features",
            "whatchanged.testing",
            "whatchanged.testing.methods",
        ),
    ),
    "errors": ("Errors", ("whatchanged.errors",)),
}
"""Page -> its title and the modules whose public names it shows."""
ELSEWHERE = {"datasets", "evaluation", "recipes", "training", "WhatchangedError", "__version__"}
"""Names of ``whatchanged`` itself that another page shows, or that need no words."""
Warn = Callable[[str], None]


def python_pages(warn: Warn) -> dict[str, str]:
    """Place -> page. ``warn`` is told of public names without a docstring."""
    package = griffe.load("whatchanged", resolve_aliases=True)
    pages = {}
    for page, (title, modules) in PAGES.items():
        parts = [f"# {title}\n"]
        for name in modules:
            module = package if name == "whatchanged" else package[name.removeprefix("whatchanged.")]
            parts.append(_section(module, warn))
        pages[f"reference/python/{page}.md"] = "\n".join(parts)
    return pages


def public_names(module: griffe.Module | griffe.Alias) -> list[str]:
    """The names in ``__all__``; without it, the functions, classes and values that do not begin with _."""
    if module.exports is not None:
        names = [str(name) for name in module.exports]
    else:
        names = [name for name, member in module.members.items() if _is_own(name, member)]
    return [name for name in names if module.path != "whatchanged" or name not in ELSEWHERE]


def _is_own(name: str, member: griffe.Object | griffe.Alias) -> bool:
    """Whether a module without ``__all__`` shows this: its own, documented, no module."""
    foreign = name.startswith("_") or member.is_alias or member.is_module
    return not foreign and member.docstring is not None


def _section(module: griffe.Module | griffe.Alias, warn: Warn) -> str:
    names = sorted(public_names(module), key=lambda name: _rank(module[name]))
    for name in names:
        for path in undocumented(module[name]):
            warn(f"public name without a docstring: {path}")
    alone = _options(2, show_root_heading=False, show_root_toc_entry=False, members=False)
    head = f"## `{module.path}`\n\n::: {module.path}\n{alone}\n"
    return head + "\n".join(f"::: {module.path}.{name}\n{_options(3)}" for name in names)


def _rank(found: griffe.Object | griffe.Alias) -> int:
    """Functions come first, then classes, then values."""
    target = found.final_target if found.is_alias else found
    return 0 if target.is_function else 1 if target.is_class else 2


def _options(level: int, **more: bool) -> str:
    lines = [f"heading_level: {level}", *(f"{key}: {str(value).lower()}" for key, value in more.items())]
    return "    options:\n" + "".join(f"      {line}\n" for line in lines)


def undocumented(found: griffe.Object | griffe.Alias) -> list[str]:
    """The paths of a public object and of its public methods that have no docstring."""
    target = found.final_target if found.is_alias else found
    paths = [] if target.docstring else [target.path]
    if isinstance(target, griffe.Class):
        methods = [member for name, member in target.members.items() if not name.startswith("_")]
        paths += [member.path for member in methods if member.is_function and not member.docstring]
    return paths
