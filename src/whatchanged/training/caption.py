"""Captions pairs with a run's method in torch, many pairs in one batch, on a GPU if there is one."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from whatchanged import __version__
from whatchanged.captioner.attention import WordMaps, words_with_maps
from whatchanged.captioner.decoding import Decoded
from whatchanged.errors import ImageError
from whatchanged.launch import USUAL, Launch, Precision
from whatchanged.training.batches import PictureReader
from whatchanged.training.data.pictures import picture_reader
from whatchanged.training.device import choose_device, in_precision
from whatchanged.training.features.backbones import fingerprint
from whatchanged.training.methods import Method
from whatchanged.training.run_folder import check_captions, open_run
from whatchanged.training.validation import decode_memory

READERS = 8
"""The number of threads that read pictures while the device computes."""

PicturePaths = tuple[Path, Path]
"""The paths of the two pictures of a pair."""


@dataclass(frozen=True)
class RunDescription:
    """The predictions of a run's method for a pair.

    no_change: the uncalibrated probability that nothing changed, from the method's no-change head. None where
    the method has no such head. words: each word with its attention (2, rows, columns), if attention was
    requested.
    """

    sentence: str
    no_change: float | None
    words: WordMaps = ()


@dataclass(frozen=True)
class RunCaptioner:
    """A run's method on its device, together with the function that reads a picture for the method.

    name: the recipe's name. precision: of the arithmetic, as in ``StageConfig``. beams: number of hypotheses
    in the beam search. maps: whether words are returned with their attention.
    """

    name: str
    method: Method
    read: PictureReader
    device: torch.device
    precision: Precision = "fp32"
    beams: int = 1
    maps: bool = False

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns of the attention map over each picture."""
        return self.method.vision.rows, self.method.vision.columns

    @property
    def layer(self) -> str:
        """Which of the method's attention layers the maps show."""
        return self.method.attention_description

    def about(self) -> dict[str, str]:
        """Identifies the model: the recipe's name, and a hash of the weights."""
        weights = fingerprint(self.method.state_dict())
        return {"name": self.name, "version": __version__, "fingerprint": weights}

    def describe(
        self, pairs: Sequence[PicturePaths], batch_size: int
    ) -> Iterator[RunDescription | ImageError]:
        """Yield, for each pair in order, a description, or the error that explains why the pair's pictures
        cannot be read.

        The next batch is read while the current batch is computed.
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
        """Return the descriptions of the pairs whose pictures could be read. Pairs with unreadable pictures
        are left out of the batch.
        """
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
            rows = decode_memory(self.method, memory, len(before), before.device, self.beams, self.maps)
            judged = self.method.no_change(memory)
        chances = [None] * len(rows) if judged is None else judged.tolist()
        return [self._of_row(row, chance) for row, chance in zip(rows, chances, strict=True)]

    def _of_row(self, row: Decoded, no_change: float | None) -> RunDescription:
        vocabulary = self.method.vocabulary
        words = () if row.attention is None else words_with_maps(vocabulary.words(row.ids), row.attention)
        return RunDescription(vocabulary.text(row.ids), no_change, words)

    def _on_device(self, pictures: Sequence[NDArray[np.generic]]) -> Tensor:
        stacked = torch.from_numpy(np.stack(pictures))
        if self.device.type == "cuda":
            stacked = stacked.pin_memory()
        return stacked.to(self.device, non_blocking=True)


def open_run_captioner(
    run: Path,
    root: Path,
    features: Path | None,
    checkpoint: str,
    launch: Launch = USUAL,
    beams: int = 1,
    maps: bool = False,
) -> RunCaptioner:
    """Return a captioner for the data set at ``root`` from a run, on the device and in the precision of
    ``launch``.

    features: the folder of stored features, for a run that learned from stored features. checkpoint: as in
    ``checkpoint_file``. beams: number of hypotheses in the beam search. maps: whether words are returned with
    their attention. Raises RecipeError where the folder holds no run, or where the checkpoint was saved
    before any captioning stage.
    """
    recipe, method, state = open_run(run, checkpoint)
    check_captions(run, recipe, state)
    where = choose_device(launch.device)
    read = picture_reader(recipe.vision, "" if features is None else str(features), root)
    captioner = method.to(where)
    return RunCaptioner(recipe.name, captioner, read, where, launch.precision, beams, maps)
