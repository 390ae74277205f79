"""The two ONNX graphs of a bundle: run by name, and checked against the card and against each other."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whatchanged.captioner.card import Card, GridAttention, PictureInput
from whatchanged.errors import BundleError

Floats = NDArray[np.float32]


class Graph:
    """One ONNX session whose inputs and outputs go by name."""

    def __init__(self, path: Path, content: bytes, threads: int) -> None:
        """content: the bytes of the file at ``path``, checked. Raises BundleError where it is no graph."""
        import onnxruntime as ort  # slow to import, so only those who run a model pay for it

        self.path = path
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self._session = ort.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # the errors of ONNX Runtime have no common root
            reason = str(error).splitlines()[0]
            raise BundleError(f"{path}: ONNX Runtime cannot load it: {reason} Export it again.") from error
        self.inputs = {item.name: item for item in self._session.get_inputs()}
        self.outputs = {item.name: item for item in self._session.get_outputs()}

    def run(self, feed: dict[str, Any]) -> dict[str, Any]:
        """All outputs by name. What the graph does not take is left out of the feed."""
        taken = {name: value for name, value in feed.items() if name in self.inputs}
        return dict(zip(self.outputs, self._session.run(None, taken), strict=True))

    def empty_caches(self, batch: int) -> dict[str, Floats]:
        """Every cache_* input before the first word: (B, layers, heads, 0, width)."""
        return {
            name: np.zeros((batch, *item.shape[1:3], 0, *item.shape[4:]), np.float32)
            for name, item in self.inputs.items()
            if name.startswith("cache_")
        }

    def check_names(self, side: str, found: set[str], wanted: set[str]) -> None:
        """Raises BundleError where the names of one side, "inputs" or "outputs", are not those wanted."""
        if found != wanted:
            raise BundleError(
                f"{self.path}: its {side} are {', '.join(sorted(found))}; "
                f"wanted {', '.join(sorted(wanted))}. Export it again."
            )

    def check_shape(self, name: str, wanted: tuple[int, ...]) -> None:
        """Raises BundleError where the sizes behind the batch are not those wanted.

        A size that the graph leaves open fits any.
        """
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


def check_graphs(
    card: Card, pictures: PictureInput, grid: GridAttention, encoder: Graph, decoder: Graph
) -> None:
    """Check that the graphs fit the runtime, each other and the card. Raises BundleError."""
    memory = {name for name in encoder.outputs if name.startswith("memory_")}
    caches = {name for name in decoder.inputs if name.startswith("cache_")}
    judged = set()
    if card.no_change.by == "head":
        judged.add("no_change")
    if card.in_distribution is not None:
        judged.add("strangeness")
    encoder.check_names("inputs", set(encoder.inputs), {"before", "after"})
    encoder.check_names("outputs", set(encoder.outputs), judged | memory)
    # A method whose words do not depend on their position has a graph that does not take it.
    decoder.check_names("inputs", set(decoder.inputs) - caches - memory - {"position"}, {"previous"})
    next_caches = {f"next_{name}" for name in caches}
    decoder.check_names("outputs", set(decoder.outputs), {"log_probabilities", "attention"} | next_caches)
    width, height = pictures.size
    encoder.check_shape("before", (3, height, width))
    encoder.check_shape("after", (3, height, width))
    decoder.check_shape("log_probabilities", (len(card.vocabulary),))
    decoder.check_shape("attention", (2, *grid.shape))
