"""``whatchanged recipes``: list the recipes, or print one."""

import typer
from rich.console import Console
from rich.table import Table


def recipes(
    name: str | None = typer.Argument(
        None, help="A recipe to print, by name or file; without it, all are listed."
    ),
    resolved: bool = typer.Option(False, "--resolved", help="Print every setting, defaults included."),
    set_: list[str] = typer.Option(
        [], "--set", help="KEY=VALUE, for example stage.caption.lr=1e-4; repeatable."
    ),
) -> None:
    """List the recipes, or print one (copy it out to change it)."""
    from whatchanged.recipes.reader import dump_recipe, load_recipe, recipe_names, recipe_text

    if name is None:
        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column("recipe", no_wrap=True)
        table.add_column("what it trains")
        for known in recipe_names():
            table.add_row(known, load_recipe(known).description)
        Console().print(table)
        return
    recipe = load_recipe(name, set_)  # a recipe that cannot be read is not printed either
    print(dump_recipe(recipe) if resolved or set_ else recipe_text(name), end="")
