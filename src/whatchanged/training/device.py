"""Which device a command computes on."""

import torch

from whatchanged.errors import RecipeError
from whatchanged.processes import launched_number, launched_processes


def choose_device(name: str) -> torch.device:
    """ "auto" is the first GPU, or the CPU without one; each process of ``torchrun`` has a GPU of its own.

    Raises RecipeError for a device that is not there.
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
