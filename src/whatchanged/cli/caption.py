"""``whatchanged caption``: a sentence for every pair of a list or data set, one JSON line each, in order.

A line is ``{"id", "caption", "no_change", ...}`` as ``Answer.as_json`` gives it, or ``{"id", "error"}`` for a
pair that failed. It is flushed before the next one is written. ``OUT.meta.json`` beside the output names the
models and the list, so that ``--resume`` never mixes two runs. A shard is a contiguous part of the list; the
outputs of all shards, one after the other, are the output of the whole. With ``--format`` the output is one
of the field's, written when all is captioned; the lines are in ``OUT.lines.jsonl``.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from whatchanged.cli import completion
from whatchanged.cli.caption_by_run import (
    PairsOfRun,
    caption_by_run,
    chosen_run,
    refuse_others,
    report_captioned,
)
from whatchanged.cli.caption_format import Form, Results
from whatchanged.cli.caption_maps import Maps, about_maps, check_folder
from whatchanged.cli.caption_run import CaptionRun, PairToCaption, caption_all, identity_of, sidecar
from whatchanged.cli.cluster import Ray, on_cluster
from whatchanged.cli.console import check_embed, check_output, check_outputs, note
from whatchanged.cli.precision import PrecisionOption
from whatchanged.cli.urls import any_remote, only_here
from whatchanged.errors import BundleError, DatasetError, OutputError
from whatchanged.scale.urls import path_of
from whatchanged.urls import is_remote
from whatchanged.words import counted

if TYPE_CHECKING:
    from whatchanged.answers import Answerer
    from whatchanged.captioner.runtime import Captioner
    from whatchanged.datasets import Dataset


EXAMPLES = ("whatchanged caption pairs.csv -o captions.jsonl",)


def caption(
    pairs: Annotated[
        Path,
        typer.Argument(
            help="A CSV or JSONL list, or a data set's folder; or its URL.", parser=path_of, metavar="PAIRS"
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="Where the predictions go (JSON lines).",
            parser=path_of,
            metavar="FILE",
        ),
    ],
    model: Annotated[
        str | None,
        typer.Option(
            help="A shipped model or a model folder, to answer in any case.", autocompletion=completion.models
        ),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(help="Which data set this is, if not recognised.", autocompletion=completion.data_sets),
    ] = None,
    split: Annotated[
        Literal["all", "train", "val", "test"], typer.Option(help="Caption this split only.")
    ] = "all",
    skip_missing: Annotated[
        bool, typer.Option("--skip-missing", help="Leave out pairs whose pictures are missing.")
    ] = False,
    batch_size: Annotated[int, typer.Option(min=1, max=1024, help="Pairs side by side.")] = 16,
    beams: Annotated[int, typer.Option(min=1, max=64, help="Hypotheses kept by the search.")] = 1,
    shard: Annotated[
        str, typer.Option(metavar="I/N", help="Only the I-th of N parts, from 1/N to N/N.")
    ] = "1/1",
    form: Annotated[
        Form,
        typer.Option(
            "--format",
            help="How OUT is written: our JSON lines; a list {image_id, caption}; a folder with "
            "sc_results.json and nsc_results.json; or PCL's lines.",
        ),
    ] = "ours",
    attention: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Write each word's attention too (safetensors); needs --model or --run."
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            help="Also write a page of all pairs, which links the pictures; with --attention it shows where "
            "the words looked."
        ),
    ] = None,
    embed: Annotated[
        bool, typer.Option("--embed", help="Put the pictures into the page, so that it can be mailed.")
    ] = False,
    run: Annotated[
        Path | None,
        typer.Option(help="A run of `train`, in place of a model; needs torch."),
    ] = None,
    features: Annotated[
        Path | None, typer.Option(help="Stored features, for a run or a model that learned from such.")
    ] = None,
    device: Annotated[str, typer.Option(help="With --run: auto, cpu, cuda or cuda:NUMBER.")] = "auto",
    precision: PrecisionOption = "fp32",
    checkpoint: Annotated[
        str, typer.Option(help="With --run: auto (best, if kept), best, last or a stage's name.")
    ] = "auto",
    ray: Ray = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue after the last whole line.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the output.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress and no remarks.")] = False,
) -> None:
    """Caption every pair of a list or data set.

    For example: whatchanged caption pairs.csv -o captions.jsonl
    """
    part, parts = _part(shard)
    if resume and force:
        raise typer.BadParameter("choose one of --resume and --force")
    if attention is not None and model is None and run is None:
        raise typer.BadParameter("--attention keeps the maps of one model; name it with --model, or a --run")
    choice = chosen_run(run, model, features, device, checkpoint, precision)
    refuse_others(
        choice, {"--model": None not in (model, run), "--html": html is not None, "--resume": resume}
    )
    if any_remote(pairs, output):
        only_here({"--html": html, "--attention": attention}, "pages and maps lie beside their pictures")
    if any_remote(output):
        only_here({"--resume": resume}, "its file appears when it is whole. Use --shard")
    results = Results(output, form)
    lines = results.lines
    _check_paths(lines, pairs, attention, replace=force or resume)
    check_embed(embed, html)
    if html is not None:
        check_output(html, force or resume)
        check_outputs([html], [pairs, lines, sidecar(lines)])
    results.check([pairs, lines, *([] if html is None else [html])], force or resume)
    from whatchanged.answers import Answerer
    from whatchanged.datasets import open_dataset

    answerer = Answerer(model, beams=beams) if choice is None else None  # before the data: is it a model?
    pictures = choice is None or choice.reads_pictures
    found = open_dataset(pairs, dataset, split, skip_missing, pictures)
    listed = _pairs_of(found, pairs)
    _check_no_picture([lines, output] if html is None else [lines, output, html], listed)
    results.check_pairs(found.records)
    _report(found, len(found.records) - len(listed), quiet)
    first = len(listed) * (part - 1) // parts
    last = len(listed) * part // parts
    base = found.root if found.root.is_dir() else found.root.parent
    if choice is not None:
        at_once = PairsOfRun(base, listed, (first, last), lines, attention, force)
        failed = caption_by_run(choice, at_once, beams, batch_size, quiet)
        results.write(found.records)
        report_captioned(failed, last - first, lines, output, quiet)
        return
    assert answerer is not None
    identity = identity_of(answerer, base, listed, (first, last), attention is not None)
    maps = None
    if attention is not None:
        maps = Maps(attention, first, last - first, about_maps(_captioner(answerer), identity))
        maps.check_free(replace=force or resume)
    job = CaptionRun(listed[first:last], base, lines, identity, maps)
    with on_cluster(ray, [found.root], quiet):
        failed = caption_all(answerer, job, job.standing(resume), batch_size, quiet)
    if html is not None:
        from whatchanged.cli.caption_page import caption_page
        from whatchanged.page import write_page

        write_page(html, caption_page(job, found.records), embed)
    results.write(found.records)
    report_captioned(failed, last - first, lines, output, quiet)


def _captioner(answerer: "Answerer") -> "Captioner":
    """The model that was named. Raises BundleError for one that has no maps."""
    from whatchanged.answers.by_model import Model

    (model,) = answerer.models
    if not isinstance(model, Model):
        raise BundleError(
            f"{model.card.name} makes statements about regions and has no maps: go without --attention."
        )
    return model.build()


def _part(shard: str) -> tuple[int, int]:
    """I and N of ``--shard I/N``."""
    found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", shard)
    part, parts = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 1 <= part <= parts:
        raise typer.BadParameter(f"--shard is I/N with I from 1 to N, such as 1/4; got {shard!r}")
    return part, parts


def _pairs_of(data: "Dataset", where: Path) -> list[PairToCaption]:
    """The pairs of a data set, single pictures left out. Raises DatasetError where there are none."""
    listed = [PairToCaption(r.pair_id, r.before, r.after) for r in data.records if r.after is not None]
    if not listed:
        raise DatasetError(
            f"{where}: it holds {counted(len(data.records), 'single picture')} and no pairs; only pairs can "
            "be captioned. Choose another --split or data set."
        )
    return listed


def _check_paths(output: Path, pairs: Path, attention: Path | None, replace: bool) -> None:
    """Check that the output and the maps may be written, and are neither the list nor part of the data set.

    A file in the folder of the data set may be captions of an earlier run; its sidecar tells.
    """
    check_output(output, replace, "--resume to continue it or --force to replace it")
    check_output(sidecar(output), force=True)
    if not pairs.is_dir() or not sidecar(output).is_file():
        check_outputs([output], [pairs])
    if attention is None:
        return
    if attention.resolve() in (output.resolve(), sidecar(output).resolve()):
        raise OutputError(f"{attention}: --attention and --output name the same place. Choose another name.")
    check_folder(attention)


def _check_no_picture(outputs: Sequence[Path], listed: Sequence[PairToCaption]) -> None:
    """Check that no output is a picture of the pairs."""
    for output in outputs:
        pictures = (picture for pair in listed for picture in (pair.before, pair.after))
        if is_remote(output):
            same = any(picture == output for picture in pictures)
        else:
            same = output.exists() and any(
                not is_remote(picture) and picture.exists() and picture.samefile(output)
                for picture in pictures
            )
        if same:
            raise OutputError(f"{output}: this is a picture of the list. Name another file.")


def _report(dataset: "Dataset", single: int, quiet: bool) -> None:
    """Say what was left out."""
    report = dataset.report
    if report.skipped:
        note(f"Left out: {counted(len(report.skipped), 'pair')} without a picture.", quiet)
    if report.damaged:
        first = report.damaged[0]
        note(f"Left out, as damaged: {len(report.damaged):,} (first: {first}).", quiet)
    if single:
        note(f"Left out: {counted(single, 'single picture')}; only pairs can be captioned.", quiet)
