"""The part of the package that needs torch: the training loop, the methods and export. The extra `train`
installs torch.

train         trains a recipe into a run folder: ``train(load_recipe("pcl-tiny"), Path("run"))``
export_run    writes a run as a model that ``whatchanged.load`` reads: ``export_run(run, output, "my-model")``

Each function is imported when it is first used, so importing this package does not import torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from whatchanged.errors import MissingExtra

if TYPE_CHECKING:
    from whatchanged.training.export import export_run
    from whatchanged.training.run import run_recipe as train

__all__ = ["export_run", "train"]

_FUNCTIONS = {
    "train": "whatchanged.training.run:run_recipe",
    "export_run": "whatchanged.training.export:export_run",
}


def __getattr__(name: str) -> Any:
    """Return the function of this name. Raises MissingExtra where torch is not installed."""
    if name not in _FUNCTIONS:
        raise AttributeError(f"module 'whatchanged.training' has no attribute {name!r}")
    module, _, function = _FUNCTIONS[name].partition(":")
    try:
        return getattr(import_module(module), function)
    except ModuleNotFoundError as error:
        raise MissingExtra(f"whatchanged.training.{name}", error.name or "torch", "train") from error


def __dir__() -> list[str]:
    return sorted(__all__)
