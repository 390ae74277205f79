"""The README of a bundle."""

from collections.abc import Mapping
from pathlib import Path

from whatchanged.captioner.card import Attention, Card, GridAttention, Input, PictureInput
from whatchanged.recipes.schema import Recipe

ELSEWHERE = """It knows only pictures like those that it was trained on. What it says of other pictures means
nothing."""
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
    """The README of a bundle: a YAML head as model hubs expect it, and what a user must know.

    folder: holds the other files of the bundle.
    """
    size = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
    seconds = card.provenance["training_seconds"]
    unfamiliar = "not recognised"
    if card.in_distribution is not None:
        unfamiliar = f"recognised by the {card.in_distribution.how}"
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
| input | {_input_in_words(card.input)} |
| attention | {_attention_in_words(card.attention)} |
| words | {len(card.vocabulary) - 6} |
| size | {size:.1f} MB, the graphs' weights stored as {card.provenance["weights_stored_as"]} |
| further training | {_training_in_words(card)} |
| training | {seconds:,} seconds of this run; what it began from is not counted |
| no-change probability | calibrated by {card.no_change.how} |
| unfamiliar pictures | {unfamiliar} |

The resolved recipe and the machine are in `bundle.json` under `provenance`.

## What it cannot do

{LIMITS.get(card.world, ELSEWHERE)}
"""


def _input_in_words(declared: Input) -> str:
    if isinstance(declared, PictureInput):
        width, height = declared.size
        return f"whole pictures, resized to {width} x {height} (bicubic)"
    width, height = declared.crop
    return (
        f"up to {declared.most_regions} regions of a pair at native size, {width} x {height} pixels each, "
        f"with {declared.margin} pixels of their surroundings on every side"
    )


def _attention_in_words(declared: Attention) -> str:
    if isinstance(declared, GridAttention):
        return f"{declared.rows} x {declared.columns} cells over each picture"
    return "one weight for each region"


def _training_in_words(card: Card) -> str:
    if card.folded_norms:
        return (
            "can start from `weights.safetensors`; the backbone's batch norms are folded, so it stays frozen"
        )
    return "can start from `weights.safetensors`"
