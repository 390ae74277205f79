"""The methods by name, and what each of them can do.

A method is a torch module with the duties of ``Method``; there is no base class. To add one: a file in this
folder, a line in ``METHODS``. ``tests/contract/test_methods.py`` holds every method of the table to the rest.
"""

from collections.abc import Collection, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

import torch
from torch import Tensor, nn

from whatchanged.errors import RecipeError, ShapeError
from whatchanged.recipes.schema import MethodConfig
from whatchanged.training.vision.base import Batch, Vision
from whatchanged.vocabulary import Vocabulary

if TYPE_CHECKING:
    from whatchanged.training.batches import Example

METHODS = {
    "pcl": "whatchanged.training.methods.pcl:PCL",
    "pcl-birds": "whatchanged.training.methods.pcl_cross_task:PCLCrossTask",
    "clip4idc": "whatchanged.training.methods.clip4idc:CLIP4IDC",
    "scorer": "whatchanged.training.methods.scorer:SCORER",
}

WORDS = (
    *("embed.words.weight", "output.weight", "output.bias"),  # PCL
    *("decoder.words.weight", "decoder.output.weight", "decoder.output.bias"),  # SCORER
    *("words.weight", "captioner.words.weight", "captioner.bias"),  # CLIP4IDC
)
"""The methods' tensors with a row for each word."""

Cache = dict[str, Tensor]
"""What a decoder keeps of the words so far; batch first, so that ``value[rows]`` picks rows."""


class Method(Protocol):
    """What the loop, the evaluation and the export ask of a method."""

    vision: Vision
    vocabulary: Vocabulary
    max_length: int
    attention_description: str
    """Which attention ``step`` returns, in words."""

    def batch_size(self, task: str, batch: int) -> int:
        """How many examples a batch of ``task`` holds where a stage asks for ``batch``."""

    def collate(self, examples: Sequence["Example"]) -> Batch:
        """Examples to tensors."""

    def loss(self, task: str, batch: Batch) -> dict[str, Tensor]:
        """The named terms of one task, as they enter the sum."""

    @property
    def padding_sensitive_tasks(self) -> frozenset[str]:
        """The tasks whose loss depends on the padding, on purpose."""

    def encode(self, before: Tensor, after: Tensor) -> Any:
        """The memory of each pair: a named tuple of tensors, batch first."""

    def first_cache(self, memory: Any) -> Cache:
        """The cache before the first step."""

    def step(
        self, memory: Any, previous: Tensor, position: int | Tensor, cache: Cache
    ) -> tuple[Tensor, Tensor, Cache]:
        """Log-probabilities (B, V) of a word, its attention (B, 2, rows, columns), and the grown cache.

        The word stands at ``position``, right behind ``previous`` (B,); the first has position 1 and BOS.
        """

    def caption_logits(self, before: Tensor, after: Tensor, ids: Tensor) -> Tensor:
        """Logits (B, L, V) of the word at each position, from the words before it, nothing cached.

        A method that predicts masked words reads ``ids`` at that position too: MASK where the word is asked.
        """

    def no_change(self, memory: Any) -> Tensor | None:
        """Probability (B,) that nothing changed, by a head of its own; None without: sentences are judged."""

    def parameter_groups(self) -> list[dict[str, Any]]:
        """Every parameter in exactly one named group."""

    def parameters_without_gradient(self, tasks: Collection[str]) -> frozenset[str]:
        """Names of the parameters that none of these tasks gives a gradient, on purpose."""

    def load_pretrained(self, state: Mapping[str, Tensor]) -> tuple[str, ...]:
        """Start from an earlier stage's weights; names what keeps its own start."""


def build_method(config: MethodConfig, vision: nn.Module, vocabulary: Vocabulary) -> Method:
    """The method that ``config.name`` names. Raises RecipeError for an unknown name."""
    if config.name not in METHODS:
        raise RecipeError(
            f"method.name: there is no method {config.name!r}. Choose among: {', '.join(METHODS)}."
        )
    module, _, name = METHODS[config.name].partition(":")
    return cast(Method, getattr(import_module(module), name)(config, vision, vocabulary))


def initialise_from(method: Method, source: Method, where: str) -> str:
    """Start ``method`` from the weights of ``source``; returns what there is to say of it.

    A word that both vocabularies have keeps its rows; the others start anew. Another method (pcl and
    pcl-birds are one here) hands on what sees pictures, and nothing else. where: what the weights are of, for
    messages. Raises RecipeError where nothing fits, ShapeError where a name fits but not its shape.
    """
    assert isinstance(method, nn.Module) and isinstance(source, nn.Module)
    own, state = method.state_dict(), source.state_dict()
    alike = isinstance(source, type(method)) or isinstance(method, type(source))
    if not alike:
        state = {name: tensor for name, tensor in state.items() if name.startswith("vision.")}
    if not any(name in state for name, _ in method.named_parameters()):
        raise RecipeError(
            f"{where}: these are weights of {type(source).__name__}; {type(method).__name__} can begin with"
            " nothing of them. Begin from a run of the recipe's own method."
        )
    for name in own.keys() & state.keys() & set(WORDS):
        if own[name].shape[1:] == state[name].shape[1:]:
            state[name] = _by_word(own[name], method, state[name], source)
    kept = method.load_pretrained(state)
    said = f"{len(own) - len(kept)} tensors taken over, {len(kept)} keep their own start"
    said += f" ({', '.join(sorted({name.partition('.')[0] for name in kept}))})" if kept else ""
    if not alike:
        return f"{said}; of {type(source).__name__} only what sees pictures"
    known = len(set(source.vocabulary.entries) & set(method.vocabulary.entries))
    return f"{said}; {known} of {len(method.vocabulary)} words were known"


def _by_word(own: Tensor, method: Method, rows: Tensor, source: Method) -> Tensor:
    """``own`` (V, ...) with the rows of the words that ``source`` knows."""
    to, of = _table_rows(method), _table_rows(source)
    places = {word: of[number] for number, word in enumerate(source.vocabulary.entries)}
    mixed = own.clone()
    for number, word in enumerate(method.vocabulary.entries):
        if word in places:
            mixed[to[number]] = rows[places[word]]
    return mixed


def _table_rows(method: Method) -> list[int]:
    """The row of each word; CLIP4IDC's tables have the order of CLIP's, all others that of the vocabulary."""
    rows: Tensor = getattr(method, "table_rows", torch.arange(len(method.vocabulary)))
    return [int(row) for row in rows]


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
