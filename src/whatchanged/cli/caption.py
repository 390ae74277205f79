"""``whatchanged caption``: caption every pair of a list or data set.

The output has one JSON line for each pair, in the order of the list. ``captions/engine.py`` describes input
and output. A shard is a contiguous part of the list. The concatenated outputs of all shards are the output of
the whole list.
"""

import re
from pathlib import Path
from typing import Annotated, Literal

import typer

from whatchanged.captions import caption_pairs
from whatchanged.captions.formats import Form
from whatchanged.cli.caption_choice import chosen_run, refuse_others
from whatchanged.cli.console import check_embed, note
from whatchanged.cli.options import (
    COMPUTED,
    PAIRS,
    RUNS,
    WRITTEN,
    DatasetName,
    Embed,
    ModelName,
    PrecisionOption,
    Ray,
    ReadText,
    SkipMissing,
    answering,
)
from whatchanged.cli.urls import any_remote, only_here
from whatchanged.launch import Launch
from whatchanged.scale.urls import path_of
from whatchanged.words import counted

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
            help="The file for the predictions (JSON lines).",
            parser=path_of,
            metavar="FILE",
        ),
    ],
    model: ModelName = None,
    dataset: DatasetName = None,
    split: Annotated[
        Literal["all", "train", "val", "test"],
        typer.Option(help="Caption this split only.", rich_help_panel=PAIRS),
    ] = "all",
    skip_missing: SkipMissing = False,
    batch_size: Annotated[
        int, typer.Option(min=1, max=1024, help="Pairs in one batch.", rich_help_panel=COMPUTED)
    ] = 16,
    beams: Annotated[
        int,
        typer.Option(min=1, max=64, help="Hypotheses of beam search; 1 is greedy.", rich_help_panel=COMPUTED),
    ] = 1,
    shard: Annotated[
        str,
        typer.Option(
            metavar="I/N", help="Caption only the I-th of N parts, from 1/N to N/N.", rich_help_panel=PAIRS
        ),
    ] = "1/1",
    form: Annotated[
        Form,
        typer.Option(
            "--format",
            help="The format of OUT: our JSON lines; a list {image_id, caption}; a folder with "
            "sc_results.json and nsc_results.json; or PCL's lines.",
            rich_help_panel=WRITTEN,
        ),
    ] = "ours",
    attention: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write each word's attention too (safetensors); needs --model or --run.",
            rich_help_panel=WRITTEN,
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            help="Also write a page of all pairs, which links the pictures; with --attention it shows the "
            "attention of the words.",
            rich_help_panel=WRITTEN,
        ),
    ] = None,
    embed: Embed = False,
    run: Annotated[
        Path | None,
        typer.Option(help="A run of `train`, in place of a model; needs torch.", rich_help_panel=RUNS),
    ] = None,
    features: Annotated[
        Path | None,
        typer.Option(help="Stored features, for a run or a model trained on features.", rich_help_panel=RUNS),
    ] = None,
    device: Annotated[
        str, typer.Option(help="With --run: auto, cpu, cuda or cuda:NUMBER.", rich_help_panel=COMPUTED)
    ] = "auto",
    precision: PrecisionOption = "fp32",
    checkpoint: Annotated[
        str,
        typer.Option(
            help="With --run: auto (best, if kept), best, last or a stage's name.", rich_help_panel=RUNS
        ),
    ] = "auto",
    read_text: ReadText = None,
    ray: Ray = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue after the last complete line.")] = False,
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
        raise typer.BadParameter("--attention needs one model: name it with --model or --run")
    model = answering(model, quiet)
    launch = Launch(device, precision=precision, batch_size=batch_size, ray=ray, quiet=quiet)
    choice = chosen_run(run, model, features, checkpoint, launch)
    refuse_others(
        choice,
        {
            "--model": None not in (model, run),
            "--html": html is not None,
            "--read-text": bool(read_text),
            "--resume": resume,
        },
    )
    if any_remote(pairs, output):
        only_here({"--html": html, "--attention": attention}, "pages and maps need files on this machine")
    if any_remote(output):
        only_here({"--resume": resume}, "a remote file appears only when it is complete. Use --shard")
    check_embed(embed, html)
    done = caption_pairs(
        pairs,
        output,
        model if choice is None else None,
        captioner=choice,
        dataset=dataset,
        split=split,
        skip_missing=skip_missing,
        beams=beams,
        shard=(part, parts),
        form=form,
        attention=attention,
        html=html,
        embed=embed,
        resume=resume,
        force=force,
        read_text=read_text,
        launch=launch,
    )
    if done.failed:
        note(f"{done.failed:,} of {counted(done.pairs, 'pair')} failed; the file says why: {done.lines}")
        raise typer.Exit(1)
    note(f"{counted(done.pairs, 'pair')} captioned: {done.output}", quiet)


def _part(shard: str) -> tuple[int, int]:
    """Return I and N of ``--shard I/N``."""
    found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", shard)
    part, parts = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 1 <= part <= parts:
        raise typer.BadParameter(f"--shard is I/N with I from 1 to N, such as 1/4; got {shard!r}")
    return part, parts
