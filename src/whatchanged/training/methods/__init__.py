"""The contract of a method: what the training loop, the evaluation and the export require of it.

A method is a torch module with the functions that ``Method`` lists. It learns, and it is a ``CaptionWriter``.
There is no base class. Each ability that only some methods have is a protocol of its own (``EmbedsCaptions``,
``PadsCaptions``; for the papers' figures ``ReadsGivenCaptions``, ``AlignsPictures``, ``ShowsBlocks``). Needs
the extra "train".

A method's module imports its settings from ``whatchanged.recipes``, and all else from here:

- its inputs: ``Example`` and ``Batch``; ``Vision``, whose ``Tokens`` of both pictures form a ``TokenPair``;
  ``Vocabulary``, with the ids of its special entries (``PAD``, ``BOS``, ...);
- building blocks: ``corresponding``, ``coordinates`` and ``on_both_grids`` for methods that compare by
  position; ``stack_pictures``, ``batch_of_scenes``, ``padded`` and ``kinds_of_pairs`` for batches;
  ``task_of`` for the loss; ``method_and_vision`` and ``copy_matching_tensors`` for weights;
- helpers with which several processes share a batch (``share_of_mean``, ``batch_total``, ``gather_batch``),
  or one process reads it in parts (``in_parts``, ``draw_rows``). With one process and undivided batches they
  return their input, so a first version of a method needs none of them.

``whatchanged.testing.methods.check_method`` checks a method against the whole contract, beyond what types
express.
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
"""The state of a decoder: what it keeps of the words so far, as named tensors of any number, shape and type.

Examples are a transformer's keys and values, (B, layers, heads, words, width), or the two vectors of an LSTM,
(B, width) each. The pairs are the first axis of every tensor, so ``value[rows]`` selects pairs, or hypotheses
of a beam search. ``CaptionWriter.growing_axes`` says which axes become longer with the words.
"""


class CaptionWriter(TorchModule, Protocol):
    """A module that can write captions."""

    vision: Vision
    vocabulary: Vocabulary
    max_length: int
    attention_description: str
    """Which attention ``step`` returns, in words."""

    @property
    def growing_axes(self) -> Mapping[str, Sequence[int]]:
        """Each tensor of the state -> its axes that become longer with each word, counted from 0.

        ``{"keys": (3,)}`` for keys (B, layers, heads, words, width), ``{"h": (), "c": ()}`` for an LSTM's
        vectors (B, width). Every other axis but the first keeps its length. A plain attribute suffices.
        """

    def encode(self, before: Tensor, after: Tensor) -> Any:
        """The memory of each pair: a named tuple of tensors, batch first."""

    def first_cache(self, memory: Any) -> Cache:
        """The state before the first step.

        It may begin with anything: empty tensors (length 0 along a growing axis), zeros, or numbers computed
        from the memory. Create it from the memory's own tensors (``memory.pair.new_zeros(...)``). A graph is
        traced on two pairs; its state then still has one row for each pair.
        """

    def step(
        self, memory: Any, previous: Tensor, position: int | Tensor, cache: Cache
    ) -> tuple[Tensor, Tensor, Cache]:
        """Log-probabilities (B, V) of a word, its attention (B, 2, rows, columns), and the next state.

        The word is at ``position``, right after ``previous`` (B,); the first word has position 1 and follows
        BOS. In a graph, ``position`` is a tensor without axes. The next state has the same tensors as the
        state before, which must stay unchanged.
        """

    def caption_logits(self, before: Tensor, after: Tensor, ids: Tensor) -> Tensor:
        """Logits (B, L, V) of the word at each position, from the words before it, without a cache.

        A method that predicts masked words reads ``ids`` at that position too: MASK at a word to be
        predicted.
        """

    def no_change(self, memory: Any) -> Tensor | None:
        """Probability (B,) that nothing changed, from a head of the method.

        None if it has no such head; then its sentences decide.
        """

    def word_tables(self) -> Mapping[str, Sequence[int]]:
        """Names of the tensors with a row for each word -> the row of each vocabulary entry."""


class Method(CaptionWriter, Protocol):
    """The contract of every method: it learns to write captions."""

    architecture: str
    """Methods of one architecture have the same tensor names, so one can start from another's weights."""

    @property
    def padding_sensitive_tasks(self) -> frozenset[str]:
        """The tasks whose loss deliberately depends on the padding of captions."""

    def batch_size(self, task: str, batch: int) -> int:
        """The number of examples in a batch of ``task``, if this is the ``batch`` of the stage."""

    def collate(self, examples: Sequence[Example]) -> Batch:
        """Examples as tensors. Captions are truncated to the method's maximum length."""

    def loss(self, task: str, batch: Batch) -> dict[str, Tensor]:
        """The named terms of one task's loss. The training loop adds them up."""

    def parameter_groups(self) -> list[dict[str, Any]]:
        """The parameters in named groups ("name", "params"). Every parameter is in exactly one group.

        A group may also have "weight_decay", in place of the stage's, and "moves_when_idle". If that is true,
        the optimiser treats a missing gradient as zero once the parameter has had a gradient in the stage, so
        its moments continue to move it.
        """

    def parameters_without_gradient(self, tasks: Collection[str]) -> frozenset[str]:
        """Names of the parameters that deliberately get no gradient from any of these tasks."""

    def load_pretrained(self, state: Mapping[str, Tensor]) -> tuple[str, ...]:
        """Start from an earlier stage's weights; returns the names of the tensors that keep their initial
        values.
        """


@runtime_checkable
class EmbedsCaptions(Protocol):
    """A method that can also rank pairs and captions by similarity."""

    def embed_pairs(self, before: Tensor, after: Tensor) -> Tensor:
        """The pairs' vectors (B, J), not normalised."""

    def embed_texts(self, ids: Tensor) -> Tensor:
        """The captions' vectors (B, J), not normalised. ids: (B, T), BOS words EOS PAD."""


@runtime_checkable
class PadsCaptions(Protocol):
    """A method whose loss divides by the number of a caption's positions, padding included."""

    def pad_captions(self, length: int) -> None:
        """From now on, pad captions to ``length`` ids: the data's longest caption with BOS and EOS."""


@runtime_checkable
class ReadsGivenCaptions(Protocol):
    """A method whose transformer can read a given caption together with both pictures."""

    def given_caption_attention(self, before: Tensor, after: Tensor, ids: Tensor) -> Tensor:
        """The attention of each word of the captions ``ids`` (B, L), BOS words EOS, to the patches of both
        pictures: (B, L, 2, rows, columns).
        """


@runtime_checkable
class AlignsPictures(Protocol):
    """A method that reconstructs each picture from the other."""

    def alignment(self, before: Tensor, after: Tensor) -> tuple[Tensor, Tensor]:
        """The weights with which each cell is reconstructed from the other picture's cells, (B, 2, N, N).

        Rows are the query cells, of the picture before and of the picture after. Also the numbers of the
        cells on their grids, (B, 2, N).
        """


@runtime_checkable
class ShowsBlocks(Protocol):
    """A method with a joint token, which represents a picture or a pair and attends to the patches."""

    def block_attention(self, before: Tensor, after: Tensor) -> Mapping[str, Tensor]:
        """A token and its block (a text) -> the token's attention to both grids, (B, 2, rows, columns)."""


def initialise_from(method: Method, source: Method, where: str) -> str:
    """Start ``method`` from the weights of ``source``; returns a message that says what was copied.

    Rows of word tables are copied by word. Words that ``source`` lacks keep their initial rows. From a method
    of another architecture, only the vision's weights are copied. where: the origin of the weights, for
    messages. Raises RecipeError where nothing fits, ShapeError where a tensor has the right name and another
    shape.
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
    """The word tables of ``method``, with rows from ``state`` for the words that ``source`` has."""
    own, theirs, results = method.state_dict(), source.word_tables(), {}
    for name, rows in method.word_tables().items():
        if name in own and name in state and name in theirs and own[name].shape[1:] == state[name].shape[1:]:
            places = dict(zip(source.vocabulary.entries, theirs[name], strict=True))
            results[name] = _by_word(own[name], method.vocabulary.entries, rows, state[name], places)
    return results


def _by_word(
    own: Tensor, entries: Sequence[str], rows: Sequence[int], theirs: Tensor, indices: Mapping[str, int]
) -> Tensor:
    """``own`` (V, ...), with the rows of the other table for the words that it has (``indices``)."""
    mixed = own.clone()
    for word, row in zip(entries, rows, strict=True):
        if word in indices:
            mixed[row] = theirs[indices[word]]
    return mixed


def task_of(
    method: str, tasks: Mapping[str, Callable[[Batch], dict[str, Tensor]]], task: str
) -> Callable[[Batch], dict[str, Tensor]]:
    """The function that computes the loss of one of a method's tasks. Raises RecipeError for an unknown task.

    method: its name, for messages.
    """
    if task not in tasks:
        raise RecipeError(f"{method} has no task {task!r}. Choose among: {', '.join(tasks)}.")
    return tasks[task]


def batch_of_scenes(examples: Sequence[Example], ids: Tensor, vision: Vision) -> Batch:
    """A batch of captions ``ids`` (B, L) in which ``changed`` is set for whole scenes only.

    The loss then averages changed and unchanged pairs of scenes separately (``kinds_of_pairs``); all other
    pairs share one mean.
    """
    scenes = any(example.partner is not None for example in examples)
    changed = torch.tensor([int(e.record.changed is True) for e in examples]) if scenes else None
    truth = vision.collate_truth([example.truth for example in examples])
    return Batch(*stack_pictures(examples), ids, None, changed, truth=truth)


def method_and_vision(method: CaptionWriter) -> list[dict[str, Any]]:
    """Two parameter groups: "method", and "vision" for the parameters that compute tokens, if any learn.

    A method without further groups can return them from ``Method.parameter_groups``.
    """
    vision = {f"vision.{name}" for name in method.vision.token_parameters()}
    groups: dict[str, list[nn.Parameter]] = {"method": [], "vision": []}
    for name, parameter in method.named_parameters():
        groups["vision" if name in vision else "method"].append(parameter)
    return [{"name": name, "params": params} for name, params in groups.items() if params]


def copy_matching_tensors(
    method: nn.Module, state: Mapping[str, Tensor], anew: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """Copy every tensor of ``state`` whose name the method also has, except names that begin with ``anew``.

    Returns the names that keep their initial values. Raises ShapeError where a name fits but the shape
    differs.
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
