"""Lines of text read by PP-OCR's recogniser, whose network lies in the package ``rapidocr``.

Nothing is downloaded. ONNX Runtime runs the network's file from that package. None of the package's code is
imported, so the libraries that it depends on need not load.

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
"""The package that contains the network, and the pattern of the network's path in this package."""
HEIGHT = 48
"""The height in pixels of a line in the network's input."""
LEAST_WIDTH = 64
"""The least width of the network's input, in columns."""
STEP = 32
"""Lines whose widths differ by at most this many columns share a batch."""
MOST_SIDE_BY_SIDE = 6
"""The largest batch: more lines are not faster on one core."""
MOST_WIDTH = 3200
"""The largest width of a line in columns; a longer line is squeezed."""


class RecognisedWord(NamedTuple):
    """A word that was read."""

    text: str
    columns: tuple[float, ...]
    """The columns of the picture in which its characters were detected."""
    certainty: float
    """The probability of its least certain character."""
    confidence: float
    """The mean of its characters' probabilities."""


class RecognisedLine(NamedTuple):
    """A line that was read."""

    words: tuple[RecognisedWord, ...]
    confidence: float
    """The mean of the characters' probabilities."""

    @property
    def text(self) -> str:
        """The words, separated by spaces."""
        return " ".join(word.text for word in self.words)


def read_lines(pictures: Sequence[Pixels]) -> list[RecognisedLine]:
    """Read the text of pictures (h, w, 3), RGB, of one line each. Raises MissingExtra."""
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
    """Return the width in columns of a picture (h, w, 3) in the network's input; reading time is proportional
    to it.
    """
    return min(MOST_WIDTH, max(1, -(-shape[1] * HEIGHT // shape[0])))


def can_read(wanted: bool | None = None) -> bool:
    """Return whether text is read: as ``wanted``, or for None, whether the network is installed.

    The network is loaded only if ``wanted`` is true; MissingExtra is then raised where it cannot be.
    """
    if wanted:
        _recogniser()
    return _network() is not None if wanted is None else wanted


def reads_words(wanted: bool | None, quiet: bool) -> bool:
    """Return whether text is read: as ``wanted``, or for None, whether the recogniser works.

    Where the recogniser is installed and cannot be loaded, a remark is printed once. Raises MissingExtra
    where text must be read and cannot be.
    """
    if wanted or not can_read(wanted):
        return can_read(wanted)
    try:
        return can_read(True)
    except MissingExtra as error:
        note(f"No words are read. {error}", quiet)
        return False


def reading_identity(reads: bool) -> str | None:
    """Return the identity of the recogniser: its network's file; None where no text is read."""
    path = _network() if reads else None
    return None if path is None else f"{path.name}, {path.stat().st_size:,} bytes"


def decoded(probabilities: NDArray[np.float32], characters: Sequence[str], scale: float) -> RecognisedLine:
    """Decode columns by CTC: the most probable character of each, without repetitions and blanks.

    probabilities: (T, characters). scale: how many columns of the picture one column of probabilities covers.
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
    """Return the word of some letters, each with its column and its probability."""
    signs, columns, sure = zip(*letters, strict=True)
    return RecognisedWord("".join(signs), columns, min(sure), sum(sure) / len(sure))


def _batches(widths: Sequence[int]) -> list[list[int]]:
    """Yield the indices of lines that share a batch: of similar width, a few at a time."""
    batches: list[list[int]] = []
    for i in sorted(range(len(widths)), key=lambda i: widths[i]):
        last = batches[-1] if batches else []
        if last and len(last) < MOST_SIDE_BY_SIDE and widths[i] - widths[last[0]] <= STEP:
            last.append(i)
        else:
            batches.append([i])
    return batches


class _Recogniser:
    """The network and its characters."""

    def __init__(self, path: Path) -> None:
        ort = import_silent("onnxruntime")
        options = ort.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        self._session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        (self._input,) = (item.name for item in self._session.get_inputs())
        listed = self._session.get_modelmeta().custom_metadata_map["character"].split("\n")
        self.characters = ("", *listed, " ")
        """The characters by index, the blank of CTC first."""

    def run(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the probabilities (N, T, characters) of each column."""
        (found,) = self._session.run(None, {self._input: inputs})
        probabilities: NDArray[np.float32] = found
        return probabilities


@cache
def _recogniser() -> _Recogniser:
    """Return the recogniser, built once, on one thread. Raises MissingExtra."""
    path = _network()
    try:
        if path is not None:
            return _Recogniser(path)
    except Exception as error:  # the errors of ONNX Runtime have no common base class
        raise MissingExtra("Reading text", f"a network of {PACKAGE} that can be run", "text") from error
    raise MissingExtra("Reading text", PACKAGE, "text")


def _network() -> Path | None:
    """Return the network's file, found without importing the package; None where it is not installed."""
    try:
        spec = importlib.util.find_spec(PACKAGE)
    except ValueError:  # a program put something of this name into ``sys.modules``
        return None
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for path in sorted(Path(folder).glob(FILES)):
            return path
    return None
