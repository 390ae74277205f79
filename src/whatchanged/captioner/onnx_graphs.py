"""Run the two ONNX graphs of a bundle, checked against its card, and turn their outputs into descriptions.

A graph is a stranger's program, though one without input or output of its own. Its weights must be in the
graph's file, which the bundle's hashes cover. It may contain only known operators, each of which runs once
(``onnx_files``). Its memory is limited. Every error while it runs is a ``BundleError``.
"""

import functools
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whatchanged.captioner.attention import over_content, words_with_maps
from whatchanged.captioner.bundle import GRAPHS, SHIPPED, WEIGHTS, Bundle, picture_input
from whatchanged.captioner.card import Card
from whatchanged.captioner.colors import color_distance, color_numbers
from whatchanged.captioner.decoding import Decoded, GraphCache, Ids, Skips, beam, greedy
from whatchanged.captioner.description import Description
from whatchanged.captioner.no_change import sayable, sentences_probability
from whatchanged.captioner.onnx_files import check_graph
from whatchanged.errors import BundleError
from whatchanged.images import normalise
from whatchanged.launch import checked_count
from whatchanged.telemetry import import_silent
from whatchanged.worlds import World

Floats = NDArray[np.float32]

USUAL_THREADS = min(2, os.cpu_count() or 1)
"""Threads that an operator uses where nobody says how many."""
OTHERS = 4
"""The number of beams for a sentence that contradicts itself under greedy search."""
MOST_MEMORY = 2**31
"""The bytes that all graphs of this process together may use at a time, their weights included."""
PASSED_ON = ("memory_", "first_cache_", "next_cache_")
"""Outputs that only graphs read. Faults in them appear in the other outputs."""
NUMBERS: Mapping[str, type[np.generic]] = {
    "tensor(float)": np.float32,
    "tensor(int64)": np.int64,
    "tensor(bool)": np.bool_,
}
"""The data types of a decoder's state, as ONNX Runtime names them."""


class Graph:
    """One ONNX session with named inputs and outputs."""

    def __init__(self, path: Path, content: bytes, threads: int) -> None:
        """content: the bytes of the file at ``path``, checked. Raises BundleError where it is no graph."""
        ort = import_silent("onnxruntime")
        self.path = path
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 4  # its banner would stand beside our message
        options.add_session_config_entry("session.load_model_format", "ONNX")
        options.add_session_config_entry("session.use_env_allocators", "1")
        _bound_memory()
        if path.parent.parent != SHIPPED:  # those of the package were checked by its tests
            check_graph(path, content)
        try:
            self._session = ort.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # the errors of ONNX Runtime have no common root
            reason = str(error).splitlines()[0]
            raise BundleError(f"{path}: ONNX Runtime cannot load it: {reason} Export it again.") from error
        self.inputs = {item.name: item for item in self._session.get_inputs()}
        self.outputs = {item.name: item for item in self._session.get_outputs()}
        self._wanted: dict[str, tuple[int, ...]] = {}
        """A mapping from outputs to their known sizes behind the batch axis."""

    def run(self, feed: dict[str, Any], rows: int) -> dict[str, Any]:
        """Return all outputs by name. Values of the feed that the graph does not take are left out.

        rows: how many rows each output must have. Raises BundleError where the graph fails, where an output
        has another type or shape than expected, or where it has values that are not finite.
        """
        taken = {name: value for name, value in feed.items() if name in self.inputs}
        try:
            results = self._session.run(None, taken)
        except Exception as error:  # the errors of ONNX Runtime have no common root
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise BundleError(
                f"{self.path}: the graph cannot be run: {reason} Export it again, or caption fewer pairs at a"
                " time (--batch-size)."
            ) from error
        found = dict(zip(self.outputs, results, strict=True))
        for name, values in found.items():
            self._check_output(name, values, rows)
        return found

    def _check_output(self, name: str, values: Any, rows: int) -> None:
        """Raise BundleError where an output is no array of numbers of the required shape."""
        if not isinstance(values, np.ndarray) or values.dtype.kind not in "fiub":
            kind = values.dtype if isinstance(values, np.ndarray) else type(values).__name__
            raise BundleError(
                f"{self.path}: {name} is no array of numbers ({kind}). Export it again, or do not use it."
            )
        behind = self._wanted.get(name)
        wrong = values.ndim == 0 or len(values) != rows
        if wrong or (behind is not None and values.shape[1:] != behind):
            wanted = "..." if behind is None else ", ".join(map(str, behind))
            raise BundleError(
                f"{self.path}: {name} has the shape {list(values.shape)} for {rows} rows; by the card it is"
                f" [{rows}, {wanted}]. Export it again."
            )
        if not name.startswith(PASSED_ON) and np.isnan(values).any():
            raise BundleError(
                f"{self.path}: the model answers with what is not a number ({name}). Export it again,"
                " from weights that are finite."
            )

    def check_names(self, side: str, actual: set[str], wanted: set[str]) -> None:
        """Raise BundleError where the names of one side, "inputs" or "outputs", are not those wanted."""
        if actual != wanted:
            raise BundleError(
                f"{self.path}: its {side} are {', '.join(sorted(actual))}; "
                f"wanted {', '.join(sorted(wanted))}. Export it again."
            )

    def expect(self, output: str, behind: tuple[int, ...]) -> None:
        """Make ``run`` check from now on that the output has these sizes behind the batch axis."""
        self._wanted[output] = behind

    def check_shape(self, name: str, wanted: tuple[int, ...]) -> None:
        """Raise BundleError where the sizes behind the batch axis are not those wanted.

        A size that the graph leaves open fits any; for an output, ``run`` checks the actual size.
        """
        self.expect(name, wanted)
        items = {**self.inputs, **self.outputs}
        declared = items[name].shape
        fits = len(declared) == 1 + len(wanted) and all(
            size == want or not isinstance(size, int) for size, want in zip(declared[1:], wanted, strict=True)
        )
        if not fits:
            raise BundleError(
                f"{self.path}: {name} is declared as {declared}; by the card it is {['B', *wanted]}. "
                "Export it again."
            )


def first_state(inputs: Mapping[str, Any], encoded: dict[str, Any], batch: int) -> dict[str, Any]:
    """Return the content of every cache_* input of a decoder before the first word.

    The content of an input is the encoder's output ``first_cache_*``, which is removed from ``encoded``.
    Without such an output the state is empty: axes behind the batch whose size the graph leaves open, which
    grow, have length 0.

    inputs: the inputs of the decoder by name, as ONNX Runtime describes the inputs.
    """
    state: dict[str, Any] = {}
    for name, item in inputs.items():
        if not name.startswith("cache_"):
            continue
        begun = encoded.pop(f"first_{name}", None)
        empty = (size if isinstance(size, int) else 0 for size in item.shape[1:])
        state[name] = np.zeros((batch, *empty), NUMBERS[item.type]) if begun is None else begun
    return state


@functools.cache  # there is one such allocator in a process
def _bound_memory() -> None:
    """Limit the memory of sessions: all that use the environment's allocator share one with ``MOST_MEMORY``
    bytes.
    """
    ort = import_silent("onnxruntime")
    place = ort.OrtMemoryInfo("Cpu", ort.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, ort.OrtMemType.DEFAULT)
    ort.create_and_register_allocator(place, ort.OrtArenaCfg({"max_mem": MOST_MEMORY}))


class CaptionGraphs:
    """The two graphs of a bundle, and the conversion of their outputs to descriptions."""

    def __init__(self, bundle: Bundle, world: World | None, threads: int | None = None) -> None:
        """Check the graphs' files and build their sessions; for the errors see ``Captioner``.

        world: the model's world, whose language says which sentences contradict themselves; None: unknown.
        """
        self.bundle, self.card = bundle, bundle.card
        self._encoder, self._decoder = open_graphs(bundle, threads)
        self._skips = _contradictions(self.card, world)

    def describe_pixels(self, pixels: NDArray[np.uint8], beams: int = 1) -> list[Description]:
        """Describe a batch of pairs at the size that the model reads, (B, 2, H, W, 3)."""
        declared = picture_input(self.bundle)
        inputs = normalise(pixels, declared.mean, declared.std)  # (B, 2, 3, H, W)
        return self.describe(inputs[:, 0], inputs[:, 1], beams, pixels)

    def describe(
        self, before: Floats, after: Floats, beams: int, pixels: NDArray[np.uint8] | None = None
    ) -> list[Description]:
        """Describe pairs in a batch, from the encoder's input: (B, ...) each.

        pixels: (B, 2, H, W, 3), where the model reads pictures.
        """
        batch = len(before)
        encoded = self._encoder.run({"before": before, "after": after}, batch)
        judged = encoded.pop("no_change", None)  # (B,)
        distances = self._in_units_of_threshold(encoded.pop("strangeness", None), pixels)
        state = first_state(self._decoder.inputs, encoded, batch)
        cache = {**encoded, **state}
        if judged is None:
            judged = self._judge_by_sentences(cache, batch)
        if beams == 1:
            rows = self._greedy(cache, batch)
        else:
            rows = beam(self._step, cache, batch, self.card.max_length, beams, self._skips)
        return [
            self._description(row, float(judged[i]), None if distances is None else distances[i])
            for i, row in enumerate(rows)
        ]

    def _greedy(self, cache: GraphCache, batch: int) -> list[Decoded]:
        """Return each row's words by greedy search, or by a beam search that skips contradictions where a row
        contradicts itself.
        """
        rows, skips = greedy(self._step, cache, batch, self.card.max_length), self._skips
        wrong = [] if skips is None else [i for i, row in enumerate(rows) if skips(row.ids)]
        if wrong:
            own = {name: value[wrong] for name, value in cache.items()}
            others = beam(self._step, own, len(wrong), self.card.max_length, OTHERS, skips)
            for i, row in zip(wrong, others, strict=True):
                rows[i] = row
        return rows

    def _in_units_of_threshold(
        self, distances: Floats | None, pixels: NDArray[np.uint8] | None
    ) -> NDArray[np.float64] | None:
        """Return how far each picture is from the training pictures, in units of the threshold: (B, 2); None:
        unknown.
        """
        known = self.card.in_distribution
        if distances is None or known is None or pixels is None:
            return None
        colors = [color_distance(color_numbers(pixels[:, side]), known.colors) for side in (0, 1)]
        in_units: NDArray[np.float64] = distances.astype(np.float64) / known.threshold
        return np.maximum(in_units, np.stack(colors, axis=1))

    def _judge_by_sentences(self, cache: GraphCache, batch: int) -> NDArray[np.float64]:
        """Return the probability (B,) of the no-change sentences, for a model without a no-change head."""
        ids = sayable(self.card.no_change.sentences, self.card.vocabulary, self.card.max_length)
        return sentences_probability(self._step, cache, batch, ids)

    def _step(self, previous: Ids, position: int, cache: GraphCache) -> tuple[Floats, Floats, GraphCache]:
        """Compute the next word, as a step function of ``decoding``."""
        asked = {"previous": previous, "position": np.array(position, np.int64), **cache}
        results = self._decoder.run(asked, len(previous))
        grown = {name.removeprefix("next_"): results[name] for name in results if name.startswith("next_")}
        return results["log_probabilities"], results["attention"], {**cache, **grown}

    def _description(
        self, row: Decoded, probability: float, distances: NDArray[np.float64] | None
    ) -> Description:
        vocabulary = self.card.vocabulary
        sentence = vocabulary.text(row.ids)
        maps = row.attention
        if maps is None:
            maps = np.zeros((0, 2, *self.card.attention.shape), np.float32)
        words = words_with_maps(vocabulary.words(row.ids), maps)
        no_change = self.card.no_change.calibrated(probability)
        changed = sentence not in self.card.no_change.sentences
        return Description(
            sentence=sentence,
            no_change=no_change,
            heatmaps=over_content(words, self.card.attention.shape),
            words=words,
            changed=changed,
            doubtful=changed == (no_change >= self.card.no_change.threshold),
            ood_distance=None if distances is None else (float(distances[0]), float(distances[1])),
        )


def _contradictions(card: Card, world: World | None) -> Skips | None:
    """Return a test for sentences of the model's world that contradict themselves; None for an unknown
    world.
    """
    contradicts = None if world is None else world.language.contradicts
    if contradicts is None:
        return None
    return lambda ids: contradicts(card.vocabulary.text(ids))


def open_graphs(bundle: Bundle, threads: int | None) -> tuple[Graph, Graph]:
    """Return the encoder and the decoder of a captioner, checked against the card and each other.

    Raises BundleError where a file that the card lists was altered, or a graph is wrong; WhatchangedError
    where ``threads`` is no whole number from 1.
    """
    used = USUAL_THREADS if threads is None else checked_count("threads", threads)
    content = {name: bundle.read(name) for name in bundle.files if name != WEIGHTS}
    encoder, decoder = (Graph(bundle.folder / name, content[name], used) for name in GRAPHS)
    _check_graphs(bundle.card, encoder, decoder)
    return encoder, decoder


def _check_graphs(card: Card, encoder: Graph, decoder: Graph) -> None:
    """Check that the graphs fit the runtime, each other and the card. Raises BundleError."""
    memory = {name for name in encoder.outputs if name.startswith("memory_")}
    caches = {name for name in decoder.inputs if name.startswith("cache_")}
    begun = {name for name in encoder.outputs if name.startswith("first_cache_")}
    judged = set()
    if card.no_change.by == "head":
        judged.add("no_change")
    if card.in_distribution is not None:
        judged.add("strangeness")
    behind: dict[str, tuple[int, ...]] = {"no_change": (), "strangeness": (2,)}
    encoder.check_names("inputs", set(encoder.inputs), {"before", "after"})
    begun &= {f"first_{name}" for name in caches}  # any other has no decoder that reads it
    encoder.check_names("outputs", set(encoder.outputs), judged | memory | begun)
    # A method whose words do not depend on their position has a graph that does not take it.
    decoder.check_names("inputs", set(decoder.inputs) - caches - memory - {"position"}, {"previous"})
    next_caches = {f"next_{name}" for name in caches}
    decoder.check_names("outputs", set(decoder.outputs), {"log_probabilities", "attention"} | next_caches)
    for name in caches:
        _check_state(decoder, name, begins_empty=f"first_{name}" not in begun)
    encoder.check_shape("before", card.input.shape)
    encoder.check_shape("after", card.input.shape)
    for name in judged:
        encoder.expect(name, behind[name])
    decoder.check_shape("log_probabilities", (len(card.vocabulary),))
    decoder.check_shape("attention", (2, *card.attention.shape))


def _check_state(decoder: Graph, name: str, begins_empty: bool) -> None:
    """Raise BundleError where a tensor of the decoder's state cannot begin as ``first_state`` sets it."""
    item = decoder.inputs[name]
    if item.type not in NUMBERS:
        raise BundleError(
            f"{decoder.path}: {name} is a {item.type}; a state holds one of {', '.join(NUMBERS)}. "
            "Export it again."
        )
    if begins_empty and all(isinstance(size, int) for size in item.shape[1:]):
        raise BundleError(
            f"{decoder.path}: {name} is declared as {item.shape}, so it never is empty, and the encoder does"
            f" not say what it begins with (first_{name}). Export it again."
        )
