"""``whatchanged models``: the shipped models, or a folder's, and whether their files are whole."""

import json
from typing import Annotated, Any

import typer

from whatchanged.errors import BundleError


def models(
    model: Annotated[
        str | None, typer.Argument(help="One model: a shipped name or a folder.", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """List the shipped models, or show one, with a check of every file."""
    from whatchanged.captioner.bundle import DEFAULT, open_bundle, shipped

    names = (model,) if model is not None else shipped()
    if not names:
        raise BundleError("No model is shipped with this copy of whatchanged. Name a folder: models FOLDER.")
    broken = False
    for name in names:
        try:
            bundle = open_bundle(name)
            bundle.check()
        except BundleError as error:
            broken = True
            typer.echo(f"whatchanged: {error}", err=True)
            continue
        row = _row(bundle, default=name == DEFAULT)
        typer.echo(json.dumps(row, ensure_ascii=False) if as_json else _line(row))
        if model is not None and not as_json:
            typer.echo(json.dumps(row["provenance"], indent=2, ensure_ascii=False))
    if broken:
        raise typer.Exit(2)


def _row(bundle: Any, default: bool) -> dict[str, Any]:
    card = bundle.card
    return {
        "name": card.name,
        "version": card.version,
        "method": card.method,
        "preset": card.preset,
        "world": card.world,
        "image_size": card.image_size,
        "words": len(card.vocabulary),
        "bytes": bundle.size,
        "default": default,
        "folder": str(bundle.folder),
        "provenance": dict(card.provenance),
    }


def _line(row: dict[str, Any]) -> str:
    width, height = row["image_size"]
    return (
        f"{row['name']} {row['version']}  {row['method']} ({row['preset']}), world {row['world']}, "
        f"{width}x{height}, {row['bytes'] / 1e6:.1f} MB, every file checked"
        f"{' [default]' if row['default'] else ''}"
    )
