"""``whatchanged recipes``: list the recipes and methods, or print a recipe."""

import typer
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
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
    """List the recipes by what they need, and the methods; or print a recipe (copy it out to change it)."""
    from whatchanged.recipes.reader import load_recipe, recipe_text
    from whatchanged.recipes.values import dump_recipe

    if name is None:
        _list()
        return
    recipe = load_recipe(name, set_)  # an invalid recipe is not printed either
    text = dump_recipe(recipe) if resolved or set_ else recipe_text(name)
    show_lines(text.removesuffix("\n"))


def _list() -> None:
    """Print every recipe in its group, with its requirements and its duration.

    Then print every method, with the package of the method.
    """
    from whatchanged import plugins
    from whatchanged.recipes.methods import METHODS
    from whatchanged.recipes.overview import GROUPS, grouped_recipes

    console = Console(highlight=False)
    for group, entries in grouped_recipes().items():
        console.print(f"[bold]{escape(group)}[/bold]")
        console.print(Padding(escape(GROUPS[group]), (0, 0, 1, 2)))
        for entry in entries:
            console.print(f"[bold]{escape(entry.name)}[/bold]")
            needs = [f"Needs: {', '.join(entry.needs)}"] if entry.needs else []
            lines = [entry.description, *needs, f"Time: {entry.time}"]
            console.print(Padding(escape("\n".join(lines)), (0, 0, 0, 4)))
        console.print()
    methods = [(name, "whatchanged") for name in METHODS]
    methods += [(plugin.name, plugin.package) for plugin in plugins.installed(plugins.METHODS, METHODS)]
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("method", no_wrap=True)
    table.add_column("package")
    for row in methods:
        table.add_row(*map(escape, row))
    console.print(table)
