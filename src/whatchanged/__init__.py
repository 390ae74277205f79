"""Two pictures of the same thing in, one sentence out: what changed.

    >>> import whatchanged
    >>> from importlib.resources import files
    >>> demo = files("whatchanged") / "models" / "demo"
    >>> answer = whatchanged.describe(demo / "00-before.png", demo / "00-after.png")
    >>> answer.sentence
    'the large green rubber cube changed to purple'
    >>> answer.changed, answer.answer
    (True, 'clevr-pcl')

describe, Answer, Answerer      the answer for any pair: by a model trained on such pictures, or measured
load, Captioner, Description    the captions of one model: a shipped model or your own model
caption_pairs, CaptionedPairs   predictions for a list or a data set
Launch                          how something is computed: device, workers, precision, batch size
datasets                        read a data set: ``datasets.open_dataset(path)``
evaluation                      score captions
recipes                         read and list recipes
training                        train a recipe, export a run; needs the extra "train"

The same from the command line: ``whatchanged --help``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from whatchanged.errors import WhatchangedError

if TYPE_CHECKING:
    from whatchanged import datasets, evaluation, recipes, training
    from whatchanged.answers import Answer, Answerer, describe
    from whatchanged.captioner.description import Description
    from whatchanged.captioner.runtime import Captioner, load
    from whatchanged.captions import CaptionedPairs, caption_pairs
    from whatchanged.launch import Launch

__version__ = "0.3.0"
__all__ = [
    "Answer",
    "Answerer",
    "CaptionedPairs",
    "Captioner",
    "Description",
    "Launch",
    "WhatchangedError",
    "__version__",
    "caption_pairs",
    "datasets",
    "describe",
    "evaluation",
    "load",
    "recipes",
    "training",
]

_MODULES = {
    "whatchanged.answers": ("Answer", "Answerer", "describe"),
    "whatchanged.captioner.description": ("Description",),
    "whatchanged.captioner.runtime": ("Captioner", "load"),
    "whatchanged.captions": ("CaptionedPairs", "caption_pairs"),
    "whatchanged.launch": ("Launch",),
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use, so that ``import whatchanged`` stays fast."""
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(module), name)
    if name in __all__:
        return import_module(f"whatchanged.{name}")
    raise AttributeError(f"module 'whatchanged' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
