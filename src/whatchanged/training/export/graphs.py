"""Traces a method's two ONNX graphs, and checks that they write the same words as torch.

encoder   before, after (B, 3, H, W) -> no_change (B,) if the method has a head for it; strangeness (B, 2),
each
          picture's out-of-distribution distance, if that was fitted; memory_*; and first_cache_*, the initial
          values of the decoder's state, for each tensor that does not begin empty
decoder   previous (B,), position (), memory_*, cache_* (B, ...), the state ->
          log_probabilities (B, V), attention (B, 2, rows, columns), next_cache_*
"""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from whatchanged.captioner.decoding import Decoded, GraphCache, greedy
from whatchanged.captioner.onnx_graphs import first_state
from whatchanged.errors import BundleError
from whatchanged.telemetry import import_silent
from whatchanged.training.export.decoder_state import decoder_state
from whatchanged.training.export.in_distribution import OODDistance, encode_and_judge
from whatchanged.training.methods import Method
from whatchanged.training.validation import decode
from whatchanged.training.weights.bundle_weights import HALF_FROM, LARGEST_HALF

OPSET = 17
OOD_DISTANCE_OFF = 0.02
"""Largest relative difference allowed between the encoder's out-of-distribution distance and torch's."""


class _Encoder(nn.Module):
    """Pictures -> no_change, strangeness (each if it exists), the parts of the memory, and the first state.

    begun: the tensors of the decoder's state that do not begin empty.
    """

    def __init__(
        self, method: Method, parts: Sequence[str], begun: Sequence[str], distance: OODDistance | None
    ) -> None:
        super().__init__()
        self.method, self.parts, self.begun, self.distance = method, parts, begun, distance

    def forward(self, before: Tensor, after: Tensor) -> tuple[Tensor, ...]:
        memory, ood_distance = encode_and_judge(self.method, before, after, self.distance)
        judged, parts = self.method.no_change(memory), [getattr(memory, part) for part in self.parts]
        first = self.method.first_cache(memory) if self.begun else {}
        state = [first[name] for name in self.begun]
        return tuple(found for found in (judged, ood_distance, *parts, *state) if found is not None)


class _Decoder(nn.Module):
    """One step of the decoder. Only the parts of the memory that it reads are inputs of the graph. The other
    parts stay those of the traced pairs.
    """

    def __init__(self, method: Method, memory: Any, parts: Sequence[str], caches: Sequence[str]) -> None:
        super().__init__()
        self.method, self.parts, self.caches = method, parts, caches
        self.traced = memory

    def forward(self, previous: Tensor, position: Tensor, *rest: Tensor) -> tuple[Tensor, ...]:
        memory = self.traced._replace(**dict(zip(self.parts, rest, strict=False)))
        cache = dict(zip(self.caches, rest[len(self.parts) :], strict=True))
        scores, attention, grown = self.method.step(memory, previous, position, cache)
        return (scores, attention, *(grown[name] for name in self.caches))


def write_graphs(
    method: Method,
    pictures: tuple[NDArray[np.float32], NDArray[np.float32]],
    folder: Path,
    distance: OODDistance | None = None,
) -> None:
    """Trace ``encoder.onnx`` and ``decoder.onnx`` on two pairs. The numbers of pairs and words stay
    variable.
    """
    before, after = (torch.from_numpy(p) for p in pictures)
    with torch.inference_mode():
        memory = method.encode(before, after)
        judged = [] if method.no_change(memory) is None else ["no_change"]
        judged += [] if distance is None else ["strangeness"]
        previous = torch.ones(len(before), dtype=torch.int64)
        state = decoder_state(method, memory, previous)
    # The tracer takes no tensors of inference mode.
    memory = type(memory)(*(None if part is None else part.clone() for part in memory))
    cache = {name: tensor.clone() for name, tensor in state.cache.items()}
    parts = _read_parts(method, memory, previous, cache)
    memories = [f"memory_{part}" for part in parts]
    begun = [f"first_cache_{name}" for name in state.begun]
    outputs = [*judged, *memories, *begun]
    trace(
        _Encoder(method, parts, state.begun, distance),
        (before, after),
        folder / "encoder.onnx",
        ["before", "after"],
        outputs,
        {name: {0: "batch"} for name in ["before", "after", *outputs]},
    )
    caches = [f"cache_{name}" for name in cache]
    grown = [f"next_{name}" for name in caches]
    free = {name: {0: "batch"} for name in ["previous", "log_probabilities", "attention", *memories]}
    for name, axes in state.growing.items():
        free[f"cache_{name}"] = {0: "batch"} | dict.fromkeys(axes, "length")
        free[f"next_cache_{name}"] = {0: "batch"} | dict.fromkeys(axes, "next_length")
    trace(
        _Decoder(method, memory, parts, list(cache)),
        (previous, torch.tensor(2), *(getattr(memory, part) for part in parts), *cache.values()),
        folder / "decoder.onnx",
        ["previous", "position", *memories, *caches],
        ["log_probabilities", "attention", *grown],
        free,
    )


def _read_parts(method: Method, memory: Any, previous: Tensor, cache: dict[str, Tensor]) -> list[str]:
    """Return the memory's fields that a decoder step reads, found by trial.

    A field is read if the step fails once an object that is not a tensor replaces it. A field that is None is
    not read.
    """
    read = []
    for name in memory._fields:
        if getattr(memory, name) is None:
            continue
        try:
            with torch.inference_mode():
                method.step(memory._replace(**{name: object()}), previous, 2, cache)
        except (TypeError, AttributeError):
            read.append(name)
    return read


def trace(
    module: nn.Module,
    inputs: tuple[Tensor, ...],
    path: Path,
    names: list[str],
    outputs: list[str],
    axes: dict[str, dict[int, str]],
) -> None:
    """Write the module's graph. axes: for each input and output, the axes whose length stays variable."""
    module.eval()
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # the tracer warns of every Python number; ``compare`` checks them
        torch.onnx.export(
            module,
            inputs,
            str(path),
            input_names=names,
            output_names=outputs,
            dynamic_axes=axes,
            opset_version=OPSET,
            dynamo=False,
            do_constant_folding=True,
        )
    onnx.checker.check_model(str(path))


def store_half(path: Path) -> None:
    """Store the graph's large fp32 weights as fp16, each followed by a cast back to fp32."""
    model = onnx.load(str(path))
    graph = model.graph
    casts = []
    for number, weight in enumerate(list(graph.initializer)):
        values = onnx.numpy_helper.to_array(weight)
        if values.dtype != np.float32 or values.size < HALF_FROM or np.abs(values).max() > LARGEST_HALF:
            continue
        stored = onnx.numpy_helper.from_array(values.astype(np.float16), f"{weight.name}_half")
        casts.append(onnx.helper.make_node("Cast", [stored.name], [weight.name], f"cast_{number}", to=1))
        graph.initializer.remove(weight)
        graph.initializer.append(stored)
    for node in reversed(casts):
        graph.node.insert(0, node)
    onnx.checker.check_model(model)
    onnx.save(model, str(path))


def compare(method: Method, folder: Path, before: NDArray[np.float32], after: NDArray[np.float32]) -> float:
    """Return the largest difference between the captions' log-probabilities. Raises BundleError if a word
    differs.
    """
    torch_rows = decode(method, torch.from_numpy(before), torch.from_numpy(after))
    onnx_rows = decode_graphs(folder, before, after, method.max_length)
    differing = [i for i, (a, b) in enumerate(zip(torch_rows, onnx_rows, strict=True)) if a.ids != b.ids]
    if differing:
        i = differing[0]
        raise BundleError(
            f"{len(differing)} of {len(before)} captions of the exported graphs differ from torch's, so"
            f" nothing was written. Pair {i}: {method.vocabulary.text(onnx_rows[i].ids)!r} instead of"
            f" {method.vocabulary.text(torch_rows[i].ids)!r}. Export without --fp16 if it was set."
        )
    pairs = zip(torch_rows, onnx_rows, strict=True)
    return float(max(abs(a.log_probability - b.log_probability) for a, b in pairs))


def compare_ood_distance(
    method: Method,
    distance: OODDistance,
    folder: Path,
    before: NDArray[np.float32],
    after: NDArray[np.float32],
) -> None:
    """Raise BundleError where the encoder's out-of-distribution distances differ from torch's too much.

    The limit is ``OOD_DISTANCE_OFF``.
    """
    with torch.inference_mode():
        _, wanted = encode_and_judge(method, torch.from_numpy(before), torch.from_numpy(after), distance)
    session = _session(folder / "encoder.onnx")
    (got,) = session.run(["strangeness"], {"before": before, "after": after})
    off = float(np.abs(got / cast(Tensor, wanted).numpy() - 1).max())
    if off > OOD_DISTANCE_OFF:
        raise BundleError(
            f"The out-of-distribution distance of the exported encoder differs from torch's by"
            f" {100 * off:.1f} %, so nothing was written. Export without --fp16 if it was set."
        )


def decode_graphs(
    folder: Path, before: NDArray[np.float32], after: NDArray[np.float32], longest: int
) -> list[Decoded]:
    """Return greedy captions, computed by the two graphs."""
    encoder, decoder = (_session(folder / f"{name}.onnx") for name in ("encoder", "decoder"))
    outputs = [item.name for item in encoder.get_outputs()]
    memory = dict(zip(outputs, encoder.run(None, {"before": before, "after": after}), strict=True))
    taken = {item.name: item for item in decoder.get_inputs()}
    first = first_state(taken, memory, len(before))
    for judged in ("no_change", "strangeness"):
        memory.pop(judged, None)

    def step(previous: NDArray[np.int64], position: int, cache: GraphCache) -> tuple[Any, None, GraphCache]:
        feed = {"previous": previous, "position": np.array(position, np.int64), **memory, **cache}
        feed = {name: value for name, value in feed.items() if name in taken}
        scores, _, *grown = decoder.run(None, feed)
        return scores, None, dict(zip(first, grown, strict=True))

    return list(greedy(step, first, len(before), longest))


def _session(file: Path) -> Any:
    """Return a graph that was just written, ready to run."""
    return import_silent("onnxruntime").InferenceSession(str(file), providers=["CPUExecutionProvider"])
