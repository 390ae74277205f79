"""``whatchanged synth``: draw a data set.

Worlds say what they can draw (``Drawer``) and which options of its own each drawing has; this file knows no
world. Worlds are imported when the command runs or shows its help.
"""

import inspect
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand

from whatchanged.cli import completion
from whatchanged.cli.cluster import Ray, on_cluster, on_cpu
from whatchanged.cli.console import hold, note, progress, show
from whatchanged.cli.urls import any_remote
from whatchanged.errors import MissingExtra, PluginError
from whatchanged.plugins import fault
from whatchanged.scale.urls import path_of

if TYPE_CHECKING:
    from whatchanged.worlds import Drawer, DrawerOption

EXAMPLES = ("whatchanged synth clevr-change twin --scenes 100 --seed 1",)

OWN = "whatchanged.synth.own"
"""Where a context keeps the parameters of the drawers' own options."""


class SynthCommand(TyperCommand):
    """The command with the options of every drawer beside its own."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Every parameter; those of the drawers are made once in a context."""
        if OWN not in ctx.meta:
            ctx.meta[OWN] = _own_parameters()
        return [*super().get_params(ctx), *ctx.meta[OWN]]

    def invoke(self, ctx: Any) -> Any:
        """Run ``synth``, which finds the drawers' options that were given in ``ctx.obj``."""
        values = {parameter.name: ctx.params.pop(parameter.name) for parameter in ctx.meta[OWN]}
        ctx.obj = {name: value for name, value in values.items() if value is not None}
        return super().invoke(ctx)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """The usual help, and below it what can be drawn."""
        from whatchanged.worlds import all_drawers

        super().format_help(ctx, formatter)
        with formatter.section("What can be drawn"):
            formatter.write_dl([(drawer.name, _described(drawer)) for drawer in all_drawers()])


COMMAND = SynthCommand


def _described(drawer: "Drawer") -> str:
    width, height = drawer.size
    own = ", ".join(f"--{_dashed(option)}" for option in drawer.options)
    return f"{drawer.description}; {width}x{height}" + (f"; its own options: {own}" if own else "")


def _size(text: str) -> str:
    if text and not re.fullmatch(r"[1-9]\d{0,4}x[1-9]\d{0,4}", text):
        raise typer.BadParameter(f"{text!r} is not WIDTHxHEIGHT, for example 480x320.")
    return text


def synth(
    ctx: typer.Context,
    world: str = typer.Argument(
        ..., help="What to draw, one of the names below.", autocompletion=completion.drawings
    ),
    out: Path = typer.Argument(
        ...,
        help="The folder to make, or its URL; it must not exist (a pool grows).",
        parser=path_of,
        metavar="OUT",
    ),
    scenes: int = typer.Option(
        ..., "--scenes", "--documents", min=1, help="How many scenes to draw, or documents of screens."
    ),
    seed: int = typer.Option(0, "--seed", min=0, help="The same seed gives the same set."),
    size: str = typer.Option(
        "", "--size", callback=_size, help="WxH of the pictures; otherwise the size that is named below."
    ),
    workers: int = typer.Option(1, "--workers", min=1, help="Processes; any number writes the same bytes."),
    device: str = typer.Option("cpu", "--device", help="auto, cpu, cuda or cuda:NUMBER."),
    ray: Ray = None,
    quiet: bool = typer.Option(False, "--quiet", help="Nothing on stderr but errors."),
) -> None:
    """Draw pairs of pictures with sentences and the full truth about them."""
    from whatchanged.worlds import Drawing, find_drawer

    drawer = find_drawer(world)
    options = _options(drawer, ctx.obj)
    width, height = (int(side) for side in size.split("x")) if size else drawer.size
    draw = drawing_function(drawer)
    device = on_cpu(ray, device)
    if any_remote(out) and not drawer.elsewhere:
        raise typer.BadParameter(f"{world} is drawn on this machine's disk; {out} is a URL")
    hold(out)
    with (
        on_cluster(ray, [] if any_remote(out) else [out.absolute().parent], quiet) as cores,
        progress(drawer.unit, scenes, quiet) as advance,
    ):
        drawing = Drawing(out, scenes, seed, (width, height), cores or workers, device, advance)
        drawn = draw(drawing, **options)
    note(f"{drawn} in {out}", quiet)
    show(str(out))


def _options(drawer: "Drawer", given: dict[str, str]) -> dict[str, str | int | float]:
    """The values of a drawer's own options. Raises BadParameter for one that it does not have."""
    known = {option.name: option for option in drawer.options}
    for name in inspect.signature(synth).parameters:
        if name in known:
            raise PluginError(f"{drawer.name} cannot be drawn: its option {name!r} has a name that is taken.")
    for name in given:
        if name not in known:
            own = ", ".join(f"--{_dashed(option)}" for option in drawer.options) or "none"
            raise typer.BadParameter(
                f"{drawer.name} has no such option. Options of its own: {own}.",
                param_hint=f"--{name.replace('_', '-')}",
            )
    return {
        name: _value(option, given[name]) if name in given else option.default
        for name, option in known.items()
    }


def _value(option: "DrawerOption", text: str) -> str | int | float:
    """What was typed, as the option's type. Raises BadParameter where it is not among its values."""
    hint = f"--{_dashed(option)}"
    try:
        value = type(option.default)(text)
    except ValueError:
        kind = "a whole number" if isinstance(option.default, int) else "a number"
        raise typer.BadParameter(f"{text!r} is not {kind}.", param_hint=hint) from None
    if option.choices and value not in option.choices:
        raise typer.BadParameter(f"{text!r} is not one of {', '.join(option.choices)}.", param_hint=hint)
    if not isinstance(value, str):
        least = -float("inf") if option.least is None else option.least
        most = float("inf") if option.most is None else option.most
        if not least <= value <= most:
            raise typer.BadParameter(f"{text} is not from {least:g} to {most:g}.", param_hint=hint)
    return value


def _own_parameters() -> list[Any]:
    """The drawers' own options as parameters of the command line; two drawers may share one by its name.

    Values are read as text, since two drawers may take different ones.
    """
    from whatchanged.worlds import all_drawers

    common = inspect.signature(synth).parameters
    shared: dict[str, list[tuple[Drawer, DrawerOption]]] = {}
    for drawer in all_drawers():
        for option in drawer.options:
            if option.name not in common:
                shared.setdefault(option.name, []).append((drawer, option))

    def options() -> None:
        """Never called: Typer reads its signature."""

    parameters = [_parameter(name, uses) for name, uses in shared.items()]
    options.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    app = typer.Typer(add_completion=False)
    app.command(add_help_option=False)(options)
    return list(typer.main.get_command(app).params)


def _parameter(name: str, uses: "list[tuple[Drawer, DrawerOption]]") -> inspect.Parameter:
    first = uses[0][1]
    alike = all(_metavar(option) == _metavar(first) for _, option in uses)
    texts = [f"{drawer.name}: {option.help}; {option.default} if left out." for drawer, option in uses]
    declared = typer.Option(
        None,
        f"--{_dashed(first)}",
        help=" ".join(texts),
        metavar=_metavar(first) if alike else "VALUE",
        rich_help_panel="Options of some drawings",
    )
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=declared, annotation=str | None)


def _metavar(option: "DrawerOption") -> str:
    """What stands for an option's value in the help."""
    if option.choices:
        return "|".join(option.choices)
    return {str: "TEXT", int: "NUMBER", float: "NUMBER"}[type(option.default)]


def _dashed(option: "DrawerOption") -> str:
    return option.name.replace("_", "-")


def drawing_function(drawer: "Drawer") -> Callable[..., str]:
    """The function that draws, its module imported now."""
    module, _, function = drawer.draw.partition(":")
    try:
        draw: Callable[..., str] = getattr(import_module(module), function)
    except ModuleNotFoundError as error:
        if drawer.extra:
            raise MissingExtra(f"Drawing {drawer.name}", error.name or module, drawer.extra) from error
        raise PluginError(f"{drawer.name} cannot be drawn: {drawer.draw}: {fault(error)}.") from error
    except Exception as error:  # whatever a stranger's module does when it is imported
        raise PluginError(f"{drawer.name} cannot be drawn: {drawer.draw}: {fault(error)}.") from error
    return draw
