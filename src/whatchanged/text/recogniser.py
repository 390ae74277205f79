"""One line of text read by RapidOCR's recogniser, whose network lies in its package; nothing is fetched."""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from whatchanged.errors import MissingExtra
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.telemetry import import_rapidocr


class RecognisedWord(NamedTuple):
    """A word that was read."""

    text: str
    columns: tuple[float, ...]
    """The columns of the picture in which its characters were seen."""
    certainty: float
    """The probability of its least certain character."""


class Line(NamedTuple):
    """What was read."""

    words: tuple[RecognisedWord, ...]
    confidence: float
    """The mean of the characters' probabilities."""


def read_line(picture: Pixels) -> Line:
    """The text of a picture (h, w, 3), RGB, of one line. Raises MissingExtra."""
    found = _recogniser()(
        picture[..., ::-1],  # it takes blue first
        # Said each time: what one call is told, the next one would keep.
        use_det=False,
        use_cls=False,
        use_rec=True,
        return_word_box=True,
        return_single_char_box=False,
        text_score=0.0,
    )
    text = found.txts[0] if found.txts else ""
    if not text.strip():
        return Line((), 0.0)
    seen = found.word_results[0]
    scale = picture.shape[1] / seen.line_txt_len
    places = [column * scale for part in seen.word_cols for column in part]
    probabilities = [own for sign, own in zip(text, seen.confs, strict=True) if not sign.isspace()]
    words, at = [], 0
    for word in text.split():
        part = slice(at, at + len(word))
        words.append(RecognisedWord(word, tuple(places[part]), min(probabilities[part])))
        at += len(word)
    return Line(tuple(words), float(found.scores[0]))


def require_recogniser() -> None:
    """Raises MissingExtra where the extra ``text`` is not installed."""
    _recogniser()


@cache
def _recogniser() -> Callable[..., Any]:
    """The recogniser, built once: one thread, no messages. Its networks are read when they are used."""
    try:
        rapidocr = import_rapidocr()
    except ImportError as error:
        raise MissingExtra("Reading text", "rapidocr", "text") from error
    made: Callable[..., Any] = rapidocr.RapidOCR(
        params={"Global.log_level": "error", "EngineConfig.onnxruntime.intra_op_num_threads": 1}
    )
    return made
