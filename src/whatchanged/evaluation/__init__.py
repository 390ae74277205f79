"""Score captions against references, without a model and without torch.

    metrics/     the scores of each pair, one metric in each file
    statistics/  intervals, comparisons, seeds
    io/          predictions, references and attention maps on disk
    report/      scores become one report: JSON, tables, page

>>> from whatchanged.evaluation import evaluate
>>> report = evaluate(["the red cube moved"], [["the red cube has moved", "someone moved the red cube"]])
>>> round(report["overall"]["ROUGE-L"], 1)
87.1
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whatchanged.evaluation.report.from_captions import evaluate
    from whatchanged.evaluation.report.report import Report

__all__ = ["Report", "evaluate"]


def __getattr__(name: str) -> Any:
    """Import a public name on first use, so that importing this package is fast."""
    if name == "evaluate":
        from whatchanged.evaluation.report.from_captions import evaluate

        return evaluate
    if name == "Report":
        from whatchanged.evaluation.report.report import Report

        return Report
    raise AttributeError(f"module 'whatchanged.evaluation' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
