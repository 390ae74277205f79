"""Estimates a recipe's weights, memory, operations and hours, without building weights or reading data.

The estimate runs the method on torch's "meta" device, where tensors have shapes but no values.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, is_dataclass, replace
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from whatchanged.bpe import ALPHABET, MERGES, from_merges, read_merges
from whatchanged.errors import DatasetError
from whatchanged.plugins import imported
from whatchanged.recipes.schema import Recipe, StageConfig
from whatchanged.records import PairRecord, RecordKind
from whatchanged.training.batches import Batch, Example
from whatchanged.training.build import COPIES, on_meta
from whatchanged.training.methods import Method
from whatchanged.training.schedule import make_optimizer
from whatchanged.training.vision.base import has_backbone
from whatchanged.vocabulary import Vocabulary

WORDS = 1000
"""The assumed number of different words in the captions."""
CLIP_LOADER = "whatchanged.training.weights.clip_weights:load_clip"
"""The weights loader of methods that begin from CLIP's weights. The word table of such a method has a row for
each of CLIP's subwords.
"""
MASKED, KIND = 0.15, 0.5
"""The assumed share of selected rows. MASKED: rows selected by a mask, such as masked words. KIND: rows
selected by their kind, such as changed pairs, or proposed positions that are not padding."""


@dataclass(frozen=True)
class StageEstimate:
    """The requirements of a stage.

    learning: number of weights that learn. memory: bytes on each device for weights, gradients, moments, and
    the activations that the largest task stores for the backward pass. operations: additions and
    multiplications of one step on each device, forward and backward, averaged over the stage's tasks by their
    weights. uncounted: tasks that need drawn scenes, which are not estimated.
    """

    name: str
    steps: int
    learning: int
    memory: int
    operations: float
    uncounted: tuple[str, ...]

    def hours(self, rate: float) -> float:
        """Return the hours that the stage takes at ``rate`` operations per second on each device."""
        return self.steps * self.operations / rate / 3600


def expected_vocabulary(recipe: Recipe) -> tuple[Vocabulary, str]:
    """Return the vocabulary of the recipe's data set, and a text that describes its origin. If the recipe
    specifies no data, the vocabulary has an assumed size.
    """
    data = recipe.data
    if data.merges:
        found: Vocabulary = read_merges(Path(data.merges))
        return found, f"{len(found):,} subwords of {data.merges}"
    known: tuple[Vocabulary, str] | None = imported(data.planned_words)(data) if data.planned_words else None
    if recipe.method.weights_loader == CLIP_LOADER and recipe.method.expects_weights(recipe):
        found = from_merges([f"{one} {other}" for one, other in islice(product(ALPHABET, repeat=2), MERGES)])
        return found, f"CLIP's {len(found):,} pieces, as the recipe begins from CLIP's weights"
    if known is not None:
        return known
    found = Vocabulary.from_captions([f"word{number}" for number in range(WORDS)])
    return found, f"{WORDS:,} words, as no data set is named"


def estimate(recipe: Recipe, vocabulary: Vocabulary, devices: int, accumulate: int) -> list[StageEstimate]:
    """Estimate the requirements of each stage on ``devices`` devices that share every batch. Each device
    reads its rows in ``accumulate`` parts.
    """
    return [_stage(recipe, stage, vocabulary, devices, accumulate) for stage in recipe.stages]


def _stage(
    recipe: Recipe, stage: StageConfig, vocabulary: Vocabulary, devices: int, accumulate: int
) -> StageEstimate:
    method = on_meta(recipe, vocabulary)
    make_optimizer(method, stage)  # which says what learns
    method.train()
    if not stage.learns_vision:
        method.vision.eval()
    results = {}
    for task in stage.tasks:
        rows = math.ceil(method.batch_size(task, stage.batch) / devices)
        batch = replace(_batch(recipe, stage, method, task, rows), accumulate=accumulate)
        try:
            operations, kept = _count(method, task, batch)
        except DatasetError:  # it needs the truth of scenes, which is drawn
            continue
        if accumulate > 1:  # and what one part keeps while its gradient is computed
            kept += _count(method, task, _shapes(batch, math.ceil(rows / accumulate), accumulate=1))[1]
        results[task] = operations, kept
    unused = method.parameters_without_gradient(stage.tasks)
    learns = {name for name, p in method.named_parameters() if p.requires_grad and name not in unused}
    learning = sum(p.numel() for name, p in method.named_parameters() if name in learns)
    weights = sum(p.nbytes * (COPIES if name in learns else 1) for name, p in method.named_parameters())
    total = sum(stage.tasks[task] for task in results)
    return StageEstimate(
        stage.name,
        stage.steps,
        learning,
        weights + max((kept for _, kept in results.values()), default=0),
        sum(stage.tasks[task] * operations for task, (operations, _) in results.items()) / max(total, 1e-9),
        tuple(task for task in stage.tasks if task not in results),
    )


def _count(method: Method, task: str, batch: Batch) -> tuple[int, int]:
    """Return the operations of a step, and the bytes stored between the forward and the backward pass."""
    own = {_storage(tensor) for tensor in method.state_dict().values()}
    kept: dict[int, int] = {}

    def note(tensor: Tensor) -> Tensor:
        if _storage(tensor) not in own:
            kept[_storage(tensor)] = tensor.untyped_storage().nbytes()
        return tensor

    for parameter in method.parameters():
        parameter.grad = None
    with _ExpectedSizes(), FlopCounterMode(display=False) as counter:  # type: ignore[no-untyped-call]
        with saved_tensors_hooks(note, lambda tensor: tensor):
            terms = method.loss(task, batch)
        held = sum(kept.values())
        torch.stack([*terms.values()]).sum().backward()  # type: ignore[no-untyped-call]
    return counter.get_total_flops(), held


def _storage(tensor: Tensor) -> int:
    number: int = tensor.untyped_storage()._cdata
    return number


class _ExpectedSizes(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """A mode that returns the expected shape where a shape depends on the values of meta tensors, which have
    no values. Tests of values return False.
    """

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if function is torch.ops.aten._local_scalar_dense.default and args[0].is_meta:
            return 0
        if function is torch.ops.aten.nonzero.default and args[0].is_meta:
            mask = args[0]
            return torch.empty(math.ceil(KIND * mask.numel()), mask.ndim, dtype=torch.long, device="meta")
        if function is torch.ops.aten.index.Tensor and args[0].is_meta:
            args = (args[0], [place for index in args[1] for place in _chosen(index)])
        return function(*args, **(kwargs or {}))


def _chosen(index: Tensor | None) -> list[Tensor | None]:
    """Return an index unchanged. For a mask, return the indices along each of its axes that the mask is
    expected to select.
    """
    if index is None or index.dtype != torch.bool:
        return [index]
    count = math.ceil(MASKED * index.numel())
    return [torch.empty(count, dtype=torch.long, device="meta") for _ in range(index.ndim)]


def _batch(recipe: Recipe, stage: StageConfig, method: Method, task: str, rows: int) -> Batch:
    """Return a batch of shapes without values, whose captions have the greatest length that the method
    reads.
    """
    caption = " ".join(["word"] * recipe.method.longest_caption(stage.data == "single"))
    false = (caption,) * recipe.tasks[task].false_captions
    kind: RecordKind = "single_caption" if stage.data == "single" else "pair_caption"
    paths = Path("before.png"), Path("after.png")
    record = PairRecord("none", "0", "0", "train", kind, *paths, (caption,), changed=True, labels=(0, 0))
    picture, truth = _picture(recipe, method)
    example = Example(record, caption, picture, picture, false, truth)
    examples = stage.examples or recipe.data.examples  # a stage's own come first
    scenes = stage.data == "pairs" and examples == "scenes"
    if scenes:
        example = replace(example, partner=example)
    batch = method.collate([example])
    made: Batch = _shapes(batch, 2 * rows if scenes else rows)
    return made


def _picture(recipe: Recipe, method: Method) -> tuple[np.ndarray[Any, Any], Any]:
    """Return a picture in the form that the recipe's vision reads, and the ground truth from which the vision
    learns, or None. For a source with stored tokens, the tokens replace the picture.
    """
    if recipe.data.tokens and has_backbone(method.vision):
        return np.zeros((method.vision.patches, method.vision.stored_width), np.float32), None
    results: tuple[np.ndarray[Any, Any], Any] = imported(recipe.vision.planned)(recipe.vision)
    return results


def _shapes(value: Any, rows: int, **changes: Any) -> Any:
    """Return the tensors of a dataclass with ``rows`` rows and without values. ``changes`` replaces some
    fields.
    """
    if isinstance(value, Tensor):
        return torch.empty(rows, *value.shape[1:], dtype=value.dtype, device="meta")
    if is_dataclass(value) and not isinstance(value, type):
        own = {name: _shapes(member, rows) for name, member in vars(value).items()}
        return replace(value, **{**own, **changes})
    return value
