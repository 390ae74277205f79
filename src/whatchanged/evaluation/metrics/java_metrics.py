"""METEOR and SPICE among the other metrics: which Java program gives which number of the report."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from whatchanged.evaluation.metrics import meteor, spice
from whatchanged.evaluation.metrics.additive import Additive, mean
from whatchanged.evaluation.report.breakdown import Program

Texts = Sequence[str]


def java_programs(spice_home: Path | None = None) -> Mapping[str, Program]:
    """The metrics that only a Java program computes, in percent; each raises MetricUnavailable if it cannot.

    spice_home: the folder of SPICE's jars; None looks where ``spice.spice`` says.
    """

    def run_meteor(candidates: Texts, references: Sequence[Texts]) -> Additive:
        statistics = meteor.statistics(candidates, references)
        return Additive(("METEOR",), statistics, lambda sums: 100 * meteor.meteor(sums)[..., None])

    def run_spice(candidates: Texts, references: Sequence[Texts]) -> Additive:
        return mean("SPICE", spice.spice(candidates, references, spice_home))

    return {"METEOR": run_meteor, "SPICE": run_spice}
