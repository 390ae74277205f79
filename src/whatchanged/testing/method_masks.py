"""What every method must do with pictures of unlike numbers of tokens, and as ONNX graphs.

Whatever case is given, its settings are tried on features with a mask (``MaskedFeatures``).
"""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.testing import assert_close

from whatchanged.errors import BundleError
from whatchanged.plugins import fault
from whatchanged.testing.method_case import (
    COLUMNS,
    ROWS,
    WIDTH,
    MaskedFeatures,
    MethodCase,
    Seen,
    drawn,
    in_double,
    plain_pairs,
    plain_vision,
    say,
    shaken,
    total,
)
from whatchanged.testing.require import require
from whatchanged.training.batches import Batch
from whatchanged.training.export import graphs
from whatchanged.training.methods import EmbedsCaptions, Method
from whatchanged.training.vision.base import Vision

CELLS = ROWS * COLUMNS
COUNTS = ((2, 2), (5, 5), (3, 3), (1, 1), (4, 4), (2, 5), (5, 1), (3, 4), (1, 5), (4, 2))
"""Real tokens before and after, of ten pairs."""
EXACT = 1e-9
"""What padding may change in double precision: sums are taken in another order."""
GRAPHS_OFF = 1e-3
"""Most difference between a graph's log-probability of a caption and torch's."""


class _Outcome(NamedTuple):
    """What a method makes of a batch: losses and gradients of each task by name, and what it says."""

    losses: dict[str, Tensor]
    gradients: dict[str, Tensor]
    said: dict[str, Tensor]


def check_real_tokens(case: MethodCase) -> None:
    """A mask of real tokens alone, in the order of their cells, changes nothing."""
    plain = replace(case, vision=plain_vision, pairs=plain_pairs)
    masked = replace(case, vision=MaskedFeatures, pairs=_all_real)
    outcomes = []
    for one in (plain, masked):
        method = in_double(shaken(one.build()))
        outcomes.append(_outcome(method, one.batch(method), case))
    _compare("a mask without padding", *outcomes)


def check_padded_tokens(case: MethodCase) -> None:
    """Padding changes nothing, whatever it holds: no loss, no gradient, no word, no probability.

    Nor does a pair's company: a pair by itself, without padding, gives what it gives among others. But tokens
    that count as real do change it.
    """
    masked = replace(case, vision=MaskedFeatures)
    method = in_double(shaken(masked.build()))
    short, long = (
        replace(masked, pairs=_padder(size, seed)).batch(method) for size, seed in ((5, 1), (8, 2))
    )
    wanted = _outcome(method, short, case)
    _compare("padding", wanted, _outcome(method, long, case))
    real = _outcome(method, _as_real(long), case)
    same = torch.equal(real.said["scores"], wanted.said["scores"])
    require(not same, "tokens that count as real change no score")
    for pair, (count, other) in enumerate(COUNTS):
        if count == other:
            before, after = (_double(part[pair : pair + 1, :count]) for part in (short.before, short.after))
            alone = say(method, before, after).scores[0]
            assert_close(
                alone, wanted.said["scores"][pair], atol=EXACT, rtol=EXACT, msg=_named("a pair by itself")
            )


def check_plain_graphs(case: MethodCase) -> None:
    """``encode``, ``no_change``, ``first_cache`` and ``step`` become graphs that say what torch says."""
    _check_graphs(replace(case, vision=plain_vision, pairs=plain_pairs))


def check_masked_graphs(case: MethodCase) -> None:
    """The same where pictures have unlike numbers of tokens."""
    _check_graphs(replace(case, vision=MaskedFeatures, pairs=_padder(8, 2)))


def _check_graphs(case: MethodCase) -> None:
    """Graphs traced on two pairs say of ten what torch says."""
    method = shaken(case.build())
    batch = case.batch(method)
    before, after = batch.before.numpy(), batch.after.numpy()
    with tempfile.TemporaryDirectory() as folder:
        try:
            graphs.write_graphs(method, (before[:2], after[:2]), Path(folder))
            off = graphs.compare(method, Path(folder), before, after)
        except BundleError as error:
            raise AssertionError(f"the graphs say other words than torch: {error}") from error
        except Exception as error:
            raise AssertionError(f"the graphs do not run: {fault(error)}") from error
    require(off < GRAPHS_OFF, f"a graph's log-probability of a caption is {off:.2g} off torch's")


def _outcome(method: Method, batch: Batch, case: MethodCase) -> _Outcome:
    """What a method makes of a batch; of tasks, those that the method itself has."""
    batch = replace(batch, before=_double(batch.before), after=_double(batch.after))
    losses: dict[str, Tensor] = {}
    gradients: dict[str, Tensor] = {}
    for task in case.settings.tasks:
        for parameter in method.parameters():
            parameter.grad = None
        terms = method.loss(task, drawn(batch))
        losses |= {f"{task}/{name}": term.detach() for name, term in terms.items()}
        total(terms).backward()  # type: ignore[no-untyped-call]
        found = {name: p.grad for name, p in method.named_parameters() if p.grad is not None}
        gradients |= {f"{task}, {name}": gradient.clone() for name, gradient in found.items()}
    with torch.no_grad():
        words = say(method, batch.before, batch.after)
        said = {"ids": words.ids, "scores": words.scores, "attention": words.attention}
        logits = method.caption_logits(batch.before, batch.after, batch.ids)
        said["caption_logits"] = logits.log_softmax(-1)[:, 1:]
        judged = method.no_change(method.encode(batch.before, batch.after))
        if judged is not None:
            said["no_change"] = judged
        if isinstance(method, EmbedsCaptions) and case.settings.embeds_captions:
            said["embed_pairs"] = method.embed_pairs(batch.before, batch.after)
    return _Outcome(losses, gradients, said)


def _compare(what: str, wanted: _Outcome, found: _Outcome) -> None:
    """AssertionError where two outcomes differ."""
    parts = zip(("loss", "gradient", "output"), wanted, found, strict=True)
    for kind, ours, theirs in parts:
        require(ours.keys() == theirs.keys(), f"{what}: {kind} of {sorted(ours.keys() ^ theirs.keys())}")
        for name, value in ours.items():
            say_so = _named(f"{what} changes the {kind} {name}")
            assert_close(theirs[name], value, atol=EXACT, rtol=1e-7, msg=say_so)


def _padder(size: int, seed: int) -> Callable[[Vision], Sequence[Seen]]:
    """Ten pairs of ``COUNTS`` tokens, the same for every size, padded to ``size`` with what ``seed``
    draws."""
    return lambda vision: _padded_pairs(size, seed)


def _padded_pairs(size: int, seed: int) -> Sequence[Seen]:
    tokens, junk = np.random.default_rng(0), np.random.default_rng(seed)
    found = []
    for counts in COUNTS:
        cells = tokens.permutation(CELLS)[:5]
        pictures = []
        for count in counts:
            own = tokens.standard_normal((5, WIDTH))[:count]
            padding = 50 * junk.standard_normal((size - count, WIDTH))
            where = np.concatenate([cells[:count], junk.integers(CELLS, size=size - count)])
            pictures.append(_picture(np.concatenate([own, padding]), where, np.arange(size) < count))
        found.append((pictures[0], pictures[1], None))
    return found


def _all_real(vision: Vision) -> Sequence[Seen]:
    """The plain features, each in its own cell and real."""
    cells, real = np.arange(CELLS), np.ones(CELLS, bool)
    return [
        (_picture(before, cells, real), _picture(after, cells, real), None)
        for before, after, _ in plain_pairs(vision)
    ]


def _picture(features: NDArray[Any], cells: NDArray[Any], real: NDArray[Any]) -> NDArray[np.float32]:
    """A picture as ``MaskedFeatures`` reads it."""
    return np.concatenate([features, cells[:, None], real[:, None]], axis=1).astype(np.float32)


def _as_real(batch: Batch) -> Batch:
    """The batch with its padding counted as real."""
    before, after = batch.before.clone(), batch.after.clone()
    before[..., -1] = 1
    after[..., -1] = 1
    return replace(batch, before=before, after=after)


def _double(pictures: Tensor) -> Tensor:
    return pictures.double()


def _named(what: str) -> Callable[[str], str]:
    return lambda message: f"{what}: {message}"
