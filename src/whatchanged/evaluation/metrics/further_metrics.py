"""METEOR, SPICE and the metrics of other packages, with the interface of the built-in metrics."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from whatchanged.evaluation.metrics import meteor, spice
from whatchanged.evaluation.metrics.additive import Additive, mean
from whatchanged.evaluation.metrics.caption_metrics import FurtherMetric
from whatchanged.evaluation.metrics.plugin_metrics import plugin_metrics


def further_metrics(
    *, with_meteor: bool = True, with_spice: bool = True, spice_home: Path | None = None
) -> Mapping[str, FurtherMetric]:
    """Return the metrics that take seconds, in percent; each raises MetricUnavailable where something is
    missing.

    Metrics of other packages are always included (``plugin_metrics``).
    spice_home: the folder of SPICE's jars; None: where ``spice.find_jars`` looks.
    """

    def run_meteor(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> Additive:
        statistics = meteor.statistics(candidates, references)
        return Additive(("METEOR",), statistics, lambda totals: 100 * meteor.meteor(totals)[..., None])

    def run_spice(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> Additive:
        return mean("SPICE", spice.spice(candidates, references, spice_home))

    known: dict[str, FurtherMetric] = {}
    if with_meteor:
        known["METEOR"] = run_meteor
    if with_spice:
        known["SPICE"] = run_spice
    return {**known, **plugin_metrics()}
