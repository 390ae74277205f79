"""Captions many pairs with a method, and writes them to a file."""

import json
from collections.abc import Sequence
from pathlib import Path

import torch

from whatchanged.files import write_output
from whatchanged.records import PairRecord
from whatchanged.training.batches import Example
from whatchanged.training.methods import Method
from whatchanged.training.validation import write_captions

BATCH = 50


def captioned(method: Method, examples: Sequence[Example], device: torch.device) -> list[str]:
    """The greedy caption of every pair."""
    said = []
    for first in range(0, len(examples), BATCH):
        said += write_captions(method, method.collate(examples[first : first + BATCH]).to(device))
    return said


def write_predictions(path: Path, records: Sequence[PairRecord], captions: Sequence[str]) -> None:
    """Write a line of JSON for each pair, as ``whatchanged evaluate`` reads them."""
    lines = [{"id": r.pair_id, "caption": c} for r, c in zip(records, captions, strict=True)]
    write_output(path, "".join(f"{json.dumps(line)}\n" for line in lines))
