import numpy as np

from whatchanged.answers.answerer import read_pair
from whatchanged.answers.by_measurement import Measurement, of_measured
from whatchanged.answers.pair import Looking
from whatchanged.measured import measure

GREY = np.full((60, 80, 3), 120, np.uint8)
BLACK = GREY.copy()
BLACK[20:40, 20:60] = 0


def test_any_two_pictures_are_at_the_limit_and_answered():
    pairs = [read_pair(GREY, after, (), Looking()) for after in (GREY, BLACK, BLACK[:40])]
    measurement = Measurement()
    assert measurement.distances(pairs) == [1.0, 1.0, 1.0]
    answers = [measurement.answer(pair) for pair in pairs]
    assert [answer.verdict for answer in answers] == ["identical", "changed", "changed"]
    assert {answer.answer for answer in answers} == {"measured"}
    assert answers[1].sources == (GREY, BLACK) and answers[1].unfamiliar is None


def test_the_answer_is_what_was_measured():
    measured = measure(GREY, BLACK)
    answer = of_measured(measured)
    assert answer.measured is measured and answer.changes == measured.statements
    assert (answer.sentence, answer.no_change, answer.sources) == (
        measured.sentence,
        measured.no_change,
        None,
    )


def test_how_closely_it_looks_is_the_pairs():
    faint = GREY.copy()
    faint[5, 5] += 1
    for looking, verdict in ((Looking(), "noise"), (Looking(strict=True), "changed")):
        assert Measurement().answer(read_pair(GREY, faint, (), looking)).verdict == verdict
