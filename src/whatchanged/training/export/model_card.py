"""The README of a bundle."""

from collections.abc import Mapping
from pathlib import Path

from whatchanged.captioner.bundle import Card
from whatchanged.recipes.schema import Recipe

ELSEWHERE = "It knows only pictures like those that it was trained on; of others its sentences mean nothing."
LIMITS: Mapping[str, str] = {
    "clevr": """It was trained on drawn CLEVR scenes only: cubes, spheres and cylinders in eight colors, two
sizes and two materials on a grey ground, seen from two cameras under two lights, with one change or none. It
cannot describe photographs, screenshots, documents, drawings or other objects: it still says a sentence about
cubes, and says it with confidence. Of a small thing that others hide, or the frame cuts, in one of the two
pictures it may say that it was added or has disappeared. Where two things are alike in size, color, material
and shape, it says which one changed by a relation ("left of the small blue metal cube"); about one in five of
these is wrong: look at the heat map. Cameras at quite other sides of the scene it understands only where such
pictures were drawn to learn from (`synth --views mixed`).

Where the bundle tells unfamiliar pictures, that is a distance of overall statistics, not an understanding:
close imitations of such scenes pass, and no warning does not mean that a sentence is true."""
}
"""World -> what its models cannot do."""


def model_card(card: Card, recipe: Recipe, folder: Path) -> str:
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
| method | {card.method}, preset `{card.preset}`, width {recipe.method.width} |
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

{LIMITS.get(card.world, ELSEWHERE)}
"""
