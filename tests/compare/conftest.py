import numpy as np
import pytest
from support.compared_screens import BLUE, GREEN, save, screen, two_runs, with_square

from whatchanged.compare import run
from whatchanged.compare.comparison import compare
from whatchanged.compare.ignore import Ignored
from whatchanged.compare.pairs import match_folders
from whatchanged.compare.settings import CompareSettings

_answers = {}
"""The bytes of two pictures, with the places ignored in them -> what ``found`` answered about them."""


def _answer_once(answerer, task, answer=run._answer):
    asked = task.before.read_bytes(), task.after.read_bytes(), task.boxes
    if asked in _answers:
        return _answers[asked]
    answered = answer(answerer, task)
    if not isinstance(answered, str):  # messages name files
        _answers[asked] = answered
    return answered


@pytest.fixture
def found(tmp_path, monkeypatch):
    """A comparison with everything in it: two equal pictures, five with a red square (04 with a blue one at
    the upper left as well), one added, one removed, one renamed, one broken, one that differs by a level."""
    old, new = two_runs(tmp_path, same=2, squares=5)
    both = with_square(with_square(screen(4)), BLUE, left=100, top=2)
    save(both, new / "04.png")
    save(screen(10), old / "gone.png")
    save(with_square(screen(11), GREEN), new / "new|*.png")
    save(screen(12), old / "was.png")
    save(screen(12), new / "is.png")
    save(screen(13), old / "broken.png")
    (new / "broken.png").write_bytes(b"\x89PNG")
    save(screen(14), old / "faint.png")
    save(np.where(screen(14) > 1, screen(14) - 1, 0).astype(np.uint8), new / "faint.png")
    settings = CompareSettings(
        ignored=(Ignored("*", (0, 0, 3, 3), "corner"), Ignored("nothing*", (0, 0, 9, 9)))
    )
    with monkeypatch.context() as patch:  # every test asks about the same pictures
        patch.setattr(run, "_answer", _answer_once)
        return compare(match_folders(old, new), settings, workers=1)
