"""The table that ``whatchanged train RECIPE --plan`` prints."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from whatchanged.cli.console import show

if TYPE_CHECKING:
    from whatchanged.recipes.schema import Recipe
    from whatchanged.training.estimate import StageEstimate

ROW = "{:<12} {:>9} {:>12} {:>12} {:>14} {:>9}"

EXPLAINED = (
    "weights: those that learn.",
    "memory, on each device: weights, gradients, the optimiser's moments, and what the backward pass needs of"
    " its part of a batch. torch and its caches take more.",
    "operations, on each device: of a step, forward and backward; a multiplication and an addition are two.",
    "hours: of these operations alone. Reading, validation and waiting for memory or others take more.",
)
"""The explanation of the columns of the table."""


def show_plan(
    recipe: "Recipe", stages: Sequence["StageEstimate"], words: str, devices: int, rate: float
) -> None:
    """Print a line for each stage, and the assumptions.

    rate: the speed of each device, in trillions of operations per second.
    """
    show(ROW.format("stage", "steps", "weights", "memory", "operations", "hours"))
    for stage in stages:
        learning, memory = f"{stage.learning / 1e6:,.1f} M", f"{stage.memory / 1e9:,.2f} GB"
        operations, hours = f"{stage.operations / 1e12:,.3f} T", f"{stage.hours(1e12 * rate):,.2f}"
        show(ROW.format(stage.name, f"{stage.steps:,}", learning, memory, operations, hours))
    device = "one device" if devices == 1 else f"{devices} devices"
    total = sum(stage.hours(1e12 * rate) for stage in stages)
    show(
        f"{recipe.name}: {total:,.2f} hours on {device} of {rate:g} T operations a second;"
        f" vocabulary: {words}."
    )
    for line in EXPLAINED:
        show(line)
    left = [f"{task} ({stage.name})" for stage in stages for task in stage.uncounted]
    if left:
        show(f"Not counted: {', '.join(left)}, which need drawn scenes.")
