"""METEOR, SPICE and what other packages bring, in the form of the metrics that the base install has.

A package brings a metric, a function that scores each caption against its references, by an entry point of
the metric's name:

    [project.entry-points."whatchanged.metrics"]
    word-overlap = "my_package:word_overlap"    # (captions, references) -> a score from 0 to 1 for each
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from whatchanged import plugins
from whatchanged.errors import MetricUnavailable, PluginError
from whatchanged.evaluation.metrics import meteor, spice
from whatchanged.evaluation.metrics.additive import Additive, mean
from whatchanged.evaluation.metrics.caption_metrics import METRICS, FurtherMetric

Scorer = Callable[[Sequence[str], Sequence[Sequence[str]]], Sequence[float]]
"""Tokenised captions and the tokenised references of each -> the score of each caption, from 0 to 1."""


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


def plugin_metrics() -> Mapping[str, FurtherMetric]:
    """Return the metrics of other packages by name. None is imported before it is computed."""
    return {
        plugin.name: partial(_compute, plugin.name, plugin.package)
        for plugin in plugins.installed(plugins.METRICS, METRICS)
    }


def packages_of(names: Sequence[str]) -> dict[str, str]:
    """Return the package, with its version, of each of these metrics that belongs to another package."""
    found = {plugin.name: plugin.package for plugin in plugins.installed(plugins.METRICS, METRICS)}
    return {name: found[name] for name in names if name in found}


def find_metric(name: str) -> Scorer:
    """Import and return a package's metric. Raises PluginError where it cannot be loaded."""
    found: Scorer = plugins.find(plugins.METRICS, name, {}, _callable)
    return found


def _callable(name: str, candidate: object) -> Any:
    if not callable(candidate):
        raise TypeError(f"wanted a function (captions, references), got {candidate!r}")
    return candidate


def _compute(
    name: str, package: str, candidates: Sequence[str], references: Sequence[Sequence[str]]
) -> Additive:
    """Return the package's scores, in percent. Raises MetricUnavailable for any error in the package."""
    try:
        scores = np.asarray(find_metric(name)(candidates, references), float)
    except PluginError as error:
        raise MetricUnavailable(str(error)) from error
    except Exception as error:  # another package's function may raise anything
        raise MetricUnavailable(f"{package} failed: {plugins.fault(error)}") from error
    if scores.shape != (len(candidates),) or not ((scores >= 0) & (scores <= 1)).all():
        raise MetricUnavailable(
            f"{package} should give each of {len(candidates):,} captions a score of 0 to 1"
        )
    return mean(name, scores)
