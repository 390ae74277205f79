"""The report of scores: a mapping with the structure of its JSON, which prints as tables.

Every report contains a signature: the reference implementation of the scores, tokeniser, subset, references
per pair, source of the document frequencies, method of the intervals, and the version of this package.
"""

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from whatchanged.evaluation.metrics.caption_metrics import METRICS
from whatchanged.evaluation.metrics.subsets import nested
from whatchanged.evaluation.report.no_change_block import no_change_block
from whatchanged.evaluation.report.pointing_block import pointing_block
from whatchanged.evaluation.report.scene_block import scene_block
from whatchanged.evaluation.report.scored import Scored
from whatchanged.evaluation.report.signature import Origin, make_signature, make_warnings
from whatchanged.evaluation.report.tables import as_markdown, as_text
from whatchanged.evaluation.statistics.comparison import compared, confidence, over_seeds
from whatchanged.evaluation.statistics.resampling import Sample


class Report(Mapping[str, Any]):
    """The scores of one system, in percent and unrounded. ``scored`` holds the scores of single pairs,
    ``others`` those of the systems that it is compared with.

        {"overall": {"BLEU-1": .., "CIDEr-D": .., "SPICE": null}, "semantic": {..}, "distractor": {..},
         "types": {"color": {..}, ..}, "overlap": {"hardest 25 %": {..}, "IoU 0.3-0.4": {..}, ..},
         "scene": {..} (where the truth is known), "no_change": {..} (where predictions have probabilities),
         "pointing": {..} (with attention maps), "comparison": {..}, "seeds": {..} (with other systems),
         "intervals": {"overall": {"CIDEr-D": [low, high]}, ..}, "signature": {..}, "warnings": [..]}

    >>> from whatchanged.evaluation import evaluate
    >>> report = evaluate(
    ...     ["the small red cube moved", "nothing was changed"],
    ...     [["the small red cube has moved"], ["nothing has changed", "there is no change"]],
    ...     resamples=0,
    ... )
    >>> round(report["overall"]["CIDEr-D"], 1)
    378.5
    >>> list(report)
    ['overall', 'intervals', 'signature', 'warnings']
    >>> print(report)  # doctest: +ELLIPSIS
    Against the references (x 100, 95 % interval)
             pairs  BLEU-1  BLEU-2  BLEU-3  BLEU-4  ROUGE-L  CIDEr-D
    overall      2    77.2    58.4    53.2    50.8     78.1    378.5
    ...
    """

    def __init__(self, content: Mapping[str, Any], scored: Scored, others: Sequence[Scored] = ()) -> None:
        self._content = content
        self.scored = scored
        self.others = others

    def __getitem__(self, key: str) -> Any:
        return self._content[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._content)

    def __len__(self) -> int:
        return len(self._content)

    def to_dict(self) -> dict[str, Any]:
        """Return the same structure in plain dicts and lists, for ``json.dumps``."""
        return copy.deepcopy(dict(self._content))

    def to_json(self) -> str:
        """Return the JSON that `whatchanged evaluate --json` writes."""
        return json.dumps(self._content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def table(self, form: Literal["text", "markdown"] = "text") -> str:
        """Return the tables of `whatchanged evaluate`, for a terminal or in Markdown."""
        return as_markdown(self) if form == "markdown" else as_text(self)

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        scores = self["overall"].items()
        numbers = ", ".join(f"{name} {value:.1f}" for name, value in scores if value is not None)
        return f"<Report of {len(self.scored.records):,} pairs: {numbers}>"


def make_report(
    scored: Scored,
    other: Scored | None = None,
    seeds: Sequence[Scored] = (),
    origin: Origin | None = None,
) -> Report:
    """Return the report of one system.

    ``other``: another system, to be compared with; ``seeds``: the same method trained from other seeds. Both
    have the same pairs as ``scored``.
    """
    resamples, seed = scored.settings.resamples, scored.settings.seed
    content = nested({path: _values(sample) for path, sample in scored.against_references.items()})
    intervals = nested(confidence(scored.against_references, resamples, seed)) if resamples else {}
    scene = scene_block(scored)
    if scene is not None:
        content["scene"] = scene
    no_change = no_change_block(scored)
    if no_change is not None:
        content["no_change"], intervals["no_change"] = no_change
    if other is not None:
        content["comparison"] = nested(compared(scored.samples, other.samples, resamples, seed))
    if seeds:
        runs = [run.samples for run in (scored, *seeds)]
        content["seeds"] = {"count": len(runs), **nested(over_seeds(runs, resamples, seed))}
    origin = origin or Origin()
    content["intervals"] = intervals
    content["signature"] = make_signature(scored, origin)
    content["warnings"] = [*origin.notes, *make_warnings(content["signature"], scored, other, seeds)]
    if scored.maps is not None:
        content["pointing"] = pointing_block(scored)
        if content["pointing"] is None:
            content["warnings"].append("The references have no boxes: the pointing game was not played.")
    if origin.same_twice:
        content["warnings"].append("The same predictions were given more than once.")
    return Report(content, scored, [*([] if other is None else [other]), *seeds])


def _values(sample: Sample) -> dict[str, float | None]:
    """Return all metrics in their usual order, None where one has no value; then those of other packages."""
    found = dict(zip(sample.numbers.names, sample.numbers.values().tolist(), strict=True))
    return {name: found.get(name) for name in (*METRICS, *(name for name in found if name not in METRICS))}
