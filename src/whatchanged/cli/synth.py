"""``whatchanged synth``: draw a data set.

Each world declares its drawings (``Drawer``) and the options of each drawing. This file contains nothing
specific to a world. Worlds are imported when the command runs or shows its help. The user passes an option of
a drawing as ``--with KEY=VALUE`` or, in short form, as ``--KEY VALUE``.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand

from whatchanged.cli import completion
from whatchanged.cli.console import hold, note, progress, show
from whatchanged.cli.options import COMPUTED, Ray, on_cpu
from whatchanged.cli.urls import any_remote
from whatchanged.errors import MissingExtra, PluginError
from whatchanged.launch import Launch
from whatchanged.plugins import fault
from whatchanged.scale.sharing import on_cluster
from whatchanged.scale.urls import path_of

if TYPE_CHECKING:
    from whatchanged.worlds import Drawer, DrawerOption

EXAMPLES = (
    "whatchanged synth clevr-change twin --scenes 100 --seed 1",
    "whatchanged synth screens set --documents 20 --with family=plots",
)


class SynthCommand(TyperCommand):
    """The click class of the command ``synth``.

    The command also accepts the options of a drawing as ``--KEY VALUE``, and lists these options in its help.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the command line after ``--KEY VALUE`` for an option of a drawing is replaced by ``--with
        KEY=VALUE``.
        """
        common = {text for parameter in self.get_params(ctx) for text in parameter.opts}
        return super().parse_args(ctx, list(_written_out(args, common)))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the usual help, followed by the drawings and their options."""
        from whatchanged.worlds import all_drawers

        super().format_help(ctx, formatter)
        drawers = all_drawers()
        with formatter.section("What can be drawn"):
            formatter.write_dl([(drawer.name, _described(drawer)) for drawer in drawers])
        with formatter.section("Options of some drawings: --with KEY=VALUE, or --KEY VALUE for short"):
            own = [(drawer, option) for drawer in drawers for option in drawer.options]
            formatter.write_dl(
                [(f"{one.name}={_values(one)}", _option_help(drawer, one)) for drawer, one in own]
            )


COMMAND = SynthCommand


def _written_out(args: Sequence[str], common: set[str]) -> Iterator[str]:
    """Return the words of a command line.

    ``--KEY VALUE`` or ``--KEY=VALUE`` for an option of a drawing is replaced by ``--with KEY=VALUE``. common:
    the options of all drawings, which are not replaced.
    """
    unknown = [arg for arg in args if arg.startswith("--") and arg.partition("=")[0] not in common]
    if not unknown:  # options that every drawing has need no import of a world
        yield from args
        return
    from whatchanged.worlds import all_drawers

    own = {f"--{_dashed(option)}" for drawer in all_drawers() for option in drawer.options} - common
    words = iter(args)
    for word in words:
        name, given, value = word.partition("=")
        if name not in own:
            yield word
            continue
        yield "--with"
        typed = value if given else next(words, None)
        if typed is not None:
            yield f"{name[2:]}={typed}"


def _described(drawer: "Drawer") -> str:
    width, height = drawer.size
    own = ", ".join(option.name for option in drawer.options)
    return f"{drawer.description}; {width}x{height}" + (f"; its own options: {own}" if own else "")


def _option_help(drawer: "Drawer", option: "DrawerOption") -> str:
    """Return the help text for one option of a drawing."""
    default = f"; {option.default} if left out" if option.default != "" else ""
    return f"{drawer.name}: {option.help}{default}"


def _values(option: "DrawerOption") -> str:
    """Return the placeholder for an option's value in the help."""
    if option.choices:
        return "|".join(option.choices)
    return {str: "TEXT", int: "NUMBER", float: "NUMBER"}[type(option.default)]


def _dashed(option: "DrawerOption") -> str:
    return option.name.replace("_", "-")


def _size(text: str) -> str:
    if text and not re.fullmatch(r"[1-9]\d{0,4}x[1-9]\d{0,4}", text):
        raise typer.BadParameter(f"{text!r} is not WIDTHxHEIGHT, for example 480x320.")
    return text


def synth(
    world: str = typer.Argument(
        ..., help="What to draw, one of the names below.", autocompletion=completion.drawings
    ),
    out: Path = typer.Argument(
        ...,
        help="The new folder, or its URL; it must not exist (an existing pool grows).",
        parser=path_of,
        metavar="OUT",
    ),
    scenes: int = typer.Option(
        ...,
        "--scenes",
        "--documents",
        min=1,
        help="How many scenes to draw; for screens, how many documents.",
    ),
    seed: int = typer.Option(0, "--seed", min=0, help="The same seed gives the same set."),
    size: str = typer.Option(
        "", "--size", callback=_size, help="WxH of the pictures; the default size is listed below."
    ),
    own: list[str] = typer.Option(
        [], "--with", metavar="KEY=VALUE", help="An option of this drawing, listed below; repeat for more."
    ),
    workers: int = typer.Option(
        1, "--workers", min=1, help="Processes; any number writes the same bytes.", rich_help_panel=COMPUTED
    ),
    device: str = typer.Option(
        "cpu",
        "--device",
        help="auto, cpu, cuda or cuda:NUMBER, for drawings of other packages; ours use the CPU.",
        rich_help_panel=COMPUTED,
    ),
    ray: Ray = None,
    quiet: bool = typer.Option(False, "--quiet", help="Print nothing but errors on stderr."),
) -> None:
    """Draw pairs of pictures with sentences and the full truth about them."""
    from whatchanged.worlds import Drawing, find_drawer

    drawer = find_drawer(world)
    options = _options(drawer, own)
    width, height = (int(side) for side in size.split("x")) if size else drawer.size
    draw = drawing_function(drawer)
    launch = on_cpu(Launch(device, workers, ray=ray, quiet=quiet))
    if any_remote(out) and not drawer.elsewhere:
        raise typer.BadParameter(f"{world} is drawn on this machine's disk; {out} is a URL")
    hold(out)
    with (
        on_cluster(launch, [] if any_remote(out) else [out.absolute().parent]) as launch,
        progress(drawer.unit, scenes, quiet) as advance,
    ):
        drawing = Drawing(out, scenes, seed, (width, height), launch.workers or 1, launch.device, advance)
        drawn = draw(drawing, **options)
    note(f"{drawn} in {out}", quiet)
    show(str(out))


def _options(drawer: "Drawer", given: Sequence[str]) -> dict[str, str | int | float]:
    """Return the values of the options of a drawing.

    given: texts ``KEY=VALUE`` from the command line. Raises BadParameter.
    """
    known = {option.name: option for option in drawer.options}
    values = {name: option.default for name, option in known.items()}
    for text in given:
        key, equals, value = text.partition("=")
        option = known.get(key.replace("-", "_"))
        if not equals:
            raise typer.BadParameter(f"{text!r} is not KEY=VALUE.", param_hint="--with")
        if option is None:
            own = ", ".join(known) or "none"
            raise typer.BadParameter(
                f"{drawer.name} has no such option. Options of its own: {own}.", param_hint=f"--with {key}"
            )
        values[option.name] = _value(option, value)
    return values


def _value(option: "DrawerOption", text: str) -> str | int | float:
    """Convert the typed text to the type of the option. Raises BadParameter if the value is not allowed."""
    hint = f"--with {option.name}"
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


def drawing_function(drawer: "Drawer") -> Callable[..., str]:
    """Import and return the function that draws."""
    module, _, function = drawer.draw.partition(":")
    try:
        draw: Callable[..., str] = getattr(import_module(module), function)
    except ModuleNotFoundError as error:
        if drawer.extra:
            raise MissingExtra(f"Drawing {drawer.name}", error.name or module, drawer.extra) from error
        raise PluginError(f"{drawer.name} cannot be drawn: {drawer.draw}: {fault(error)}.") from error
    except Exception as error:  # a stranger's module may raise anything when it is imported
        raise PluginError(f"{drawer.name} cannot be drawn: {drawer.draw}: {fault(error)}.") from error
    return draw
