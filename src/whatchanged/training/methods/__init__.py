"""The contract of a method: the requirements of the training loop, the evaluation and the export.

A method is a torch module with the functions that ``Method`` lists. A method learns, and is a
``CaptionWriter``. There is no base class. Each ability that only some methods have is a separate protocol
(``EmbedsCaptions``, ``PadsCaptions``; for the papers' figures ``ReadsGivenCaptions``, ``AlignsPictures``,
``ShowsBlocks``). Needs the extra "train".

A method's module imports its settings from ``whatchanged.recipes``, and everything else from this package:

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
from whatchanged.training.batches import Batch, Example, draw_rows, in_parts, kinds_of_pairs, stack_pictures
from whatchanged.training.distributed import batch_total, gather_batch, share_of_mean
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
"""The state of a decoder after the words so far: named tensors of any number, shape and type.

Examples are a transformer's keys and values, (B, layers, heads, words, width), or the two vectors of an LSTM,
(B, width) each. The pairs are the first axis of every tensor, so ``value[rows]`` selects pairs, or hypotheses
of a beam search. ``CaptionWriter.growing_axes`` lists the axes that become longer with the words.
"""


class CaptionWriter(TorchModule, Protocol):
    """A module that can write captions."""

    vision: Vision
    vocabulary: Vocabulary
    max_length: int
    attention_description: str
    """A description, in words, of the attention that ``step`` returns."""

    @property
    def growing_axes(self) -> Mapping[str, Sequence[int]]:
        """A mapping from each tensor of the state to the axes that become longer with each word, counted from
        0.

        ``{"keys": (3,)}`` for keys (B, layers, heads, words, width), ``{"h": (), "c": ()}`` for an LSTM's
        vectors (B, width). Every other axis except the first axis keeps its length. A plain attribute may
        replace this property.
        """

    def encode(self, before: Tensor, after: Tensor) -> Any:
        """Return the memory of each pair: a named tuple of tensors, batch first."""

    def first_cache(self, memory: Any) -> Cache:
        """Return the state before the first step.

        This state may consist of empty tensors (length 0 along a growing axis), zeros, or numbers computed
        from the memory. Create the state from tensors of the memory (``memory.pair.new_zeros(...)``). A graph
        is traced on two pairs, and a state made from the memory then has one row for each pair.
        """

    def step(
        self, memory: Any, previous: Tensor, position: int | Tensor, cache: Cache
    ) -> tuple[Tensor, Tensor, Cache]:
        """Return log-probabilities (B, V) of a word, the word's attention (B, 2, rows, columns), and the next
        state.

        The word is at ``position``, right after ``previous`` (B,); the first word has position 1 and follows
        BOS. In a graph, ``position`` is a tensor without axes. The next state has the same tensor names as
        ``cache``. The step must not change ``cache``.
        """

    def caption_logits(self, before: Tensor, after: Tensor, ids: Tensor) -> Tensor:
        """Return logits (B, L, V) of the word at each position, computed from the words before this position,
        without a cache.

        A method that predicts masked words also reads ``ids`` at the position of the predicted word, where
        ``ids`` has MASK.
        """

    def no_change(self, memory: Any) -> Tensor | None:
        """Return the probability (B,) that nothing changed, from a head of the method.

        A method without such a head returns None, and its sentences decide.
        """

    def word_tables(self) -> Mapping[str, Sequence[int]]:
        """Return a mapping from the names of the tensors with a row for each word to the row of each
        vocabulary entry.
        """


class Method(CaptionWriter, Protocol):
    """The contract of every method: it learns to write captions."""

    architecture: str
    """The name of the architecture. Methods of one architecture have the same tensor names, so each of these
    methods can start from the weights of another.
    """

    @property
    def padding_sensitive_tasks(self) -> frozenset[str]:
        """The tasks whose loss deliberately depends on the padding of captions."""

    def batch_size(self, task: str, batch: int) -> int:
        """Return the number of examples in a batch of ``task``. ``batch``: the batch size of the stage."""

    def collate(self, examples: Sequence[Example]) -> Batch:
        """Make a batch of tensors from examples. Captions are truncated to the method's maximum length."""

    def loss(self, task: str, batch: Batch) -> dict[str, Tensor]:
        """Return the named terms of one task's loss. The training loop adds up these terms."""

    def parameter_groups(self) -> list[dict[str, Any]]:
        """Return the parameters in named groups ("name", "params"). Every parameter is in exactly one group.

        A group may also have "weight_decay", which replaces the weight decay of the stage, and
        "moves_when_idle". If "moves_when_idle" is true, the optimiser treats a missing gradient as zero once
        the parameter has had a gradient in the stage. The moments then continue to move the parameter.
        """

    def parameters_without_gradient(self, tasks: Collection[str]) -> frozenset[str]:
        """Return the names of the parameters that deliberately get no gradient from any of these tasks."""

    def load_pretrained(self, state: Mapping[str, Tensor]) -> tuple[str, ...]:
        """Start from the weights of an earlier stage. Returns the names of the tensors that keep their
        initial values.
        """


@runtime_checkable
class EmbedsCaptions(Protocol):
    """A method that can also rank pairs and captions by similarity."""

    def embed_pairs(self, before: Tensor, after: Tensor) -> Tensor:
        """Return the vectors (B, J) of the pairs, not normalised."""

    def embed_texts(self, ids: Tensor) -> Tensor:
        """Return the vectors (B, J) of the captions, not normalised. ids: (B, T), BOS words EOS PAD."""


@runtime_checkable
class PadsCaptions(Protocol):
    """A method whose loss divides by the number of a caption's positions, padding included."""

    def pad_captions(self, length: int) -> None:
        """From now on, pad captions to ``length`` ids, the length of the longest caption of the data with BOS
        and EOS.
        """


@runtime_checkable
class ReadsGivenCaptions(Protocol):
    """A method whose transformer can read a given caption together with both pictures."""

    def given_caption_attention(self, before: Tensor, after: Tensor, ids: Tensor) -> Tensor:
        """Return the attention of each word of the captions ``ids`` (B, L), BOS words EOS, to the patches of
        both pictures: (B, L, 2, rows, columns).
        """


@runtime_checkable
class AlignsPictures(Protocol):
    """A method that reconstructs each picture of a pair from the other picture."""

    def alignment(self, before: Tensor, after: Tensor) -> tuple[Tensor, Tensor]:
        """Return the weights with which each cell is reconstructed from the cells of the other picture, (B,
        2, N, N).

        Rows are the query cells, of the picture before and of the picture after. Also returns the numbers of
        the cells on their grids, (B, 2, N).
        """


@runtime_checkable
class ShowsBlocks(Protocol):
    """A method with a joint token, which represents a picture or a pair and attends to the patches."""

    def block_attention(self, before: Tensor, after: Tensor) -> Mapping[str, Tensor]:
        """Return a mapping from a text that describes a joint token and its block to the token's attention to
        both grids, (B, 2, rows, columns).
        """


def initialise_from(method: Method, source: Method, where: str) -> str:
    """Start ``method`` from the weights of ``source``. Returns a message about the copied tensors.

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
    """Return the word tables of ``method``, with rows from ``state`` for the words that ``source`` has."""
    own, theirs, results = method.state_dict(), source.word_tables(), {}
    for name, rows in method.word_tables().items():
        if name in own and name in state and name in theirs and own[name].shape[1:] == state[name].shape[1:]:
            places = dict(zip(source.vocabulary.entries, theirs[name], strict=True))
            results[name] = _by_word(own[name], method.vocabulary.entries, rows, state[name], places)
    return results


def _by_word(
    own: Tensor, entries: Sequence[str], rows: Sequence[int], theirs: Tensor, indices: Mapping[str, int]
) -> Tensor:
    """Return the table ``own`` (V, ...) after copying the rows of the other table for the words in both
    tables (``indices``).
    """
    mixed = own.clone()
    for word, row in zip(entries, rows, strict=True):
        if word in indices:
            mixed[row] = theirs[indices[word]]
    return mixed


def task_of(
    method: str, tasks: Mapping[str, Callable[[Batch], dict[str, Tensor]]], task: str
) -> Callable[[Batch], dict[str, Tensor]]:
    """Return the function that computes the loss of a method's task. Raises RecipeError for an unknown task.

    method: the name of the method, for messages.
    """
    if task not in tasks:
        raise RecipeError(f"{method} has no task {task!r}. Choose among: {', '.join(tasks)}.")
    return tasks[task]


def batch_of_scenes(examples: Sequence[Example], ids: Tensor, vision: Vision) -> Batch:
    """Return a batch of captions ``ids`` (B, L) in which ``changed`` is set for whole scenes only.

    The loss then averages changed and unchanged pairs of scenes separately (``kinds_of_pairs``). Without
    scenes, all pairs share one mean.
    """
    scenes = any(example.partner is not None for example in examples)
    changed = torch.tensor([int(e.record.changed is True) for e in examples]) if scenes else None
    truth = vision.collate_truth([example.truth for example in examples])
    return Batch(*stack_pictures(examples), ids, None, changed, truth=truth)


def method_and_vision(method: CaptionWriter) -> list[dict[str, Any]]:
    """Return two parameter groups: "method", and "vision" for the parameters that compute tokens, if these
    parameters learn.

    A method without further groups can return these two groups from ``Method.parameter_groups``.
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
