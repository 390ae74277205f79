"""Makes the page of the metrics: what each computes, from its docstring, and an example of a signature."""

import json

from whatchanged.evaluation import evaluate
from whatchanged.evaluation.metrics.caption_metrics import METRICS

FUNCTIONS = {
    "BLEU": ("bleu.statistics", "bleu.bleu"),
    "METEOR": ("meteor.statistics", "meteor.formula.meteor"),
    "ROUGE-L": ("rouge.rouge_l",),
    "CIDEr-D": ("cider.cider_d",),
    "SPICE": ("spice.spice",),
    "Changed or not": ("change_detection.ChangeDetection", "change_detection.calibration_error"),
    "Sentences against the scene": ("truth.judged",),
    "Pointing game": ("pointing.play", "pointing.enlarged"),
    "Retrieval": ("retrieval.ranks", "retrieval.rank_both", "retrieval.summary"),
    "Words": ("caption_metrics.plain", "ptb.ptb"),
}
"""Section -> the functions of ``whatchanged.evaluation.metrics`` that compute it."""

HEAD = """# Metrics and their signatures

Reports name these metrics of captions, in this order: {names}. All are in percent. See
[evaluation](../evaluation.md#caption-metrics) for what each needs beyond the base install, and for the
programs with which it agrees.

## Signature

You can compare scores only if they were computed in the same way. So every report has a signature in
`signature`. It holds the program and its version, the data set and split, the words, references, pairs and
scenes of every subset, the way in which the intervals were computed, and the reason why a metric was not
computed. This is the signature of a report about two captions:

```json
{signature}
```

The command line prints the same as its last line:

```text
{line}
```

## Formulas

What follows are the docstrings of the functions that compute the scores: equations, shapes, units, sources.

"""


def metrics_page() -> str:
    """The signature of a real report, then every metric's functions."""
    captions = ["the red cube moved", "there is no change"]
    references = [["the red cube has moved", "someone moved the red cube"], ["nothing has changed"]]
    report = evaluate(captions, references)
    signature = json.dumps(report["signature"], indent=2, ensure_ascii=False)
    line = str(report).strip().splitlines()[-1]
    return HEAD.format(names=", ".join(METRICS), signature=signature, line=line) + "\n".join(
        f"### {title}\n\n" + "\n".join(map(_directive, functions)) for title, functions in FUNCTIONS.items()
    )


def _directive(function: str) -> str:
    options = "    options:\n      heading_level: 4\n      members: false\n"
    return f"::: whatchanged.evaluation.metrics.{function}\n{options}"
