from functools import partial

from whatchanged.answers import Answerer, worker


def sensitivity(answerer, more, times=1):
    return answerer.sensitivity * times + more


def test_the_answerer_is_made_once_and_asked_by_every_task():
    made = []

    def make():
        made.append(Answerer(sensitivity=2.0))
        return made[0]

    worker.start(make)
    assert [worker.with_answerer(sensitivity, 1), worker.with_answerer(sensitivity, 1, times=3)] == [3.0, 7.0]
    assert len(made) == 1
    worker.start(partial(Answerer, sensitivity=0.5))
    assert worker.with_answerer(sensitivity, 0) == 0.5
