"""The attention maps of `caption --attention`, matched with their predictions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whatchanged.captioner.attention import AttentionFiles
from whatchanged.errors import PredictionsError
from whatchanged.evaluation.io.predictions import Prediction
from whatchanged.records import PairRecord


@dataclass(frozen=True)
class AttentionMaps:
    """The attention of each caption's content words: id -> mean maps (2, rows, columns), before and after.

    A pair without words (it failed, or its caption is empty) has none.
    """

    of: Mapping[str, NDArray[np.floating[Any]]]
    grid: tuple[int, int]
    layer: Any
    """The name of the model's attention layer, from the files."""
    model: Any
    """Name, version and fingerprint of the model, from the files."""
    files: AttentionFiles | None = None
    """The folder of the maps of single words."""


def read_maps(
    folder: Path, records: Sequence[PairRecord], predictions: Sequence[Prediction]
) -> AttentionMaps:
    """Read the maps of a folder; ``predictions[i]`` belongs to ``records[i]``.

    Raises PredictionsError where the folder has no maps, where a pair with words has none, or where its maps
    belong to another caption.
    """
    files = AttentionFiles(folder)
    words_of = {
        record.pair_id: tuple(prediction.caption.split())
        for record, prediction in zip(records, predictions, strict=True)
        if prediction.caption.split()
    }
    lacking = [pair_id for pair_id in words_of if pair_id not in files]
    if lacking:
        raise PredictionsError(
            f"{files.folder}: {len(lacking):,} pairs have no attention maps (first: {lacking[0]}). Caption "
            "all of them with --attention."
        )
    for pair_id, words in words_of.items():
        if files.words(pair_id) != words:
            raise PredictionsError(
                f"{files.folder}: the maps of {pair_id} are of another sentence: "
                f"{' '.join(files.words(pair_id))!r}. Name the maps written with these predictions."
            )
    maps = {pair_id: files.heat(pair_id) for pair_id in words_of}
    return AttentionMaps(maps, files.grid, files.about["layer"], files.about["model"], files)
