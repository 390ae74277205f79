"""Writes the README of a bundle."""

from pathlib import Path

from whatchanged.captioner.bundle import MANIFEST
from whatchanged.captioner.card import Card, FeatureInput, Input, PictureInput
from whatchanged.recipes.schema import Recipe
from whatchanged.worlds import World

ELSEWHERE = """It works only for pictures like those that it was trained on. Its sentences about other
pictures mean nothing."""


OF_PICTURES = """\
The model reads two pictures and writes one sentence that says what changed. It also gives the probability
that nothing changed, and the places to which it attended. It runs on the CPU with ONNX Runtime, without
PyTorch and without a network connection.

    whatchanged describe before.png after.png --model FOLDER"""
OF_FEATURES = """\
The model reads stored features of two pictures, and no pictures. It writes one sentence that says what
changed. It also gives the probability that nothing changed, and the places to which it attended. It runs on
the CPU with ONNX Runtime, without PyTorch and without a network connection.

    whatchanged caption DATASET --model FOLDER --features FEATURES -o captions.jsonl"""


def model_card(card: Card, recipe: Recipe, world: World | None, folder: Path) -> str:
    """Return the text of a bundle's README: a YAML head for model hubs, then what a user must know.

    folder: holds the other files of the bundle.
    """
    size = sum(path.stat().st_size for path in folder.iterdir() if path.name != MANIFEST) / 1e6
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

{OF_FEATURES if isinstance(card.input, FeatureInput) else OF_PICTURES}

| | |
|---|---|
| method | {card.method}, preset `{card.preset}` |
| recipe | `{recipe.name}`: {recipe.description} |
| world | {card.world} |
| input | {_input_in_words(card.input)} |
| attention | {card.attention.rows} x {card.attention.columns} cells over each picture |
| words | {len(card.vocabulary) - 6} |
| size | {size:.1f} MB, the graphs' weights stored as {card.provenance["weights_stored_as"]} |
| further training | {_training_in_words(card)} |
| training | {_seconds_in_words(card)} |
| weights of | {_checkpoint_in_words(card)} |
| no-change probability | calibrated by {card.no_change.how} |
| unfamiliar pictures | {unfamiliar} |

The resolved recipe and the machine are in `bundle.json` under `provenance`.

## What it cannot do

{ELSEWHERE if world is None else world.pictures.limits}
"""


def _seconds_in_words(card: Card) -> str:
    """How long the run took, and whether it started from weights of another one."""
    seconds = f"{card.provenance['training_seconds']:,} seconds"
    from_nothing = card.provenance["from_nothing"]
    if from_nothing is None:
        return f"{seconds} in this run; it is not known what it started from"
    if from_nothing:
        return f"{seconds}, from nothing"
    return f"{seconds} in this run; the model that it started from is not counted"


def _checkpoint_in_words(card: Card) -> str:
    """Return the step at which the weights were saved, and whether the run was finished."""
    of = card.provenance["checkpoint"]
    step = f"step {of['step']:,} of {of['of']:,} of {of['stage']}"
    return step if card.provenance["finished"] else f"{step}; **the run was not finished**"


def _input_in_words(declared: Input) -> str:
    if isinstance(declared, PictureInput):
        width, height = declared.size
        return f"whole pictures, resized to {width} x {height} (bicubic)"
    origin = declared.made_by or "a backbone that the features do not name"
    return (
        f"features of {declared.rows} x {declared.columns} cells with {declared.width:,} numbers each, by"
        f" {origin}"
    )


def _training_in_words(card: Card) -> str:
    if card.folded_norms:
        return (
            "can start from `weights.safetensors`; the backbone's batch norms are folded, so it stays frozen"
        )
    return "can start from `weights.safetensors`"
