"""Lines of text read by PP-OCR's recogniser, whose network lies in the package ``rapidocr``.

Nothing is fetched. Only the network's file is taken from that package, and run by ONNX Runtime: none of its
code is imported, so none of the libraries that it wants has to load.

    x   pictures (N, 3, 48, W) float32 from -1 to 1, blue first, 48 pixels high, zeros at the right
        -> probabilities (N, W / 8, characters) of each column; the first character is the blank one of CTC
"""

import importlib.util
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from whatchanged.errors import MissingExtra
from whatchanged.images import normalise, resize
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.remarks import note
from whatchanged.telemetry import import_silent

PACKAGE, FILES = "rapidocr", "models/*_rec_*.onnx"
"""Where the network lies."""
HEIGHT = 48
"""Pixels of a line as the network reads it."""
LEAST_WIDTH = 64
"""Columns of what the network reads at least."""
STEP = 32
"""Lines whose widths differ by no more columns are read side by side."""
MOST_SIDE_BY_SIDE = 6
"""Lines at a time: more are not faster on one core."""
MOST_WIDTH = 3200
"""Columns of a line at most; what is longer is squeezed."""


class RecognisedWord(NamedTuple):
    """A word that was read."""

    text: str
    columns: tuple[float, ...]
    """The columns of the picture in which its characters were seen."""
    certainty: float
    """The probability of its least certain character."""
    confidence: float
    """The mean of its characters' probabilities."""


class RecognisedLine(NamedTuple):
    """What was read."""

    words: tuple[RecognisedWord, ...]
    confidence: float
    """The mean of the characters' probabilities."""

    @property
    def text(self) -> str:
        """The words, a space between two of them."""
        return " ".join(word.text for word in self.words)


def read_lines(pictures: Sequence[Pixels]) -> list[RecognisedLine]:
    """The text of pictures (h, w, 3), RGB, of one line each. Raises MissingExtra."""
    recogniser = _recogniser()
    widths = [width_as_read(picture.shape) for picture in pictures]
    results: list[RecognisedLine] = [RecognisedLine((), 0.0)] * len(pictures)
    for batch in _batches(widths):
        wide = max(LEAST_WIDTH, *(widths[i] for i in batch))
        inputs = np.zeros((len(batch), 3, HEIGHT, wide), np.float32)
        for row, i in enumerate(batch):
            scaled = resize(Image.fromarray(pictures[i]), (widths[i], HEIGHT), Image.Resampling.BILINEAR)
            inputs[row, :, :, : widths[i]] = normalise(scaled[..., ::-1], (0.5,) * 3, (0.5,) * 3)
        for row, probabilities in zip(batch, recogniser.run(inputs), strict=True):
            # A column of the picture is so many of the network's.
            scale = wide / len(probabilities) * pictures[row].shape[1] / widths[row]
            results[row] = decoded(probabilities, recogniser.characters, scale)
    return results


def width_as_read(shape: tuple[int, ...]) -> int:
    """How many columns a picture (h, w, 3) has when it is read, by which the time goes that it takes."""
    return min(MOST_WIDTH, max(1, -(-shape[1] * HEIGHT // shape[0])))


def can_read(wanted: bool | None = None) -> bool:
    """Whether words are read: as it is wanted, or, where None says, if the network is installed.

    Nothing is loaded but where words are wanted by all means; then raises MissingExtra if it cannot be.
    """
    if wanted:
        _recogniser()
    return _network() is not None if wanted is None else wanted


def reads_words(wanted: bool | None, quiet: bool) -> bool:
    """Whether words are read: as it is wanted, or, where None says, if they can be.

    Where the recogniser is installed and cannot be loaded, a remark says so once. Raises MissingExtra where
    words must be read and cannot be.
    """
    if wanted or not can_read(wanted):
        return can_read(wanted)
    try:
        return can_read(True)
    except MissingExtra as error:
        note(f"No words are read. {error}", quiet)
        return False


def reading_identity(reads: bool) -> str | None:
    """What answers owe to the recogniser: its network's file; None where no words are read."""
    path = _network() if reads else None
    return None if path is None else f"{path.name}, {path.stat().st_size:,} bytes"


def decoded(probabilities: NDArray[np.float32], characters: Sequence[str], scale: float) -> RecognisedLine:
    """What columns say by CTC: the likeliest character of each, without repetitions and blanks.

    probabilities: (T, characters). scale: how many columns of the picture one of these is.
    """
    best = probabilities.argmax(axis=1)
    begins = np.r_[True, best[1:] != best[:-1]] & (best != 0)
    words: list[RecognisedWord] = []
    letters: list[tuple[str, float, float]] = []
    at = np.flatnonzero(begins).tolist()
    sure = probabilities[at, best[at]].tolist()
    for column, sign, own in zip(at, best[at].tolist(), sure, strict=True):
        letter = characters[sign]
        if not letter.isspace():
            letters.append((letter, (column + 0.5) * scale, own))
        elif letters:
            words.append(_word(letters))
            letters = []
    if letters:
        words.append(_word(letters))
    return RecognisedLine(tuple(words), float(np.mean(sure)) if words else 0.0)


def _word(letters: Sequence[tuple[str, float, float]]) -> RecognisedWord:
    """The word of some letters, each with its column and its probability."""
    signs, columns, sure = zip(*letters, strict=True)
    return RecognisedWord("".join(signs), columns, min(sure), sum(sure) / len(sure))


def _batches(widths: Sequence[int]) -> list[list[int]]:
    """The indices of lines that are read side by side: of about one width, few at a time."""
    batches: list[list[int]] = []
    for i in sorted(range(len(widths)), key=lambda i: widths[i]):
        last = batches[-1] if batches else []
        if last and len(last) < MOST_SIDE_BY_SIDE and widths[i] - widths[last[0]] <= STEP:
            last.append(i)
        else:
            batches.append([i])
    return batches


class _Recogniser:
    """The network and the characters that it tells."""

    def __init__(self, path: Path) -> None:
        ort = import_silent("onnxruntime")
        options = ort.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        self._session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        (self._input,) = (item.name for item in self._session.get_inputs())
        listed = self._session.get_modelmeta().custom_metadata_map["character"].split("\n")
        self.characters = ("", *listed, " ")
        """By their numbers, the blank one first."""

    def run(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        """The probabilities (N, T, characters) of each column."""
        (found,) = self._session.run(None, {self._input: inputs})
        probabilities: NDArray[np.float32] = found
        return probabilities


@cache
def _recogniser() -> _Recogniser:
    """The recogniser, built once, on one thread. Raises MissingExtra."""
    path = _network()
    try:
        if path is not None:
            return _Recogniser(path)
    except Exception as error:  # those of ONNX Runtime have no common root
        raise MissingExtra("Reading text", f"a network of {PACKAGE} that can be run", "text") from error
    raise MissingExtra("Reading text", PACKAGE, "text")


def _network() -> Path | None:
    """The network's file, found without importing the package; None where it is not installed."""
    try:
        spec = importlib.util.find_spec(PACKAGE)
    except ValueError:  # someone put something of this name into ``sys.modules``
        return None
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for path in sorted(Path(folder).glob(FILES)):
            return path
    return None
