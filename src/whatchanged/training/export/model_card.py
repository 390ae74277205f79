"""The README of a bundle."""

from pathlib import Path

from whatchanged.captioner.bundle import Card
from whatchanged.recipes.schema import Recipe
from whatchanged.worlds import World

ELSEWHERE = "It knows only pictures like those that it was trained on; of others its sentences mean nothing."


def model_card(card: Card, recipe: Recipe, world: World | None, folder: Path) -> str:
    """The README of a bundle: a YAML head after the model hubs' conventions, and what a user must know."""
    size = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
    width, height = card.image_size
    seconds = card.provenance["training_seconds"]
    warned = "not told" if card.in_distribution is None else f"warned of by the {card.in_distribution.how}"
    return f"""---
language: en
license: apache-2.0
library_name: whatchanged
pipeline_tag: image-to-text
tags: [image-difference-captioning, change-captioning, {card.method}, onnx]
---

# {card.name}

Two pictures of one scene in; out come one sentence that says what changed, the probability that nothing
did, and where the model looked. It runs on the CPU with ONNX Runtime, without torch and without a network.

    whatchanged describe before.png after.png --model FOLDER

| | |
|---|---|
| method | {card.method}, preset `{card.preset}` |
| recipe | `{recipe.name}`: {recipe.description} |
| world | {card.world} |
| pictures | resized to {width} x {height} (bicubic), attention on {card.grid[0]} x {card.grid[1]} cells |
| words | {len(card.vocabulary) - 6} |
| size | {size:.1f} MB, weights stored as {card.provenance["weights_stored_as"]} |
| training | {seconds:,} seconds of this run; what it began from is not counted |
| no-change probability | calibrated by {card.no_change.how} |
| unfamiliar pictures | {warned} |

The resolved recipe and the machine are in `bundle.json` under `provenance`.

## What it cannot do

{ELSEWHERE if world is None else world.limits}
"""
