"""Caption a list or a data set: read the pairs, choose the captioner, write the predictions.

The line of a pair is ``{"id", "caption", "no_change", ...}``, as ``Answer.as_json`` returns it. If the pair
failed, the line is ``{"id", "error"}``. Each line is flushed before the next line is written.
``OUT.meta.json`` beside the output identifies the models and the list, so that a resumed run never mixes two
runs. If ``form`` is another format than lines, the output is written after all pairs are captioned. Until
then, the lines are in ``OUT.lines.jsonl``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from whatchanged.captions.at_once import CaptionerChoice, PairsOfRun, caption_at_once
from whatchanged.captions.formats import Form, Results
from whatchanged.captions.maps import Maps, about_maps, check_folder
from whatchanged.captions.one_by_one import (
    BATCH,
    CaptionRun,
    PairToCaption,
    caption_all,
    identity_of,
    sidecar,
)
from whatchanged.errors import BundleError, DatasetError, OutputError, WhatchangedError
from whatchanged.launch import Launch, one_launch
from whatchanged.outputs import check_output, check_outputs, holding_outputs
from whatchanged.remarks import note
from whatchanged.scale.sharing import on_cluster
from whatchanged.scale.urls import path_of
from whatchanged.urls import is_remote
from whatchanged.words import counted

if TYPE_CHECKING:
    from whatchanged.answers import Answerer
    from whatchanged.captioner.card import Card
    from whatchanged.datasets import Dataset


@dataclass(frozen=True)
class CaptionedPairs:
    """The result of ``caption_pairs``.

    pairs: the number of pairs in the run. failed: the number of pairs that failed. The line of a failed pair
    gives the reason. output: the file of predictions. lines: the file of lines, which is the output itself
    unless another format was requested.
    """

    pairs: int
    failed: int
    output: Path
    lines: Path


@holding_outputs()
def caption_pairs(
    pairs: str | Path,
    output: str | Path,
    model: str | None = None,
    *,
    captioner: CaptionerChoice | None = None,
    dataset: str | None = None,
    split: Literal["all", "train", "val", "test"] = "all",
    skip_missing: bool = False,
    batch_size: int = BATCH,
    beams: int = 1,
    shard: tuple[int, int] = (1, 1),
    form: Form = "ours",
    attention: Path | None = None,
    html: Path | None = None,
    embed: bool = False,
    resume: bool = False,
    force: bool = False,
    read_text: bool | None = None,
    ray: str | None = None,
    quiet: bool = True,
    launch: Launch | None = None,
) -> CaptionedPairs:
    """Caption every pair of a list or data set.

    The arguments have the same names as the options of ``whatchanged caption``.

        >>> from whatchanged import caption_pairs
        >>> done = caption_pairs("pairs.csv", "captions.jsonl")
        >>> done.pairs, done.failed
        (1, 0)

    pairs: a CSV or JSONL list, a data set's folder, or its URL.
    output: the file of predictions.
    model: the name of a shipped model, or the folder of a model, which then captions every pair. With
        "measured", every pair is measured without a model. With None, a model captions the pairs that look
        like its training pictures, and all other pairs are measured.
    captioner: an object that captions pairs in batches, used instead of a model.
    dataset: the name of the data set, if the data set is not recognised.
    skip_missing: whether to leave out pairs with missing pictures.
    batch_size: the number of pairs in one batch.
    beams: the number of hypotheses in beam search.
    shard: (i, n) for the i-th of n parts of the list, counted from 1.
    form: the format of the output.
    read_text: whether to read text in the pictures and use the text in descriptions; None for true if the
        extra "text" is installed.
    attention: a folder for the attention maps of each word, which require one named model.
    html: the path of a page with all pairs.
    embed: whether the page contains the pictures.
    resume: whether to continue an existing output after its last complete line.
    force: whether to replace the output.
    ray: the address of a Ray cluster.
    quiet: whether to print nothing on stderr.
    launch: a ``Launch`` with batch size, cluster and quiet, instead of these three keywords.

    Raises a WhatchangedError, before anything is written, if an input cannot be read, if an output cannot be
    written, or if the options contradict each other. An existing output is also an error without ``resume``
    or ``force``.
    """
    usual = Launch(batch_size=BATCH, quiet=True)
    launch = one_launch(launch, Launch(batch_size=batch_size, ray=ray, quiet=quiet), usual)
    pairs, output = (path_of(path) if isinstance(path, str) else path for path in (pairs, output))
    _check_options(model, captioner, shard, attention, html, embed, resume, force)
    results = Results(output, form)
    lines = results.lines
    _check_paths(lines, pairs, attention, replace=force or resume)
    if html is not None:
        check_output(html, force or resume)
        check_outputs([html], [pairs, lines, sidecar(lines)])
    results.check([pairs, lines, *([] if html is None else [html])], force or resume)
    from whatchanged.answers import Answerer
    from whatchanged.datasets import open_dataset
    from whatchanged.text.recogniser import reads_words

    answerer = None
    if captioner is None:  # before the data: is it a model?
        answerer = Answerer(model, beams=beams, read_text=reads_words(read_text, launch.quiet))
    pictures = captioner is None or captioner.reads_pictures
    found = open_dataset(pairs, dataset, split, skip_missing, pictures)
    listed = _pairs_of(found, pairs)
    _check_no_picture([lines, output] if html is None else [lines, output, html], listed)
    results.check_pairs(found.records)
    _report(found, len(found.records) - len(listed), launch.quiet)
    part, parts = shard
    first = len(listed) * (part - 1) // parts
    last = len(listed) * part // parts
    base = found.root if found.root.is_dir() else found.root.parent
    if captioner is not None:
        at_once = PairsOfRun(base, listed, (first, last), lines, attention, force)
        failed = caption_at_once(captioner, at_once, beams, launch)
        results.write(found.records)
        return CaptionedPairs(last - first, failed, output, lines)
    assert answerer is not None
    identity = identity_of(answerer, base, listed, (first, last), attention is not None)
    maps = None
    if attention is not None:
        maps = Maps(attention, first, last - first, about_maps(_named_card(answerer), identity))
        maps.check_free(replace=force or resume)
    job = CaptionRun(listed[first:last], base, lines, identity, maps)
    with on_cluster(launch, [found.root]):
        failed = caption_all(answerer, job, job.standing(resume), launch)
    if html is not None:
        from whatchanged.captions.page import caption_page
        from whatchanged.page import write_page

        write_page(html, caption_page(job, found.records), embed)
    results.write(found.records)
    return CaptionedPairs(last - first, failed, output, lines)


def _check_options(
    model: str | None,
    captioner: CaptionerChoice | None,
    shard: tuple[int, int],
    attention: Path | None,
    html: Path | None,
    embed: bool,
    resume: bool,
    force: bool,
) -> None:
    """Check that the options do not contradict each other. Raises WhatchangedError otherwise."""
    part, parts = shard
    if not 1 <= part <= parts:
        raise WhatchangedError(f"shard is (i, n) with i from 1 to n, such as (1, 4); got {shard!r}.")
    if resume and force:
        raise WhatchangedError("Choose one of resume and force.")
    if attention is not None and model is None and captioner is None:
        raise WhatchangedError("attention needs one model; name the model.")
    if captioner is not None and (model is not None or html is not None or resume):
        raise WhatchangedError("A captioner works without model, html and resume; leave them out.")
    if embed and html is None:
        raise OutputError("--embed puts pictures into a page, but no page is asked for. Add --html.")


def _named_card(answerer: "Answerer") -> "Card":
    """Return the card of the model that the user named.

    Raises BundleError for "measured", because the measurement has no attention maps.
    """
    for model in answerer.models:
        return model.card
    raise BundleError("The measurement has no maps: go without --attention.")


def _pairs_of(data: "Dataset", where: Path) -> list[PairToCaption]:
    """Return the pairs of a data set without its single pictures.

    Raises DatasetError if there are no pairs.
    """
    listed = [PairToCaption(r.pair_id, r.before, r.after) for r in data.records if r.after is not None]
    if not listed:
        raise DatasetError(
            f"{where}: it holds {counted(len(data.records), 'single picture')} and no pairs; only pairs can "
            "be captioned. Choose another --split or data set."
        )
    return listed


def _check_paths(output: Path, pairs: Path, attention: Path | None, replace: bool) -> None:
    """Check that the output and the maps may be written.

    Neither may be the list or a part of the data set. A file in the folder of the data set may be replaced if
    its sidecar file shows that the file contains captions of an earlier run.
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
    """Print remarks about the entries that were left out."""
    report = dataset.report
    if report.skipped:
        note(f"Left out: {counted(len(report.skipped), 'pair')} without a picture.", quiet)
    if report.damaged:
        first = report.damaged[0]
        note(f"Left out, as damaged: {len(report.damaged):,} (first: {first}).", quiet)
    if single:
        note(f"Left out: {counted(single, 'single picture')}; only pairs can be captioned.", quiet)
