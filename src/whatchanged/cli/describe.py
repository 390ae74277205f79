"""``whatchanged describe``: print a sentence for one pair of pictures."""

import io
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whatchanged.cli.console import check_output, check_outputs, note, print_result
from whatchanged.cli.options import ModelName, PolicyName, ReadText, answering
from whatchanged.cli.pdf import PDFDensity, are_pdf, describe_pages
from whatchanged.errors import ImageError, OutputError, escaped, escaped_json
from whatchanged.files import write_output

if TYPE_CHECKING:
    from whatchanged.answers import Answer
    from whatchanged.captioner.description import Description
    from whatchanged.images import PictureSource
    from whatchanged.measured import Box
    from whatchanged.measured.policy import Policy

STREAM = "-"
"""The name that stands for stdin or stdout on the command line."""
STDOUT = Path("/dev/stdout")

EXAMPLES = (
    "whatchanged describe before.png after.png",
    "whatchanged describe before.png after.png --heatmap looked.png",
)


def describe(
    before: Annotated[
        str, typer.Argument(help="The picture before; - reads it from stdin.", show_default=False)
    ],
    after: Annotated[str, typer.Argument(help="The picture after; likewise.", show_default=False)],
    model: ModelName = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on one line.")] = False,
    maps: Annotated[
        bool, typer.Option("--maps", help="Print JSON with every word's attention: a long line.")
    ] = False,
    heatmap: Annotated[
        str | None,
        typer.Option(
            metavar="PNG",
            help="Write both pictures, with the attention or boxes of the changes; - for stdout.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing heat map.")] = False,
    beams: Annotated[int, typer.Option(min=1, max=64, help="Hypotheses of beam search; 1 is greedy.")] = 1,
    read_text: ReadText = None,
    policy: PolicyName = None,
    policies: Annotated[
        Path | None,
        typer.Option(metavar="POLICIES.json", help="A file with policies for some pictures, as for compare."),
    ] = None,
    ignore: Annotated[
        Path | None,
        typer.Option(metavar="BOXES.json", help="A file with boxes in which differences do not count."),
    ] = None,
    pdf_dpi: PDFDensity = None,
    exit_code: Annotated[
        bool,
        typer.Option(
            "--exit-code", help="Exit with 1 if something changed or may have changed, as git diff does."
        ),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No remarks on stderr.")] = False,
) -> None:
    """Say in one sentence what changed between two pictures.

    A model answers if it was trained on such pictures. Shipped is clevr-pcl,
    for drawn scenes of cubes, spheres and cylinders (CLEVR). For all other
    pictures, such as screenshots, plots and documents, a measurement answers:
    it says what differs and where. With --model a model answers for any
    pictures; for pictures unlike its training pictures, its sentence means
    nothing.
    """
    if os.devnull in (before, after) and heatmap is None:
        _of_one_side(before, after, as_json or maps, exit_code)
        return
    path = None if heatmap is None else _check_heatmap(heatmap, force, (before, after))
    sources = _sources(before, after)
    from whatchanged.answers import Answerer

    boxes, counted_by = _as_compared(after, policy, policies, ignore)
    answerer = Answerer(answering(model, quiet), beams=beams, read_text=read_text, policy=counted_by)
    if are_pdf(before, after):
        if path is not None or maps:
            raise typer.BadParameter("--heatmap and --maps are of two pictures, not of pages of PDF files")
        text = None if as_json else _text
        changed = describe_pages(
            (before, after), pdf_dpi, lambda one, other: answerer.answer(one, other, boxes), text
        )
        if exit_code and changed:
            raise typer.Exit(1)
        return
    answer = answerer.answer(*sources, boxes)
    if path is not None:
        picture = io.BytesIO()
        answer.heatmap().save(picture, "PNG")
        write_output(path, picture.getvalue())
    if as_json or maps:
        fields = answer.as_json(before=before, after=after)
        fields["policy"] = answer.policy
        if answer.ignored:
            fields["ignored_share"] = round(answer.ignored, 4)
        if maps and answer.description is not None:
            fields.update(_maps(answer.description))
        print_result(escaped_json(json.dumps(fields, ensure_ascii=False)), [path])
    else:
        print_result(_text(answer), [path])
        _remarks(answer, quiet)
    if answerer.unread:
        note(answerer.unread, quiet)
    if exit_code and answer.changed:
        raise typer.Exit(1)


def _of_one_side(before: str, after: str, as_json: bool, exit_code: bool) -> None:
    """Print the answer for a picture without a counterpart, for which ``git difftool`` passes the null
    device.
    """
    from whatchanged.images import picture_size

    file, there = ("added", after) if before == os.devnull else ("removed", before)
    picture_size(sys.stdin.buffer if there == STREAM else there)  # raises for anything but a picture
    sentence = f"The picture was {file}."
    if as_json:
        fields = {"caption": sentence, "verdict": "changed", "changed": True, "file": file, "no_change": 0.0}
        line = json.dumps({**fields, "before": before, "after": after}, ensure_ascii=False)
        print_result(escaped_json(line), [])
    else:
        print_result(sentence, [])
    if exit_code:
        raise typer.Exit(1)


def _as_compared(
    after: str, policy: str | None, policies: Path | None, ignore: Path | None
) -> "tuple[list[Box], Policy]":
    """Return the ignored boxes and the policy of a picture, as ``compare`` would use for this picture.

    In ``compare``, the name of a pair is the path below the compared folder. Here this folder is unknown, so
    a pattern may match the whole path or any final part of the path.
    """
    from whatchanged.compare.ignore import boxes_of, read_ignored
    from whatchanged.compare.policies import policy_of, read_policies
    from whatchanged.measured.policy import DEFAULT, find_policy

    parts = Path(after).parts
    names = ["/".join(parts[first:]) for first in range(len(parts))]
    usual = find_policy(policy or DEFAULT.name)
    rules = () if policies is None else read_policies(policies, usual)
    ignored = () if ignore is None else read_ignored(ignore)
    found = next(
        (one for one in (policy_of(rules, usual, name) for name in names) if one is not usual), usual
    )
    boxes = dict.fromkeys(box for name in names for _, box in boxes_of(ignored, name))
    return list(boxes), found


def _sources(before: str, after: str) -> "tuple[PictureSource, PictureSource]":
    """Return the two pictures. One picture may come from stdin."""
    if before == STREAM and after == STREAM:
        raise ImageError("-: only one of the two pictures can come from stdin. Name a file for the other.")
    first, second = (sys.stdin.buffer if given == STREAM else given for given in (before, after))
    return first, second


def _check_heatmap(heatmap: str, force: bool, pictures: tuple[str, str]) -> Path:
    """Check the path of the heat map. Raises OutputError if the heat map cannot be written."""
    if heatmap == STREAM:
        return STDOUT
    place = Path(heatmap)
    check_output(place, force)
    check_outputs([place], [Path(picture) for picture in pictures if picture != STREAM])
    if place.suffix.lower() != ".png":
        raise OutputError(f"{place}: a heat map is written as PNG. Name a file that ends in .png.")
    return place


def _text(answer: "Answer") -> str:
    """Return the answer as text: the sentence, remarks about its reliability, and the probability of no
    change.
    """
    from whatchanged.measured.policy import DEFAULT
    from whatchanged.words import percent

    sentence = answer.sentence
    if answer.unfamiliar:
        sentence += f" ({_warning(answer)})"
    probability = f"probability that nothing changed: {answer.no_change:.2f}"
    if answer.policy != DEFAULT.name:
        probability += f"; policy {answer.policy}"
    if answer.ignored:
        probability += f"; ignored: {percent(answer.ignored)} of the picture"
    return f"{escaped(sentence)}\n{probability}"


def _remarks(answer: "Answer", quiet: bool) -> None:
    """Print remarks about the reliability of the sentence."""
    said, measured = answer.description, answer.measured
    if said is not None and measured is not None and measured.verdict != "identical":
        note(f"Measured: {measured.sentence}", quiet)
    elif said is not None and measured is not None and said.changed:
        note("Measured: the pictures are the same.", quiet)
    if said is not None and said.doubtful:
        note("The sentence and the probability disagree; look for yourself.", quiet)


def _maps(description: "Description") -> dict[str, Any]:
    """Return the attention map of each word in the format of ``--maps``.

    The keys of the result are a public interface.
    """
    fields: dict[str, Any] = {}
    if description.ood_distance is not None:
        fields["strangeness"] = [round(distance, 3) for distance in description.ood_distance]
    fields["words"] = [[word, maps.astype(float).round(4).tolist()] for word, maps in description.words]
    fields["heatmaps"] = description.heatmaps.astype(float).round(4).tolist()
    return fields


def _warning(answer: "Answer") -> str:
    """Return a warning about pictures that are unlike the training pictures of the model.

    Call this function only if at least one of the two pictures is unlike the training pictures.
    """
    which = "the pictures look"
    if answer.description is not None:
        before, after = (distance > 1 for distance in answer.description.ood_distance or (0.0, 0.0))
        which = f"the picture {'before' if before else 'after'} looks"
        if before and after:
            which = "both pictures look"
    return f"do not rely on this: {which} unlike anything that {answer.answer} has seen"
