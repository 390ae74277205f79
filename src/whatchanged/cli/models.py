"""``whatchanged models``: list the shipped models, or show one model, and check the files of each model."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whatchanged.cli import completion
from whatchanged.cli.console import note, show
from whatchanged.errors import BundleError

if TYPE_CHECKING:
    from whatchanged.captioner.bundle import Bundle
    from whatchanged.captioner.card import Input


EXAMPLES = (
    "whatchanged models",
    "whatchanged models clevr-pcl --json",
)


def models(
    model: Annotated[
        str | None,
        typer.Argument(
            help="One model: a shipped name or a folder.",
            show_default=False,
            autocompletion=completion.models,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on each line.")] = False,
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
            note(f"whatchanged: {error}")
            continue
        is_default = name == DEFAULT
        if as_json:  # escapes keep control characters from acting on the terminal
            typer.echo(json.dumps(_fields(bundle, is_default)))
        else:
            show(_line(bundle, is_default))
            if model is not None:
                typer.echo(json.dumps(dict(bundle.card.provenance), indent=2))
    if broken:
        raise typer.Exit(2)


def _fields(bundle: "Bundle", is_default: bool) -> dict[str, Any]:
    """Return the fields of a model in the format of ``--json``.

    The keys of the result are a public interface.
    """
    from whatchanged.captioner.card import PictureInput
    from whatchanged.captioner.card_json import declaration_to_json

    card = bundle.card
    return {
        "name": card.name,
        "version": card.version,
        "method": card.method,
        "preset": card.preset,
        "world": card.world,
        "image_size": card.input.size if isinstance(card.input, PictureInput) else None,
        "input": declaration_to_json(card.input),
        "attention": declaration_to_json(card.attention),
        "words": len(card.vocabulary),
        "bytes": bundle.size,
        "weights": bundle.has_weights,
        "default": is_default,
        "folder": str(bundle.folder),
        "provenance": dict(card.provenance),
    }


def _line(bundle: "Bundle", is_default: bool) -> str:
    card = bundle.card
    return (
        f"{card.name} {card.version}  {card.method} ({card.preset}), world {card.world}, "
        f"{_size(card.input)}, {bundle.size / 1e6:.1f} MB, every file checked"
        f"{' [default]' if is_default else ''}"
    )


def _size(declared: "Input") -> str:
    """Return the size of the model's input as text."""
    from whatchanged.captioner.card import PictureInput

    if isinstance(declared, PictureInput):
        width, height = declared.size
        return f"{width}x{height}"
    return f"features of {declared.rows}x{declared.columns} cells, {declared.width:,} numbers each"
