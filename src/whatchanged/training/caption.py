"""Sentences straight from a run, by torch: on a GPU, many pairs side by side."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from whatchanged.errors import ImageError, RecipeError
from whatchanged.recipes.schema import Precision
from whatchanged.training.batches import PictureReader
from whatchanged.training.data.pictures import picture_reader
from whatchanged.training.device import choose_device, in_precision
from whatchanged.training.methods import Method, captioning
from whatchanged.training.run_folder import open_run
from whatchanged.training.validation import decode_memory

READERS = 8
"""Threads that read pictures while the device computes."""

PicturePaths = tuple[Path, Path]
"""Where the two pictures of a pair lie."""


@dataclass(frozen=True)
class RunDescription:
    """What a run says of a pair.

    no_change: the probability that nothing changed, by the method's own head, not calibrated; None where the
    method has none.
    """

    sentence: str
    no_change: float | None


@dataclass(frozen=True)
class RunCaptioner:
    """A run's method on its device, and how it reads a picture.

    name: that of its recipe. precision: of the arithmetic, as in ``StageConfig``.
    """

    name: str
    method: Method
    read: PictureReader
    device: torch.device
    precision: Precision = "fp32"

    def describe(
        self, pairs: Sequence[PicturePaths], batch_size: int
    ) -> Iterator[RunDescription | ImageError]:
        """What is said of each pair in order, greedily, or what is wrong with its pictures.

        The next batch is read while one is computed.
        """
        starts = range(0, len(pairs), batch_size)
        with ThreadPoolExecutor(1) as ahead, ThreadPoolExecutor(READERS) as readers:

            def read(start: int) -> list[tuple[NDArray[np.generic], ...] | ImageError]:
                return list(readers.map(self._pictures, pairs[start : start + batch_size]))

            following = ahead.submit(read, 0) if starts else None
            for start in starts:
                assert following is not None
                pictures = following.result()
                if start + batch_size < len(pairs):
                    following = ahead.submit(read, start + batch_size)
                yield from self._descriptions(pictures)

    def _pictures(self, paths: PicturePaths) -> tuple[NDArray[np.generic], ...] | ImageError:
        try:
            return tuple(self.read(path) for path in paths)
        except ImageError as error:
            return error

    def _descriptions(
        self, pictures: Sequence[tuple[NDArray[np.generic], ...] | ImageError]
    ) -> Iterator[RunDescription | ImageError]:
        """What is said of pairs that are read; the broken ones are left out of the batch."""
        whole = [pair for pair in pictures if not isinstance(pair, ImageError)]
        said: Iterator[RunDescription] = iter(())
        if whole:
            before, after = (self._on_device([pair[side] for pair in whole]) for side in (0, 1))
            said = iter(self._describe(before, after))
        for pair in pictures:
            yield pair if isinstance(pair, ImageError) else next(said)

    @torch.inference_mode()
    def _describe(self, before: Tensor, after: Tensor) -> list[RunDescription]:
        with in_precision(self.precision, self.device):
            memory = self.method.encode(before, after)
            rows = decode_memory(self.method, memory, len(before), before.device)
            judged = self.method.no_change(memory)
        sentences = [self.method.vocabulary.text(row.ids) for row in rows]
        if judged is None:
            return [RunDescription(sentence, None) for sentence in sentences]
        return [
            RunDescription(sentence, chance)
            for sentence, chance in zip(sentences, judged.tolist(), strict=True)
        ]

    def _on_device(self, pictures: Sequence[NDArray[np.generic]]) -> Tensor:
        stacked = torch.from_numpy(np.stack(pictures))
        if self.device.type == "cuda":
            stacked = stacked.pin_memory()
        return stacked.to(self.device, non_blocking=True)


def open_run_captioner(
    run: Path,
    root: Path,
    features: Path | None,
    device: str,
    checkpoint: str,
    precision: Precision = "fp32",
) -> RunCaptioner:
    """A run's captioner for the data set at ``root``, on "auto", "cpu" or a "cuda" device.

    features: where its stored features lie, for a run that learned from such. checkpoint: as in
    ``checkpoint_file``. precision: of the arithmetic. Raises RecipeError where the folder holds no run, or
    has no stage that captions.
    """
    recipe, method, _ = open_run(run, checkpoint)
    if not any("caption" in stage.tasks for stage in recipe.stages):
        raise RecipeError(f"{run}: no stage of it learned to caption. Name another run.")
    where = choose_device(device)
    read = picture_reader(recipe.vision, "" if features is None else str(features), root)
    return RunCaptioner(recipe.name, captioning(method, str(run)).to(where), read, where, precision)
