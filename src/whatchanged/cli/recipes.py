"""``whatchanged recipes``: list the recipes and methods, or print a recipe."""

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from whatchanged.cli import completion
from whatchanged.cli.console import show_lines

EXAMPLES = (
    "whatchanged recipes",
    "whatchanged recipes pcl-tiny --resolved",
)


def recipes(
    name: str | None = typer.Argument(
        None,
        help="A recipe to print, by name or file; without it, all are listed.",
        autocompletion=completion.recipes,
    ),
    resolved: bool = typer.Option(False, "--resolved", help="Print every setting, defaults included."),
    set_: list[str] = typer.Option(
        [], "--set", help="KEY=VALUE, for example stage.caption.lr=1e-4; repeatable."
    ),
) -> None:
    """List the recipes and the methods, or print a recipe (copy it out to change it)."""
    from whatchanged.recipes.reader import dump_recipe, load_recipe, recipe_text

    if name is None:
        _list()
        return
    recipe = load_recipe(name, set_)  # a recipe that cannot be read is not printed either
    text = dump_recipe(recipe) if resolved or set_ else recipe_text(name)
    show_lines(text.removesuffix("\n"))


def _list() -> None:
    """Every recipe and what it trains; below, every method that a recipe can name, and where it comes
    from."""
    from whatchanged import plugins
    from whatchanged.recipes.methods import METHODS
    from whatchanged.recipes.reader import load_recipe, recipe_names

    recipes = [(name, load_recipe(name).description) for name in recipe_names()]
    Console().print(_table("recipe", "what it trains", recipes))
    methods = [(name, "whatchanged") for name in METHODS]
    methods += [(plugin.name, plugin.package) for plugin in plugins.installed(plugins.METHODS, METHODS)]
    print()
    Console().print(_table("method", "package", methods))


def _table(first: str, second: str, rows: list[tuple[str, str]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(first, no_wrap=True)
    table.add_column(second)
    for row in rows:
        table.add_row(*map(escape, row))
    return table
