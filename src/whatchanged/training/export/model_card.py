"""The README of a bundle."""

from pathlib import Path

from whatchanged.captioner.bundle import MANIFEST
from whatchanged.captioner.card import (
    AttentionLayout,
    Card,
    FeatureInput,
    GridAttention,
    Input,
    PictureInput,
)
from whatchanged.recipes.schema import Recipe
from whatchanged.worlds import World

ELSEWHERE = """It works only for pictures like those that it was trained on. What it says of other pictures
means nothing."""


OF_PICTURES = """\
Two pictures in; out come one sentence that says what changed, the probability that nothing did, and where the
model looked. It runs on the CPU with ONNX Runtime, without torch and without a network.

    whatchanged describe before.png after.png --model FOLDER"""
OF_FEATURES = """\
Stored features of two pictures in; out come one sentence that says what changed, the probability that nothing
did, and where the model looked. It reads no pictures. It runs on the CPU with ONNX Runtime, without torch and
without a network.

    whatchanged caption DATASET --model FOLDER --features FEATURES -o captions.jsonl"""


def model_card(card: Card, recipe: Recipe, world: World | None, folder: Path) -> str:
    """The text of a bundle's README: a YAML head as model hubs expect it, and what a user must know.

    folder: holds the other files of the bundle.
    """
    size = sum(path.stat().st_size for path in folder.iterdir() if path.name != MANIFEST) / 1e6
    captions = card.statements is None  # else its world puts what the networks say of regions into words
    method = f"{card.method}, preset `{card.preset}`" if captions else "networks that judge regions"
    tags = ["image-difference-captioning", "change-captioning", *([card.method] if captions else []), "onnx"]
    unfamiliar = "not recognised"
    if card.in_distribution is not None:
        unfamiliar = f"recognised by the {card.in_distribution.how}"
    return f"""---
language: en
license: apache-2.0
library_name: whatchanged
pipeline_tag: image-to-text
tags: [{", ".join(tags)}]
---

# {card.name}

{OF_FEATURES if isinstance(card.input, FeatureInput) else OF_PICTURES}

| | |
|---|---|
| method | {method} |
| recipe | `{recipe.name}`: {recipe.description} |
| world | {card.world} |
| input | {_input_in_words(card.input)} |
| attention | {_attention_in_words(card.attention)} |
| words | {_words_in_words(card)} |
| size | {size:.1f} MB, the graphs' weights stored as {card.provenance["weights_stored_as"]} |
| further training | {_training_in_words(card)} |
| training | {_seconds_in_words(card)} |
| weights of | {_checkpoint_in_words(card)} |
| no-change probability | calibrated by {card.no_change.how} |{_statements_in_words(card)}
| unfamiliar pictures | {unfamiliar} |

The resolved recipe and the machine are in `bundle.json` under `provenance`.

## What it cannot do

{ELSEWHERE if world is None else world.pictures.limits}
"""


def _seconds_in_words(card: Card) -> str:
    """How long the run was, and whether it began with weights of another one."""
    seconds = f"{card.provenance['training_seconds']:,} seconds"
    from_nothing = card.provenance["from_nothing"]
    if from_nothing is None:
        return f"{seconds} in this run; it is not known what it started from"
    if from_nothing:
        return f"{seconds}, from nothing"
    return f"{seconds} in this run; the model that it started from is not counted"


def _checkpoint_in_words(card: Card) -> str:
    """Which step the weights are of, and whether the run was finished."""
    of = card.provenance["checkpoint"]
    step = f"step {of['step']:,} of {of['of']:,} of {of['stage']}"
    return step if card.provenance["finished"] else f"{step}; **the run was not finished**"


def _input_in_words(declared: Input) -> str:
    if isinstance(declared, PictureInput):
        width, height = declared.size
        return f"whole pictures, resized to {width} x {height} (bicubic)"
    if isinstance(declared, FeatureInput):
        origin = declared.made_by or "a backbone that the features do not name"
        return (
            f"features of {declared.rows} x {declared.columns} cells with {declared.width:,} numbers each, by"
            f" {origin}"
        )
    return (
        f"{declared.numbers} measured numbers of each of up to {declared.regions} places of a pair that may"
        " have changed"
    )


def _statements_in_words(card: Card) -> str:
    return "" if card.statements is None else f"\n| confidence of statements | {card.statements.how} |"


def _words_in_words(card: Card) -> str:
    if card.statements is None:
        return str(len(card.vocabulary) - 6)
    kinds, elements = len(card.statements.kinds), len(card.statements.elements)
    return f"those of its world, for {kinds} kinds and {elements} elements"


def _attention_in_words(declared: AttentionLayout) -> str:
    if isinstance(declared, GridAttention):
        return f"{declared.rows} x {declared.columns} cells over each picture"
    return "the boxes of its statements"


def _training_in_words(card: Card) -> str:
    if card.folded_norms:
        return (
            "can start from `weights.safetensors`; the backbone's batch norms are folded, so it stays frozen"
        )
    return "can start from `weights.safetensors`"
