"""``whatchanged features``: store the features of a data set, or the tokens of a pool, before training."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from whatchanged.cli.console import hold, show
from whatchanged.cli.options import (
    COMPUTED,
    POOLS,
    WRITTEN,
    DatasetName,
    PrecisionOption,
    Ray,
    SkipMissing,
    on_cpu,
)
from whatchanged.cli.urls import any_remote, only_here
from whatchanged.errors import MissingExtra
from whatchanged.launch import Launch
from whatchanged.scale.sharing import on_cluster
from whatchanged.scale.urls import path_of

EXAMPLES = ("whatchanged features twin features --backbone efficientnet-lite0-stride16",)

SHARD, BATCH, VARIANTS = 256, 8, 2
TOKENS, FEATURES = "a pool's tokens (--run)", "a data set's features (--backbone)"
USED = {
    TOKENS: ("--variants", "--device"),
    FEATURES: (
        *("--weights", "--dataset", "--skip-missing", "--shard-size", "--batch-size", "--workers", "--npy"),
        *("--device", "--precision", "--ray"),
    ),
}
"""A mapping from the kind of stored features to the options that apply to this kind."""


def features(
    data: Annotated[
        Path,
        typer.Argument(
            help="A data set's folder or list, or its URL; or a pool drawn by: whatchanged synth clevr-pool",
            parser=path_of,
            metavar="DATA",
        ),
    ],
    out: Annotated[
        Path,
        typer.Argument(
            help="Folder for the features, or its URL; existing files are kept.",
            parser=path_of,
            metavar="OUT",
        ),
    ],
    backbone: Annotated[
        str,
        typer.Option(
            help="resnet101-layer3, resnet101-layer4, resnet101-layer3-rcc, efficientnet-lite0-stride8 "
            "(or 16, 32), or a run's folder; transformers, or transformers:LAYER, with a model's folder as "
            "--weights; a plug-in's."
        ),
    ] = "",
    weights: Annotated[
        Path | None,
        typer.Option(
            help="The backbone's weights (resnet101: in torchvision's layout; transformers: a folder)."
        ),
    ] = None,
    dataset: DatasetName = None,
    skip_missing: SkipMissing = False,
    shard_size: Annotated[
        int, typer.Option(min=1, max=10_000, metavar="N", help="Pictures a file.", rich_help_panel=WRITTEN)
    ] = SHARD,
    batch_size: Annotated[
        int,
        typer.Option(min=1, max=1024, metavar="N", help="Pictures in one batch.", rich_help_panel=COMPUTED),
    ] = BATCH,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=1024,
            metavar="N",
            help="Processes (CPU) or reading threads (GPU); default: one for each core.",
            rich_help_panel=COMPUTED,
        ),
    ] = None,
    npy: Annotated[
        bool,
        typer.Option(
            "--npy",
            help="Write one file for each picture, as the methods' released programs read them.",
            rich_help_panel=WRITTEN,
        ),
    ] = False,
    run: Annotated[
        Path | None,
        typer.Option(help="Pools: the run or model whose tokens to store.", rich_help_panel=POOLS),
    ] = None,
    variants: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="N",
            help="Pools: variants of each picture; the first is plain, the others are varied.",
            rich_help_panel=POOLS,
        ),
    ] = VARIANTS,
    device: Annotated[
        str, typer.Option(help="auto, cpu, cuda or cuda:NUMBER.", rich_help_panel=COMPUTED)
    ] = "auto",
    precision: PrecisionOption = "fp32",
    ray: Ray = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bar")] = False,
) -> None:
    """Store the features that a backbone computes, once for all trainings; a stopped run is continued."""
    if (run is None) == (not backbone):
        raise typer.BadParameter("name the network: --backbone for a data set, --run for a pool")
    asked = {
        "--weights": weights is not None,
        "--dataset": dataset is not None,
        "--skip-missing": skip_missing,
        "--shard-size": shard_size != SHARD,
        "--batch-size": batch_size != BATCH,
        "--workers": workers is not None,
        "--npy": npy,
        "--variants": variants != VARIANTS,
        "--device": device not in ("auto", "cpu"),
        "--precision": precision != "fp32",
        "--ray": ray is not None,
    }
    _refuse_others(FEATURES if run is None else TOKENS, asked)
    if any_remote(data, out):
        only_here({"--run": run}, "a pool lies on this machine")
    launch = on_cpu(Launch(device, workers, precision, batch_size, ray=ray, quiet=quiet))
    try:
        from whatchanged.training.features.store import store_features, store_tokens
    except ModuleNotFoundError as error:
        raise MissingExtra("whatchanged features", str(error.name), "train") from error
    hold(out)
    if run is not None:
        written = store_tokens(run, data, out, variants, launch)
        show(f"{out}: {written} shards of tokens written")
        return
    from whatchanged.datasets import open_dataset

    found = open_dataset(data, dataset, skip_missing=skip_missing)
    with on_cluster(launch, [found.root]) as launch:
        done = store_features(found, backbone, out, weights=weights, shard=shard_size, npy=npy, launch=launch)
    unit = "files" if npy else "shards"
    show(
        f"{out}: {done.pictures:,} pictures, {done.size / 1e6:,.1f} MB; {done.written} {unit} written in"
        f" {done.seconds:,.0f} s, {done.kept} were there"
    )


def _refuse_others(stored: str, requested: Mapping[str, bool]) -> None:
    """Refuse an option that has no effect on the stored features.

    requested: a mapping from each option to whether the user passed the option.
    """
    for option, given in requested.items():
        if given and option not in USED[stored]:
            raise typer.BadParameter(f"{stored} are stored without {option}; leave it out")
