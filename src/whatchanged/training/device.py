"""Chooses the device that a command computes on, and the precision."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch

from whatchanged.errors import RecipeError
from whatchanged.launch import Precision
from whatchanged.processes import launched_number, launched_processes


def choose_device(name: str) -> torch.device:
    """Return the device of this name. "auto" is the first GPU, or the CPU where there is no GPU. Under
    ``torchrun``, each process has a separate GPU.

    Raises RecipeError for a device that this machine does not have.
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda" and launched_processes() > 1:
        name = f"cuda:{launched_number(local=True)}"
    if name.partition(":")[0] not in ("cpu", "cuda"):
        raise RecipeError(f"--device {name}: wanted auto, cpu or cuda")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise RecipeError(f"--device {name}: wanted auto, cpu, cuda or cuda:NUMBER") from error
    if device.type == "cuda" and (device.index or 0) not in range(torch.cuda.device_count()):
        raise RecipeError(f"--device {name}: torch sees no such device here. Use --device cpu.")
    return device


def in_precision(precision: Precision, device: torch.device) -> AbstractContextManager[Any]:
    """Return a context for this precision. With bf16, ``device`` computes matrix products and convolutions in
    16 bit. Weights stay in 32 bit.
    """
    return nullcontext() if precision == "fp32" else torch.autocast(device.type, torch.bfloat16)
