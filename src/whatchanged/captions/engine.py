"""Caption a list or a data set: read its pairs, choose the captioner, write the predictions.

A line is ``{"id", "caption", "no_change", ...}`` as ``Answer.as_json`` gives it, or ``{"id", "error"}`` for a
pair that failed. Each line is flushed before the next one is written. ``OUT.meta.json`` beside the output
names the models and the list, so that a resumed run never mixes two runs. If ``form`` asks for a format of
the field, the output is written after all pairs are captioned; until then the lines are in
``OUT.lines.jsonl``.
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
    from whatchanged.captioner.runtime import Captioner
    from whatchanged.datasets import Dataset


@dataclass(frozen=True)
class CaptionedPairs:
    """The result of ``caption_pairs``.

    pairs: how many pairs were to be captioned. failed: how many of them failed; their lines give the reasons.
    output: the predictions. lines: the file of lines: the output itself, unless another form was requested.
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
    """Caption every pair of a list or data set; the arguments have the names of the options of ``whatchanged
    caption``.

        >>> from whatchanged import caption_pairs
        >>> done = caption_pairs("pairs.csv", "captions.jsonl")
        >>> done.pairs, done.failed
        (1, 0)

    pairs: a CSV or JSONL list, a data set's folder, or its URL. output: the file of predictions. model: a
    shipped model or a model's folder, which captions every pair, or "measured" for no model; without it, a
    model captions the pairs that look like its training pictures, and the others are measured. captioner:
    captions pairs in batches in place of a model. dataset: the name of the data set, where it is not
    recognised. skip_missing: leave out pairs whose pictures are missing. batch_size: pairs in one batch.
    beams: hypotheses kept by beam search. shard: (i, n), the i-th of n parts, from 1. form: the format of the
    output. read_text: whether to read text in the pictures and name things by it; None: if the extra "text"
    is installed. attention: a folder for each word's maps, of one named model. html: a page of all pairs,
    with the pictures in it where embed is true. resume: continue after the last whole line. force: replace
    the output. ray: the address of a cluster. quiet: nothing on stderr. launch: batch size, cluster and quiet
    in one, in place of these three keywords.

    Raises a WhatchangedError, with nothing written, where an input cannot be read, an output cannot be
    written or exists (unless resumed or forced), or the options do not go together.
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
        maps = Maps(attention, first, last - first, about_maps(_captioner(answerer), identity))
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
    """Check that the options go together. Raises WhatchangedError."""
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


def _captioner(answerer: "Answerer") -> "Captioner":
    """Return the named model. Raises BundleError for the measurement, which has no attention maps."""
    for model in answerer.models:
        return model.build()
    raise BundleError("The measurement has no maps: go without --attention.")


def _pairs_of(data: "Dataset", where: Path) -> list[PairToCaption]:
    """Return the pairs of a data set without its single pictures. Raises DatasetError where there are no
    pairs.
    """
    listed = [PairToCaption(r.pair_id, r.before, r.after) for r in data.records if r.after is not None]
    if not listed:
        raise DatasetError(
            f"{where}: it holds {counted(len(data.records), 'single picture')} and no pairs; only pairs can "
            "be captioned. Choose another --split or data set."
        )
    return listed


def _check_paths(output: Path, pairs: Path, attention: Path | None, replace: bool) -> None:
    """Check that the output and the maps may be written, and are neither the list nor part of the data set.

    A file in the folder of the data set may be captions of an earlier run; its sidecar shows that.
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
    """Print which entries were left out."""
    report = dataset.report
    if report.skipped:
        note(f"Left out: {counted(len(report.skipped), 'pair')} without a picture.", quiet)
    if report.damaged:
        first = report.damaged[0]
        note(f"Left out, as damaged: {len(report.damaged):,} (first: {first}).", quiet)
    if single:
        note(f"Left out: {counted(single, 'single picture')}; only pairs can be captioned.", quiet)
