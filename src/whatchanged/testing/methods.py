"""Checks that a method does what the contract in ``whatchanged.training.methods.Method`` requires.

    from whatchanged.testing.methods import MethodCase, check_method

    def test_method():
        check_method(MethodCase(MyConfig(width=16)))

``DUTIES`` holds one function for each requirement, so a test can name the one that fails. The error says
which part of the contract is broken. Needs the extra "train".
"""

import io
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F
from torch.testing import assert_close

from whatchanged.errors import ShapeError
from whatchanged.testing.duties import duty
from whatchanged.testing.method_case import (
    CAPTIONS,
    SAME,
    VOCABULARY,
    MethodCase,
    decode_greedily,
    drawn,
    in_double,
    total,
)
from whatchanged.testing.method_graphs import check_graphs
from whatchanged.testing.require import require
from whatchanged.training.batches import Batch
from whatchanged.training.export.calibration import judge
from whatchanged.training.export.decoder_state import decoder_state
from whatchanged.training.methods import Method, initialise_from
from whatchanged.training.vision.features import StoredFeatures
from whatchanged.vocabulary import BOS, MASK, PAD, Vocabulary

__all__ = ["DUTIES", "MethodCase", "check_method"]


def check_method(case: MethodCase) -> None:
    """Check a method against every requirement of the contract; raises AssertionError at the first that is
    not met.
    """
    for check in DUTIES:
        check(case)


@duty("CaptionWriter.attention_description", "Method.architecture")
def check_names(case: MethodCase) -> None:
    """The method says what its attention is, and what its architecture is called."""
    method = case.build()
    require(bool(method.attention_description), "attention_description is empty")
    require(bool(method.architecture), "architecture is empty")
    require(method.max_length == case.settings.max_length, "max_length is not that of the settings")


@duty("Method.parameter_groups")
def check_groups(case: MethodCase) -> None:
    """Each parameter is in exactly one named group, and in the checkpoint."""
    method = case.build()
    groups = method.parameter_groups()
    grouped = [id(parameter) for group in groups for parameter in group["params"]]
    require(len(grouped) == len(set(grouped)), "a parameter is in two groups")
    missing = [name for name, parameter in method.named_parameters() if id(parameter) not in grouped]
    require(not missing, f"in no group: {missing}")
    require(all(isinstance(group["name"], str) for group in groups), "a group has no name")
    lost = {name for name, _ in method.named_parameters()} - set(method.state_dict())
    require(not lost, f"not in state_dict: {sorted(lost)}")


@duty("Method.loss", "Method.parameters_without_gradient")
def check_gradients(case: MethodCase) -> None:
    """A stage gives a gradient to every parameter but those that ``parameters_without_gradient`` names."""
    for stage in (*case.stages, *((task,) for task in case.tried_tasks)):
        method = case.build()
        for task in stage:
            total(method.loss(task, drawn(case.batch(method)))).backward()  # type: ignore[no-untyped-call]
        without = {n for n, p in method.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0}
        declared = method.parameters_without_gradient(stage)
        where = f"stage {' + '.join(stage)}"
        require(without <= declared, f"{where}: no gradient, not declared: {sorted(without - declared)}")
        require(declared <= without, f"{where}: declared, but a gradient: {sorted(declared - without)}")


@duty("Method.load_pretrained", "CaptionWriter.step")
def check_checkpoint(case: MethodCase) -> None:
    """A saved method predicts the same when it is loaded into a method with other initial weights."""
    method, other = case.build(), case.build(seed=1)
    batch, file = case.batch(method), io.BytesIO()
    torch.save(method.state_dict(), file)
    file.seek(0)
    wanted = decode_greedily(method, batch.before, batch.after)
    differs = not torch.equal(decode_greedily(other, batch.before, batch.after).scores, wanted.scores)
    require(differs, "two seeds give the same scores")
    other.load_state_dict(torch.load(file, weights_only=True))
    found = decode_greedily(other, batch.before, batch.after)
    require(torch.equal(found.ids, wanted.ids), "saved and loaded, it says other words")
    require(torch.equal(found.scores, wanted.scores), "saved and loaded, its scores are others")


@duty("Method.loss")
def check_learning(case: MethodCase) -> None:
    """Each task's loss is finite, and falls by 3 % at least on ten repeated pairs.

    Training ends as soon as the loss has fallen. Most tasks need ten of at most 45 steps.
    """
    for task in case.tried_tasks:
        method = case.build()
        batch = case.batch(method)
        first = case.learned_before.get(task)
        if first is not None:
            _learn(method, first, batch, steps=90, rate=3e-3)
        losses = _learn(method, task, batch, steps=45 if first is None else 60, wanted=0.97)
        require(bool(np.isfinite(losses).all()), f"task {task}: a loss is not finite")
        last = float(np.mean(losses[-5:]))
        require(last < 0.97 * losses[0], f"task {task}: the loss was {losses[0]:.4f} and is {last:.4f}")


def _learn(
    method: Method, task: str, batch: Batch, steps: int, rate: float = 1e-3, wanted: float = 0.0
) -> list[float]:
    """Train on one batch for at least ten and at most ``steps`` steps. Returns the loss of each step.

    wanted: training ends when the mean of the last five losses is below this share of the first loss.
    """
    losses: list[float] = []
    optimizer = torch.optim.Adam(method.parameters(), lr=rate)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = total(method.loss(task, drawn(batch)))
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        losses.append(loss.item())
        if len(losses) >= 10 and np.mean(losses[-5:]) < wanted * losses[0]:
            break
    return losses


@duty("Method.loss", "Method.padding_sensitive_tasks")
def check_longer_captions(case: MethodCase) -> None:
    """Three more PAD behind each caption change the losses of ``padding_sensitive_tasks``, and no others."""
    method, tolerance = case.build(), 2e-6
    batch = case.batch(method)
    if isinstance(method.vision, StoredFeatures):
        in_double(method)
        tolerance = 1e-9
        batch = replace(batch, before=batch.before.double(), after=batch.after.double())
    longer = replace(batch, ids=_padded(batch.ids))
    if batch.negatives_ids is not None:
        longer = replace(longer, negatives_ids=_padded(batch.negatives_ids))
    moved = set()
    for task in case.tried_tasks:
        plain, padded = (total(method.loss(task, drawn(b))).item() for b in (batch, longer))
        if abs(plain - padded) > tolerance * max(1.0, abs(plain)):
            moved.add(task)
    declared = method.padding_sensitive_tasks
    require(moved == declared, f"the padding changes {sorted(moved)}, declared are {sorted(declared)}")


def _padded(ids: Tensor) -> Tensor:
    return F.pad(ids, (0, 3), value=PAD)


@duty("CaptionWriter.encode")
def check_order_of_pictures(case: MethodCase) -> None:
    """The memory of a pair is another one when its pictures change places."""
    method = case.build()
    batch = case.batch(method)
    memory = method.encode(batch.before, batch.after)
    turned = method.encode(batch.after, batch.before)
    parts = [name for name, part in memory._asdict().items() if part is not None and part.is_floating_point()]
    require(bool(parts), "the memory holds no numbers")
    alike = [n for n in parts if torch.allclose(getattr(memory, n), getattr(turned, n), atol=1e-4)]
    require(not alike, f"the pictures changed places, and the memory stays: {alike}")


@duty("CaptionWriter.first_cache", "CaptionWriter.growing_axes", "Cache")
@torch.no_grad()
def check_state(case: MethodCase) -> None:
    """The batch axis of a decoder's state comes first, and only axes in ``growing_axes`` grow with each step.

    Rows selected from a state, some of them twice, give the same scores as in the whole batch. A step leaves
    its input state unchanged.
    """
    method = case.build()
    require(hasattr(method, "growing_axes"), "growing_axes is missing: it names every tensor of the state")
    batch = case.batch(method)
    memory = method.encode(batch.before, batch.after)
    word = torch.full((len(batch.ids),), BOS)
    decoder_state(method, memory, word)
    cache = method.first_cache(memory)
    scores, _, cache = method.step(memory, word, 1, cache)
    word, rows = scores.argmax(1), torch.tensor([7, 0, 0, 3])
    kept = {name: tensor.clone() for name, tensor in cache.items()}
    whole, _, _ = method.step(memory, word, 2, cache)
    changed = [name for name, tensor in cache.items() if not torch.equal(tensor, kept[name])]
    require(not changed, f"a step changes the state that it was given: {changed}")
    some = type(memory)(*(None if part is None else part[rows] for part in memory))
    picked, _, _ = method.step(some, word[rows], 2, {name: tensor[rows] for name, tensor in cache.items()})
    behind = _behind("pairs", rows.tolist(), "picked from the state behind the first word")
    assert_close(picked, whole[rows], atol=1e-4, rtol=0, msg=behind)


@duty("CaptionWriter.step", "CaptionWriter.first_cache", "CaptionWriter.caption_logits")
@torch.no_grad()
def check_cache(case: MethodCase) -> None:
    """Step by step with a cache, a method predicts the same as ``caption_logits`` does from the words so
    far.
    """
    method = case.build()
    batch = case.batch(method)
    found = decode_greedily(method, batch.before, batch.after)
    said = torch.full((len(found.ids), 1), BOS)
    for position in range(1, found.ids.shape[1] + 1):
        asked = F.pad(said, (0, 1), value=MASK)
        anew = method.caption_logits(batch.before, batch.after, asked)[:, position].log_softmax(-1)
        assert_close(found.scores[:, position - 1], anew, atol=1e-4, rtol=0, msg=_behind("step", position))
        said = torch.cat([said, anew.argmax(1, keepdim=True)], dim=1)
    require(torch.equal(said[:, 1:], found.ids), "with and without a cache, other words are said")


@duty("CaptionWriter.caption_logits")
@torch.no_grad()
def check_words_to_come(case: MethodCase) -> None:
    """``caption_logits`` reads no word after the one that it predicts."""
    method = case.build()
    batch = case.batch(method)
    clean = method.caption_logits(batch.before, batch.after, batch.ids)
    for position in range(1, batch.ids.shape[1] - 1):
        other = batch.ids.clone()
        other[:, position:] = MASK
        logits = method.caption_logits(batch.before, batch.after, other)
        unread = torch.equal(logits[:, :position], clean[:, :position])
        require(unread, f"words before position {position} change with what follows")
        read = not torch.equal(logits[:, position:], clean[:, position:])
        require(read, f"no word from position {position} on changes with what stands there")


@duty("CaptionWriter.step", "CaptionWriter.no_change")
@torch.no_grad()
def check_outputs(case: MethodCase) -> None:
    """Log-probabilities sum to 1 as probabilities, attention covers both grids, and no-change is a
    probability.
    """
    method = case.build()
    examples = case.examples(method)
    batch = method.collate(examples)
    _, scores, attention = decode_greedily(method, batch.before, batch.after)
    assert_close(scores.exp().sum(-1), torch.ones(10, 8), msg=_behind("the words' probabilities sum to 1"))
    grids = (10, 8, 2, method.vision.rows, method.vision.columns)
    require(attention.shape == grids, f"attention has the shape {tuple(attention.shape)}, wanted {grids}")
    require(bool(attention.min() >= 0), "attention is below 0")
    require(bool((attention.sum((2, 3, 4)) <= 1 + 1e-5).all()), "attention sums to more than 1")
    require(bool((attention.sum((3, 4)) > 0).all()), "a picture gets no attention at all")
    judged, by_head = judge(method, examples, SAME)
    within = judged.shape == (10,) and bool((judged > 0).all() and (judged < 1).all())
    require(within, f"no change: {judged}, wanted ten probabilities")
    require(by_head == case.judges, f"a head of its own judges: {by_head}, wanted {case.judges}")


@duty("CaptionWriter.word_tables")
def check_word_tables(case: MethodCase) -> None:
    """Each shared word keeps its rows of weights if weights are loaded for another vocabulary.

    The other vocabulary is longer, so a tensor with a row for each word has another shape.
    """
    words = Vocabulary.from_captions(
        ["a zebra sees the quagga", *CAPTIONS[1:8], "aardvarks moved over there"]
    )
    old, new = case.build(), case.build(1, words)
    before = old.state_dict()
    fresh = {name: tensor.clone() for name, tensor in new.state_dict().items()}
    tables = [name for name, tensor in fresh.items() if tensor.shape != before[name].shape]
    shared = set(words.entries) & set(VOCABULARY.entries)
    try:
        said = initialise_from(new, old, "old")
    except ShapeError as error:
        raise AssertionError(f"word_tables leaves out a tensor with a row for each word: {error}") from error
    wanted = f"{len(shared)} of {len(words)} words were known"
    require(bool(tables) and wanted in said, f"begun from other weights: {said!r}, wanted {wanted!r}")
    for name in tables:
        for number, word in enumerate(words.entries):
            known = word in shared
            row = before[name][VOCABULARY.entries.index(word)] if known else fresh[name][number]
            require(torch.equal(new.state_dict()[name][number], row), f"{name}: the row of {word!r} is lost")


def _behind(*what: object) -> Callable[[str], str]:
    """Puts the name of what was compared before the message of how the numbers differ."""
    return lambda message: f"{' '.join(map(str, what))}: {message}"


DUTIES: tuple[Callable[[MethodCase], None], ...] = (
    check_names,
    check_groups,
    check_gradients,
    check_checkpoint,
    check_learning,
    check_longer_captions,
    check_order_of_pictures,
    check_state,
    check_cache,
    check_words_to_come,
    check_outputs,
    check_word_tables,
    check_graphs,
)
"""The checks of ``check_method``, one function for each requirement."""
