"""The methods' contract: what the loop, the evaluation and the export ask of a method.

A method is a torch module with the duties of ``Method``: it learns, and is a ``CaptionWriter``; there is no
base class. What only some methods can do is a protocol of its own (``EmbedsCaptions``, ``PadsCaptions``; for
the figures of papers ``ReadsGivenCaptions``, ``AlignsPictures``, ``ShowsBlocks``). Needs the extra "train".

A method's module imports what it needs from here, its settings from ``whatchanged.recipes``:

- what it is given: ``Example`` and ``Batch``; ``Vision``, whose ``Tokens`` of both pictures are a
  ``TokenPair``; ``Vocabulary``, with the ids of its special entries (``PAD``, ``BOS``, ...);
- what it may be built with: ``corresponding``, ``coordinates`` and ``on_both_grids`` for methods that compare
  by position, ``stack_pictures``, ``batch_of_scenes``, ``padded`` and ``kinds_of_pairs`` for its batches,
  ``task_of`` for its loss, ``method_and_vision`` and ``copy_matching_tensors`` for its weights;
- what lets several processes share a batch (``share_of_mean``, ``batch_total``, ``gather_batch``), or one
  process read it in parts (``in_parts``, ``draw_rows``): with one process and whole batches they return what
  they are given, so a first version needs none of them.

``whatchanged.testing.methods.check_method`` checks all duties, those that types do not tell as well.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from whatchanged.errors import RecipeError, ShapeError
from whatchanged.training.batches import Batch, Example, draw_rows, kinds_of_pairs, stack_pictures
from whatchanged.training.distributed import batch_total, gather_batch, share_of_mean
from whatchanged.training.gradient_caching import in_parts
from whatchanged.training.vision.base import (
    TokenPair,
    Tokens,
    TorchModule,
    Vision,
    coordinates,
    corresponding,
    on_both_grids,
)
from whatchanged.vocabulary import BOS, CLS, EOS, MASK, PAD, UNK, Vocabulary, padded

__all__ = [
    "BOS",
    "CLS",
    "EOS",
    "MASK",
    "PAD",
    "UNK",
    "Batch",
    "Cache",
    "CaptionWriter",
    "EmbedsCaptions",
    "Example",
    "Method",
    "PadsCaptions",
    "TokenPair",
    "Tokens",
    "Vision",
    "Vocabulary",
    "batch_of_scenes",
    "batch_total",
    "coordinates",
    "copy_matching_tensors",
    "corresponding",
    "draw_rows",
    "gather_batch",
    "in_parts",
    "kinds_of_pairs",
    "method_and_vision",
    "on_both_grids",
    "padded",
    "share_of_mean",
    "stack_pictures",
    "task_of",
]

Cache = dict[str, Tensor]
"""The state of a decoder: what it keeps of the words so far, tensors of any number, shape and type by name.

Keys and values of a transformer, (B, layers, heads, words, width), say, or the two vectors of an LSTM, (B,
width) each. The pairs come first in every tensor, so that ``value[rows]`` picks pairs, and hypotheses of a
search. ``CaptionWriter.growing_axes`` says which axes get longer with the words.
"""


class CaptionWriter(TorchModule, Protocol):
    """What can write captions."""

    vision: Vision
    vocabulary: Vocabulary
    max_length: int
    attention_description: str
    """Which attention ``step`` returns, in words."""

    @property
    def growing_axes(self) -> Mapping[str, Sequence[int]]:
        """Each tensor of the state -> its axes that get longer with each word, counted from 0.

        ``{"keys": (3,)}`` for keys (B, layers, heads, words, width), ``{"h": (), "c": ()}`` for an LSTM's
        vectors (B, width). Every other axis but the first keeps its length. A plain attribute will do.
        """

    def encode(self, before: Tensor, after: Tensor) -> Any:
        """The memory of each pair: a named tuple of tensors, batch first."""

    def first_cache(self, memory: Any) -> Cache:
        """The state before the first step.

        It may begin with anything: nothing yet (length 0 along a growing axis), zeros, or numbers made of
        the memory. Make it of the memory's own tensors (``memory.pair.new_zeros(...)``), so that a graph,
        which is traced on two pairs, begins with as many rows as there are pairs.
        """

    def step(
        self, memory: Any, previous: Tensor, position: int | Tensor, cache: Cache
    ) -> tuple[Tensor, Tensor, Cache]:
        """Log-probabilities (B, V) of a word, its attention (B, 2, rows, columns), and the next state.

        The word stands at ``position``, right behind ``previous`` (B,); the first has position 1 and BOS. In
        a graph ``position`` is a tensor without axes. The next state has the tensors of the one before, and
        the one before stays as it is.
        """

    def caption_logits(self, before: Tensor, after: Tensor, ids: Tensor) -> Tensor:
        """Logits (B, L, V) of the word at each position, from the words before it, nothing cached.

        A method that predicts masked words reads ``ids`` at that position too: MASK where the word is asked.
        """

    def no_change(self, memory: Any) -> Tensor | None:
        """Probability (B,) that nothing changed, by a head of its own; None without: sentences are judged."""

    def word_tables(self) -> Mapping[str, Sequence[int]]:
        """Names of the tensors with a row for each word -> the row of each entry of the vocabulary."""


class Method(CaptionWriter, Protocol):
    """What every method can do: it learns to write captions."""

    architecture: str
    """Methods of one architecture name their tensors alike, so that one can begin from another's weights."""

    @property
    def padding_sensitive_tasks(self) -> frozenset[str]:
        """The tasks whose loss depends on the padding of captions, on purpose."""

    def batch_size(self, task: str, batch: int) -> int:
        """How many examples a batch of ``task`` holds where a stage asks for ``batch``."""

    def collate(self, examples: Sequence[Example]) -> Batch:
        """Examples to tensors; captions are cut to the method's own length."""

    def loss(self, task: str, batch: Batch) -> dict[str, Tensor]:
        """The named terms of one task, as they enter the sum."""

    def parameter_groups(self) -> list[dict[str, Any]]:
        """Every parameter in exactly one named group: "name", "params".

        Also, where the group wants it, "weight_decay" in place of the stage's, and "moves_when_idle": true
        where a parameter without a gradient in a step counts as one whose gradient is zero, once it has had
        one in the stage, so that the optimiser's moments go on moving it.
        """

    def parameters_without_gradient(self, tasks: Collection[str]) -> frozenset[str]:
        """Names of the parameters that none of these tasks gives a gradient, on purpose."""

    def load_pretrained(self, state: Mapping[str, Tensor]) -> tuple[str, ...]:
        """Start from an earlier stage's weights; names what keeps its own start."""


@runtime_checkable
class EmbedsCaptions(Protocol):
    """What a method can do besides that ranks pairs and captions by similarity."""

    def embed_pairs(self, before: Tensor, after: Tensor) -> Tensor:
        """The pairs' vectors (B, J), not normalised."""

    def embed_texts(self, ids: Tensor) -> Tensor:
        """The captions' vectors (B, J), not normalised. ids: (B, T), BOS words EOS PAD."""


@runtime_checkable
class PadsCaptions(Protocol):
    """What a method can do besides whose loss divides by a caption's positions, padding included."""

    def pad_captions(self, length: int) -> None:
        """Pad captions to ``length`` ids from now on: the data's longest one with BOS and EOS."""


@runtime_checkable
class ReadsGivenCaptions(Protocol):
    """What a method can do whose transformer reads a given caption together with both pictures."""

    def given_caption_attention(self, before: Tensor, after: Tensor, ids: Tensor) -> Tensor:
        """The attention of each word of the captions ``ids`` (B, L), BOS words EOS, to the patches of both
        pictures: (B, L, 2, rows, columns)."""


@runtime_checkable
class AlignsPictures(Protocol):
    """What a method can do that rebuilds each picture from the other."""

    def alignment(self, before: Tensor, after: Tensor) -> tuple[Tensor, Tensor]:
        """From which cells of the other picture each cell is rebuilt, (B, 2, N, N): rows ask, of the picture
        before and of the one after; and the numbers of the cells on their grids, (B, 2, N)."""


@runtime_checkable
class ShowsBlocks(Protocol):
    """What a method can do whose joint token, which stands for a picture or a pair, reads the patches."""

    def block_attention(self, before: Tensor, after: Tensor) -> Mapping[str, Tensor]:
        """Which token of which block, in words -> its attention to both grids, (B, 2, rows, columns)."""


def initialise_from(method: Method, source: Method, where: str) -> str:
    """Start ``method`` from the weights of ``source``; returns a message that says what was copied.

    Rows of word tables are copied by word; words that ``source`` does not have keep their initial rows. From
    a method of another architecture only the vision's weights are copied. where: the origin of the weights,
    for messages. Raises RecipeError where nothing fits, ShapeError where a name fits but not its shape.
    """
    own, state = method.state_dict(), source.state_dict()
    alike = method.architecture == source.architecture
    if not alike:
        state = {name: tensor for name, tensor in state.items() if name.startswith("vision.")}
    if not any(name in state for name, _ in method.named_parameters()):
        raise RecipeError(
            f"{where}: these are weights of {source.architecture}, and none of them fits"
            f" {method.architecture}. Begin from a run of the recipe's own method."
        )
    state |= _words_by_name(method, source, state)
    kept = method.load_pretrained(state)
    said = f"{len(own) - len(kept)} tensors copied, {len(kept)} keep their own start"
    said += f" ({', '.join(sorted({name.partition('.')[0] for name in kept}))})" if kept else ""
    if not alike:
        return f"{said}; of {source.architecture} only its vision"
    known = len(set(source.vocabulary.entries) & set(method.vocabulary.entries))
    return f"{said}; {known} of {len(method.vocabulary)} words were known"


def _words_by_name(method: Method, source: Method, state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The word tables of ``method`` with the rows of the words that ``source`` has, whose ``state`` it is."""
    own, theirs, results = method.state_dict(), source.word_tables(), {}
    for name, rows in method.word_tables().items():
        if name in own and name in state and name in theirs and own[name].shape[1:] == state[name].shape[1:]:
            places = dict(zip(source.vocabulary.entries, theirs[name], strict=True))
            results[name] = _by_word(own[name], method.vocabulary.entries, rows, state[name], places)
    return results


def _by_word(
    own: Tensor, entries: Sequence[str], rows: Sequence[int], theirs: Tensor, indices: Mapping[str, int]
) -> Tensor:
    """``own`` (V, ...) with the rows of the words that the other table has, by ``indices``."""
    mixed = own.clone()
    for word, row in zip(entries, rows, strict=True):
        if word in indices:
            mixed[row] = theirs[indices[word]]
    return mixed


def task_of(
    method: str, tasks: Mapping[str, Callable[[Batch], dict[str, Tensor]]], task: str
) -> Callable[[Batch], dict[str, Tensor]]:
    """What computes the loss of one of a method's tasks. Raises RecipeError for one that it does not have.

    method: its name, for messages.
    """
    if task not in tasks:
        raise RecipeError(f"{method} has no task {task!r}. Choose among: {', '.join(tasks)}.")
    return tasks[task]


def batch_of_scenes(examples: Sequence[Example], ids: Tensor, vision: Vision) -> Batch:
    """A batch of captions ``ids`` (B, L) in which only whole scenes tell which of their pairs changed: these
    are kept apart in the loss (``kinds_of_pairs``), all others share one."""
    scenes = any(example.partner is not None for example in examples)
    changed = torch.tensor([int(e.record.changed is True) for e in examples]) if scenes else None
    truth = vision.collate_truth([example.truth for example in examples])
    return Batch(*stack_pictures(examples), ids, None, changed, truth=truth)


def method_and_vision(method: CaptionWriter) -> list[dict[str, Any]]:
    """Two groups of parameters: "method", and "vision" for those that make a picture's tokens, if any learn.

    What ``Method.parameter_groups`` returns where no more are needed.
    """
    vision = {f"vision.{name}" for name in method.vision.token_parameters()}
    groups: dict[str, list[nn.Parameter]] = {"method": [], "vision": []}
    for name, parameter in method.named_parameters():
        groups["vision" if name in vision else "method"].append(parameter)
    return [{"name": name, "params": params} for name, params in groups.items() if params]


def copy_matching_tensors(
    method: nn.Module, state: Mapping[str, Tensor], anew: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """Copy every tensor of ``state`` that has the name of one of the method's, but those that begin ``anew``.

    Returns the names that keep their own start. Raises ShapeError where a name fits but not its shape.
    """
    own = method.state_dict()
    taken = {name: tensor for name, tensor in state.items() if name in own and not name.startswith(anew)}
    for name, tensor in taken.items():
        if tensor.shape != own[name].shape:
            sizes = f"got {tuple(tensor.shape)}, wanted {tuple(own[name].shape)}"
            where = "the method, vision and vocabulary of the run that these weights come from"
            raise ShapeError(f"pre-trained {name}: {sizes}. Use {where}.")
    method.load_state_dict(taken, strict=False)
    return tuple(sorted(own.keys() - taken.keys()))
