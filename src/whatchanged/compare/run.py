"""Answer all pairs.

Identical files and stored answers need no work. The other pairs are answered in parallel.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from whatchanged.answers import MEASURED, Answer, Answerer, worker
from whatchanged.compare.ignore import boxes_of
from whatchanged.compare.pairs import PairToCompare, size_of
from whatchanged.compare.settings import CompareSettings
from whatchanged.compare.stored import StoredAnswers, digests_of, key_of
from whatchanged.errors import ImageError
from whatchanged.images import picture_size
from whatchanged.measured import Box
from whatchanged.measured.pixels.boxes import covered_share
from whatchanged.measured.pixels.reading import same_bytes
from whatchanged.measured.policy import Policy
from whatchanged.processes import as_they_come, worker_pool

WORTH = 8
"""The number of usual pictures that are answered in the time that a process takes to start."""
USUAL_BYTES = 200_000
"""The usual size, in bytes, of a screenshot. A larger file counts as several."""


@dataclass(frozen=True)
class Outcome:
    """One pair and its result.

    answer   the answer; None for a file that was added or removed, and for a pair that failed
    error    the reason why a pair failed
    boxes    the boxes of the pair in which differences did not count
    touched  the indices of the ignored boxes that contain a difference in this pair, among all ignored boxes
    digests  the SHA-256 of both pictures, if an answer for them was stored or looked up
    """

    pair: PairToCompare
    answer: Answer | None = None
    error: str = ""
    boxes: tuple[Box, ...] = ()
    touched: tuple[int, ...] = ()
    digests: tuple[str, str] | None = None

    @property
    def failed(self) -> bool:
        """Return whether the pair could not be compared."""
        return bool(self.error)

    @property
    def changed(self) -> bool:
        """Return whether the pair changed, is too close to call, or is an added or removed file."""
        if self.error:
            return False
        return self.answer is None or self.answer.changed

    @property
    def noise(self) -> bool:
        """Return whether the pixels differ only invisibly, or only because of viewpoint and light."""
        return (
            self.answer is not None
            and not self.changed
            and self.answer.verdict not in ("identical", "ignored")
        )

    @property
    def ignored(self) -> bool:
        """Return whether all visible differences are in ignored boxes."""
        return self.answer is not None and not self.changed and self.answer.verdict == "ignored"


@dataclass(frozen=True)
class _PairToAnswer:
    """The data that a process needs to answer one pair."""

    index: int
    before: Path
    after: Path
    boxes: tuple[Box, ...]
    policy: Policy


def answer_pairs(
    pairs: Sequence[PairToCompare],
    settings: CompareSettings,
    stored: StoredAnswers | None = None,
    workers: int | None = None,
    advance: Callable[[int], None] = lambda n: None,
) -> list[Outcome]:
    """Return the result for every pair, in order.

    workers: the number of processes; None for one on each core.
    advance: a function to call with the number of pairs that were completed.

    Raises WhatchangedError if a process is killed, for example because of a lack of memory.
    """
    outcomes: dict[int, Outcome] = {}
    tasks: list[_PairToAnswer] = []
    keys: dict[int, str] = {}
    numbered = {position: boxes_of(settings.ignored, pair.pair_id) for position, pair in enumerate(pairs)}
    for index, pair in enumerate(pairs):
        boxes = tuple(box for _, box in numbered[index])
        policy = settings.policy_of(pair.pair_id)
        found = _without_decoding(pair, boxes, policy)
        if found is None and pair.before is not None and pair.after is not None:
            if stored is not None:
                try:
                    keys[index] = key_of(pair.before, pair.after, boxes, policy)
                    answer = stored.find(keys[index])
                    found = None if answer is None else Outcome(pair, answer, boxes=boxes)
                except ImageError as error:
                    found = Outcome(pair, error=str(error), boxes=boxes)
            if found is None:
                tasks.append(_PairToAnswer(index, pair.before, pair.after, boxes, policy))
        if found is not None:
            outcomes[index] = found
            advance(1)
    for task, answered in _answered_once(tasks, keys, settings, workers):
        if not isinstance(answered, str) and stored is not None:
            if _still(keys[task.index], task):
                stored.add(keys[task.index], answered)
            else:
                answered = "A picture of the pair was replaced while it was compared. Compare again."
        if isinstance(answered, str):
            outcomes[task.index] = Outcome(pairs[task.index], error=answered, boxes=task.boxes)
        else:
            outcomes[task.index] = Outcome(pairs[task.index], answered, boxes=task.boxes)
        advance(1)
    return [
        replace(
            outcomes[place],
            touched=_touched(outcomes[place], numbered[place]),
            digests=digests_of(keys[place]) if place in keys else None,
        )
        for place in range(len(pairs))
    ]


def _answered_once(
    tasks: Sequence[_PairToAnswer], keys: Mapping[int, str], settings: CompareSettings, workers: int | None
) -> Iterator[tuple[_PairToAnswer, Answer | str]]:
    """Yield every task with its answer, or with the error message about its pictures.

    Tasks with the same key are answered once, and the answer is used for all of them. Error messages name
    files, so a pair with an error is answered separately for each task.

    keys: the keys of stored answers, by the index of the task.
    """
    left = tasks
    while left:
        alike: dict[str | int, list[_PairToAnswer]] = {}
        for task in left:
            alike.setdefault(keys.get(task.index, task.index), []).append(task)
        firsts = {some[0].index: some for some in alike.values()}
        left = []
        some_tasks = [some[0] for some in firsts.values()]
        for task, answered in _answered(some_tasks, settings, _count(workers, some_tasks)):
            yield task, answered
            others = firsts[task.index][1:]
            if isinstance(answered, str):
                left += others
            else:
                yield from ((other, answered) for other in others)


def _still(key: str, task: _PairToAnswer) -> bool:
    """Return whether the pictures of a task still match the key. They were decoded after the key was made."""
    try:
        return key_of(task.before, task.after, task.boxes, task.policy) == key
    except ImageError:
        return False


def _without_decoding(pair: PairToCompare, boxes: tuple[Box, ...], policy: Policy) -> Outcome | None:
    """Return the result of a pair whose pixels need not be decoded, or None for other pairs."""
    if pair.trouble:
        return Outcome(pair, error=pair.trouble, boxes=boxes)
    if pair.before is None or pair.after is None:
        return Outcome(pair, boxes=boxes)
    if not same_bytes(pair.before, pair.after):
        return None
    try:
        size = picture_size(pair.after, least=1)
    except ImageError as error:
        return Outcome(pair, error=str(error), boxes=boxes)
    sentence = "The two files are the same."
    if pair.was is not None:
        sentence = f'The same file under another name; it was called "{pair.was}".'
    answer = Answer(
        sentence,
        no_change=1.0,
        verdict="identical",
        doubtful=False,
        answer=MEASURED,
        size_before=size,
        size_after=size,
        policy=policy.name,
        ignored=covered_share(boxes, size),
    )
    return Outcome(pair, answer, boxes=boxes)


def _touched(outcome: Outcome, numbered: Sequence[tuple[int, Box]]) -> tuple[int, ...]:
    """Return the indices of the ignored boxes that contain a difference in this pair."""
    if outcome.answer is None or outcome.answer.verdict == "identical" or outcome.answer.measured is None:
        return ()
    unused = set(outcome.answer.measured.idle)
    return tuple(index for position, (index, _) in enumerate(numbered) if position not in unused)


def _count(workers: int | None, tasks: Sequence[_PairToAnswer]) -> int:
    """Return the number of processes that answer the tasks. 1 means that this process answers them."""
    if workers is None:
        known = hasattr(os, "sched_getaffinity")  # the cores that this process may use
        workers = len(os.sched_getaffinity(0)) if known else os.cpu_count() or 1
    work = sum(1 + (size_of(task.after) or 0) // USUAL_BYTES for task in tasks)
    return max(1, min(workers, len(tasks), work // WORTH))


def _answered(
    tasks: Sequence[_PairToAnswer], settings: CompareSettings, workers: int
) -> Iterator[tuple[_PairToAnswer, Answer | str]]:
    """Yield every completed task with its answer, or with the error message about its pictures."""
    if workers == 1:
        answerer = _answerer(settings)
        for task in tasks:
            yield task, _answer(answerer, task)
        return
    with worker_pool(workers, worker.start, (partial(_answerer, settings),)) as pool:
        yield from as_they_come((task, pool.submit(worker.with_answerer, _answer, task)) for task in tasks)


def _answerer(settings: CompareSettings) -> Answerer:
    return Answerer(
        settings.model, settings.sensitivity, settings.strict, threads=1, read_text=settings.read_text
    )


def _answer(answerer: Answerer, task: _PairToAnswer) -> Answer | str:
    """Return the answer, or the error message about an unusable picture.

    The answer does not include the internal data of a model, which are large.
    """
    try:
        answer = answerer.answer(task.before, task.after, task.boxes, task.policy)
        return replace(answer, description=None, sources=None)
    except ImageError as error:
        return str(error)
