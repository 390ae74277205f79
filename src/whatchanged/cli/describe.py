"""``whatchanged describe``: one pair from the command line to its sentence."""

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whatchanged.cli import completion
from whatchanged.cli.console import check_output, check_outputs, note
from whatchanged.errors import OutputError
from whatchanged.files import write_output

if TYPE_CHECKING:
    from whatchanged.captioner.runtime import Description


EXAMPLES = (
    "whatchanged describe before.png after.png",
    "whatchanged describe before.png after.png --heatmap looked.png",
)


def describe(
    before: Annotated[Path, typer.Argument(help="The picture before.", show_default=False)],
    after: Annotated[Path, typer.Argument(help="The picture after.", show_default=False)],
    model: Annotated[
        str | None, typer.Option(help="A shipped model or a model folder.", autocompletion=completion.models)
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object on one line, long: with every word's maps.")
    ] = False,
    heatmap: Annotated[
        Path | None, typer.Option(help="Write both pictures, warm where the words looked, as PNG.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the heat map's file.")] = False,
    beams: Annotated[int, typer.Option(min=1, max=64, help="Hypotheses kept by the search.")] = 1,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 1 if something changed, as git diff does.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No remarks on stderr.")] = False,
) -> None:
    """Say in one sentence what changed between two pictures."""
    if heatmap is not None:
        check_output(heatmap, force)
        check_outputs([heatmap], (before, after))
        if heatmap.suffix.lower() != ".png":
            raise OutputError(f"{heatmap}: a heat map is written as PNG. Name a file that ends in .png.")
    from whatchanged.captioner.runtime import load
    from whatchanged.images import open_image

    first, second = open_image(before), open_image(after)
    captioner = load(model)
    found = captioner.describe(first, second, beams)
    if heatmap is not None:
        from whatchanged.captioner.heatmap import overlay

        picture = io.BytesIO()
        overlay(first, second, found.heatmaps, captioner.attention).save(picture, "PNG")
        write_output(heatmap, picture.getvalue())
    if as_json:
        fields = {"before": str(before), "after": str(after), **_fields(found, captioner.card.name)}
        typer.echo(json.dumps(fields, ensure_ascii=False))
    else:
        typer.echo(found.sentence)
        typer.echo(f"probability that nothing changed: {found.no_change:.2f}")
        if found.doubtful:
            note("The sentence and the probability disagree; look for yourself.", quiet)
    if found.ood_distance is not None and found.unfamiliar:
        note(_warning(found.ood_distance, captioner.card.name), quiet)
    if exit_code and found.changed:
        raise typer.Exit(1)


def _fields(found: "Description", model: str) -> dict[str, Any]:
    """The description as ``--json`` prints it. The keys are public."""
    fields: dict[str, Any] = {
        "caption": found.sentence,
        "no_change": round(found.no_change, 4),
        "changed": found.changed,
        "doubtful": found.doubtful,
    }
    if found.ood_distance is not None:
        fields["unfamiliar"] = found.unfamiliar
        fields["strangeness"] = [round(distance, 3) for distance in found.ood_distance]
    fields["model"] = model
    fields["words"] = [[word, maps.astype(float).round(4).tolist()] for word, maps in found.words]
    fields["heatmaps"] = found.heatmaps.astype(float).round(4).tolist()
    return fields


def _warning(distances: tuple[float, float], model: str) -> str:
    """Which of the two pictures are out of distribution; at least one of them is."""
    before, after = (distance > 1 for distance in distances)
    if before and after:
        which = "Both pictures look"
    else:
        which = f"The picture {'before' if before else 'after'} looks"
    return f"{which} unlike anything that {model} has seen; do not rely on the sentence."
