"""Metrics of other packages: each is a function that scores each caption against its references.

A package declares the function as an entry point with the metric's name:

    [project.entry-points."whatchanged.metrics"]
    word-overlap = "my_package:word_overlap"    # (captions, references) -> a score from 0 to 1 for each
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from whatchanged import plugins
from whatchanged.errors import MetricUnavailable, PluginError
from whatchanged.evaluation.metrics.additive import Additive, mean
from whatchanged.evaluation.metrics.caption_metrics import METRICS, FurtherMetric

Scorer = Callable[[Sequence[str], Sequence[Sequence[str]]], Sequence[float]]
"""Tokenised captions and the tokenised references of each -> the score of each caption, from 0 to 1."""


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
