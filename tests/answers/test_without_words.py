"""Whether words are read, and what is said where they cannot be."""

import pytest
from support.drawn_lines import needs_reader, page

from whatchanged.answers import Answerer
from whatchanged.errors import MissingExtra
from whatchanged.text import recogniser
from whatchanged.text.recogniser import reads_words

SAVE, OPEN = (page((text, (120, 100))) for text in ("Save the file", "Open the file"))
QUOTED = '"Save" to "Open"'


@pytest.fixture
def broken(monkeypatch, tmp_path):
    """The recogniser is installed and cannot be loaded."""
    path = tmp_path / "broken_rec.onnx"
    path.write_bytes(b"no network")
    recogniser._recogniser.cache_clear()
    monkeypatch.setattr(recogniser, "_network", lambda: path)
    yield
    recogniser._recogniser.cache_clear()


@pytest.fixture
def missing(monkeypatch):
    """The extra is not installed."""
    recogniser._recogniser.cache_clear()
    monkeypatch.setattr(recogniser, "_network", lambda: None)
    yield
    recogniser._recogniser.cache_clear()


@needs_reader
def test_where_it_can_be(capsys):
    assert reads_words(None, quiet=False) and not reads_words(False, quiet=False)
    assert capsys.readouterr().err == ""
    assert QUOTED in Answerer("measured").answer(SAVE, OPEN).sentence
    assert '"' not in Answerer("measured", read_text=False).answer(SAVE, OPEN).sentence


def test_without_the_extra_nothing_is_read_and_nothing_said(missing, capsys):
    assert not reads_words(None, quiet=False)
    assert capsys.readouterr().err == ""
    answerer = Answerer("measured")
    assert '"' not in answerer.answer(SAVE, OPEN).sentence and answerer.unread == ""
    for wanted in (lambda: reads_words(True, quiet=False), lambda: Answerer("measured", read_text=True)):
        with pytest.raises(MissingExtra):
            wanted()


def test_one_remark_where_it_cannot_be_loaded(broken, capsys):
    assert not reads_words(None, quiet=False)
    assert capsys.readouterr().err.startswith("No words are read. Reading text needs")
    assert not reads_words(None, quiet=True) and capsys.readouterr().err == ""


def test_an_answer_goes_on_without_words(broken):
    answerer = Answerer("measured")
    assert answerer.unread == ""
    assert answerer.answer(SAVE, OPEN).verdict == "changed"
    assert answerer.unread.startswith("No words are read.") and not answerer.read_text
    with pytest.raises(MissingExtra):
        Answerer("measured", read_text=True)
