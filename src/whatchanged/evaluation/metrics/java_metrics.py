"""METEOR and SPICE in the form of the other metrics: which Java program gives which number of the report."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from whatchanged.evaluation.metrics import meteor, spice
from whatchanged.evaluation.metrics.additive import Additive, mean
from whatchanged.evaluation.metrics.caption_metrics import JavaMetric


def java_metrics(spice_home: Path | None = None) -> Mapping[str, JavaMetric]:
    """The metrics that only a Java program computes, in percent; each raises MetricUnavailable if it cannot.

    spice_home: the folder of SPICE's jars; None: where ``spice.find_jars`` looks.
    """

    def run_meteor(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> Additive:
        statistics = meteor.statistics(candidates, references)
        return Additive(("METEOR",), statistics, lambda totals: 100 * meteor.meteor(totals)[..., None])

    def run_spice(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> Additive:
        return mean("SPICE", spice.spice(candidates, references, spice_home))

    return {"METEOR": run_meteor, "SPICE": run_spice}
