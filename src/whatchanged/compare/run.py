"""The answers for all pairs: files of the same bytes without a look, stored answers again, the rest side by
side on the machine's cores."""

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
"""Pictures of a usual size that are answered in the time that a process takes to start."""
USUAL_BYTES = 200_000
"""Of a screen's picture; larger files count as several."""


@dataclass(frozen=True)
class Outcome:
    """One pair and what was found.

    answer  None for a file that was added or removed, and for a pair that failed
    error   why a pair failed
    boxes   the places in it in which differences did not count
    touched indices, among all ignored boxes of the settings, of those that hold a difference here
    digests SHA-256 of the two pictures, where an answer for them was stored or found
    """

    pair: PairToCompare
    answer: Answer | None = None
    error: str = ""
    boxes: tuple[Box, ...] = ()
    touched: tuple[int, ...] = ()
    digests: tuple[str, str] | None = None

    @property
    def failed(self) -> bool:
        """Whether the pair could not be compared."""
        return bool(self.error)

    @property
    def changed(self) -> bool:
        """Whether an exit code should say so: changed, too close to tell, added or removed."""
        if self.error:
            return False
        return self.answer is None or self.answer.changed

    @property
    def noise(self) -> bool:
        """Whether the pixels differ without a visible change, or by what view and light explain alone."""
        return (
            self.answer is not None
            and not self.changed
            and self.answer.verdict not in ("identical", "ignored")
        )

    @property
    def ignored(self) -> bool:
        """Whether nothing but what lies in ignored places differs visibly."""
        return self.answer is not None and not self.changed and self.answer.verdict == "ignored"


@dataclass(frozen=True)
class _PairToAnswer:
    """What a process needs to answer one pair."""

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
    """What is found for every pair, in their order.

    workers: processes; None: one a core. advance: called with the number of pairs that were done.
    Raises WhatchangedError where a process is ended from outside, as by a lack of memory.
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
    """Every task with its answer, or with what is wrong with its pictures; of those of one key the first is
    answered for all. What is wrong with a pair is told of itself alone, as messages name its files.

    keys: what answers are stored under, by the tasks' indices.
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
    """Whether the pictures of a task are those that the key was made of: they were decoded after that."""
    try:
        return key_of(task.before, task.after, task.boxes, task.policy) == key
    except ImageError:
        return False


def _without_decoding(pair: PairToCompare, boxes: tuple[Box, ...], policy: Policy) -> Outcome | None:
    """What is known of a pair whose pixels nobody has to look at; None for others."""
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
    """Which of the ignored boxes hold a difference in this pair."""
    if outcome.answer is None or outcome.answer.verdict == "identical" or outcome.answer.measured is None:
        return ()
    unused = set(outcome.answer.measured.idle)
    return tuple(index for position, (index, _) in enumerate(numbered) if position not in unused)


def _count(workers: int | None, tasks: Sequence[_PairToAnswer]) -> int:
    """How many processes answer the tasks; 1: this one."""
    if workers is None:
        known = hasattr(os, "sched_getaffinity")  # what this process may use, where the system tells
        workers = len(os.sched_getaffinity(0)) if known else os.cpu_count() or 1
    work = sum(1 + (size_of(task.after) or 0) // USUAL_BYTES for task in tasks)
    return max(1, min(workers, len(tasks), work // WORTH))


def _answered(
    tasks: Sequence[_PairToAnswer], settings: CompareSettings, workers: int
) -> Iterator[tuple[_PairToAnswer, Answer | str]]:
    """Every task with its answer, or with what is wrong with its pictures, as they come."""
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
    """The answer without what a model saw, which is large; or the message of an unusable picture."""
    try:
        answer = answerer.answer(task.before, task.after, task.boxes, task.policy)
        return replace(answer, description=None, sources=None)
    except ImageError as error:
        return str(error)
