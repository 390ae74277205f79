"""A captioner anyone can hold: two pictures in, a description out; stateless, ONNX Runtime on the CPU.

The encoder graph runs once for a pair, the decoder graph once for a word. Their contract (B batch):

    encoder   before, after (B, 3, H, W) float32 -> any number of memory_* (B, ...); no_change (B,) where the
              card says that a head judges; strangeness (B, 2), before and after, where it has a threshold
    decoder   previous (B,) int64, position () int64, memory_*, cache_* (B, layers, heads, t, width), t from 0
              -> log_probabilities (B, V), attention (B, 2, rows, columns), next_cache_*
"""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from whatchanged.captioner.attention import over_content
from whatchanged.captioner.bundle import Bundle, open_bundle
from whatchanged.captioner.decoding import Cache, Decoded, Ids, beam, greedy
from whatchanged.captioner.no_change import sayable, sentences_probability
from whatchanged.errors import BundleError, ShapeError, WhatchangedError
from whatchanged.images import Source, normalise, open_image, resize

Floats = NDArray[np.float32]
Sources = list[Any] | tuple[Any, ...]
"""Several pictures, each a ``Source``; a type of its own because a path is a sequence too."""

BATCH = 16
"""Pairs that run side by side where a list is given."""

MOST = 1000
"""Of beams, and of threads: more is a slip."""


@dataclass(frozen=True, eq=False)
class Description:
    """What a captioner says of a pair.

    ``no_change`` is the calibrated probability that nothing changed. ``heatmaps`` (2, rows, columns), before
    and after, is the attention averaged over the content words; ``words`` keeps each word's own. ``changed``
    goes by the sentence; ``doubtful``: the probability is on the other side of the model's threshold.
    ``ood_distance`` of the pictures before and after: their distances from the pictures that the model knows,
    in units of its threshold; None where the model cannot tell.
    """

    sentence: str
    no_change: float
    heatmaps: Floats = field(repr=False)
    words: tuple[tuple[str, Floats], ...] = field(repr=False)
    changed: bool
    doubtful: bool
    ood_distance: tuple[float, float] | None = None

    @property
    def unfamiliar(self) -> bool | None:
        """Whether a picture is unlike anything the model knows, so that the sentence means little."""
        return None if self.ood_distance is None else max(self.ood_distance) > 1


class Captioner:
    """One bundle, ready to describe; hold it to pay the loading once. Safe to share between threads."""

    def __init__(self, bundle: Bundle, threads: int | None = None) -> None:
        """Check the bundle's files and build its sessions; ``threads`` per operator, None: at most two."""
        threads = min(2, os.cpu_count() or 1) if threads is None else _counted("threads", threads)
        self.bundle = bundle
        self.card = bundle.card
        content = {name: bundle.read(name) for name in bundle.files}
        self._encoder = _Graph(bundle, content, "encoder.onnx", threads)
        self._decoder = _Graph(bundle, content, "decoder.onnx", threads)
        _check_contract(bundle, self._encoder, self._decoder)

    @overload
    def describe(self, before: Source, after: Source, beams: int = 1) -> Description: ...
    @overload
    def describe(self, before: Sources, after: Sources, beams: int = 1) -> list[Description]: ...
    def describe(
        self, before: Source | Sources, after: Source | Sources, beams: int = 1
    ) -> Description | list[Description]:
        """Describe a pair, or pair by pair two lists of one length (the answer is a list then).

        ``beams`` > 1 keeps that many hypotheses. Raises ImageError for a picture that cannot be used,
        ShapeError for lists of different lengths, WhatchangedError for a number of beams that is none.
        """
        _counted("beams", beams)
        if isinstance(before, list | tuple) and isinstance(after, list | tuple):
            if len(before) != len(after):
                raise ShapeError(
                    f"{len(before)} pictures before and {len(after)} after: a pair needs one of each."
                )
            found: list[Description] = []
            for start in range(0, len(before), BATCH):
                pairs = zip(before[start : start + BATCH], after[start : start + BATCH], strict=True)
                found += self.describe_pixels(np.stack([self.read(b, a) for b, a in pairs]), beams)
            return found
        if isinstance(before, list | tuple) or isinstance(after, list | tuple):
            raise ShapeError("One of the two is a list, the other is not: give two pictures, or two lists.")
        return self.describe_pixels(self.read(before, after)[None], beams)[0]

    def read(self, before: Source, after: Source) -> NDArray[np.uint8]:
        """A pair at the model's size: (2, H, W, 3). Raises ImageError."""
        return np.stack([resize(open_image(source), self.card.image_size) for source in (before, after)])

    def describe_pixels(self, pixels: NDArray[np.uint8], beams: int = 1) -> list[Description]:
        """Describe pairs that ``read`` prepared, (B, 2, H, W, 3), side by side."""
        inputs = normalise(pixels, self.card.mean, self.card.std)  # (B, 2, 3, H, W)
        encoded = self._encoder.run({"before": inputs[:, 0], "after": inputs[:, 1]})
        judged, ood_distance = encoded.pop("no_change", None), encoded.pop("strangeness", None)
        batch = len(pixels)
        cache = {**encoded, **self._decoder.empty_caches(batch)}
        probabilities = self._judge(cache, batch) if judged is None else judged
        if beams == 1:
            rows = greedy(self._step, cache, batch, self.card.max_length)
        else:
            rows = beam(self._step, cache, batch, self.card.max_length, beams)
        distances = [None] * batch if ood_distance is None else ood_distance
        triples = zip(rows, probabilities, distances, strict=True)
        return [self._description(row, float(p), distance) for row, p, distance in triples]

    def _judge(self, cache: Cache, batch: int) -> NDArray[np.float64]:
        """The share of the world's no-change sentences, for a model without a head of its own."""
        ids = sayable(self.card.no_change.sentences, self.card.vocabulary, self.card.max_length)
        return sentences_probability(self._step, cache, batch, ids)

    def _step(self, previous: Ids, position: int, cache: Cache) -> tuple[Floats, Floats, Cache]:
        found = self._decoder.run({"previous": previous, "position": np.array(position, np.int64), **cache})
        grown = {name.removeprefix("next_"): found[name] for name in found if name.startswith("next_")}
        return found["log_probabilities"], found["attention"], {**cache, **grown}

    def _ood_distance(self, distances: Floats | None) -> tuple[float, float] | None:
        """The two distances in units of the threshold."""
        if distances is None or self.card.in_distribution is None:
            return None
        before, after = (float(d) / self.card.in_distribution.threshold for d in distances)
        return before, after

    def _description(self, row: Decoded, probability: float, distances: Floats | None) -> Description:
        sentence = self.card.vocabulary.text(row.ids)
        maps = row.attention if row.attention is not None else np.zeros((0, 2, *self.card.grid), np.float32)
        spoken = self.card.vocabulary.words(row.ids)
        words = tuple((word, maps[list(places)].mean(axis=0)) for word, places in spoken)
        no_change = self.card.no_change.calibrated(probability)
        changed = sentence not in self.card.no_change.sentences
        return Description(
            sentence=sentence,
            no_change=no_change,
            heatmaps=over_content(words, self.card.grid),
            words=words,
            changed=changed,
            doubtful=changed == (no_change >= self.card.no_change.threshold),
            ood_distance=self._ood_distance(distances),
        )


def load(name: str | Path | None = None, threads: int | None = None) -> Captioner:
    """The captioner of a shipped model, or of a bundle folder at this path; None: the default model.

    Raises BundleError where the bundle is missing, incomplete or altered, WhatchangedError for a number of
    threads that is none.
    """
    return Captioner(open_bundle(name), threads)


class _Graph:
    """One ONNX session with names on both sides."""

    def __init__(self, bundle: Bundle, content: dict[str, bytes], name: str, threads: int) -> None:
        import onnxruntime as ort  # slow to import; only those who run a model pay

        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self._session = ort.InferenceSession(content[name], options, providers=["CPUExecutionProvider"])
        except Exception as error:  # ONNX Runtime's errors have no common root
            reason = str(error).splitlines()[0]
            raise BundleError(
                f"{bundle.folder / name}: ONNX Runtime cannot load it: {reason} Export it again."
            ) from error
        self.inputs = {item.name: item for item in self._session.get_inputs()}
        self.outputs = {item.name: item for item in self._session.get_outputs()}

    def run(self, feed: dict[str, Any]) -> dict[str, Any]:
        """All outputs by name; what the graph does not take is left out of the feed."""
        taken = {name: value for name, value in feed.items() if name in self.inputs}
        return dict(zip(self.outputs, self._session.run(None, taken), strict=True))

    def empty_caches(self, batch: int) -> dict[str, Floats]:
        """Every cache_* input with no position in it yet: (B, layers, heads, 0, width)."""
        return {
            name: np.zeros((batch, *item.shape[1:3], 0, *item.shape[4:]), np.float32)
            for name, item in self.inputs.items()
            if name.startswith("cache_")
        }


def _counted(name: str, value: Any) -> int:
    """A count that a caller gave. Raises WhatchangedError."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 1 <= value <= MOST:
        raise WhatchangedError(f"{name} should be a whole number from 1 to {MOST:,}; it is {value!r}.")
    return int(value)


def _check_contract(bundle: Bundle, encoder: _Graph, decoder: _Graph) -> None:
    """That the graphs fit each other, the card and this runtime. Raises BundleError with what is amiss."""
    _check_names(bundle, encoder, decoder)
    card = bundle.card
    width, height = card.image_size
    for name, value, declared, wanted in (
        ("encoder.onnx", "before", encoder.inputs["before"].shape, (3, height, width)),
        ("encoder.onnx", "after", encoder.inputs["after"].shape, (3, height, width)),
        (
            "decoder.onnx",
            "log_probabilities",
            decoder.outputs["log_probabilities"].shape,
            (len(card.vocabulary),),
        ),
        ("decoder.onnx", "attention", decoder.outputs["attention"].shape, (2, *card.grid)),
    ):
        if not _fits(declared, wanted):
            raise BundleError(
                f"{bundle.folder / name}: {value} is declared as {declared}; by the card it is "
                f"{['B', *wanted]}. Export it again."
            )


def _fits(declared: list[Any], wanted: tuple[int, ...]) -> bool:
    """Whether the sizes behind the batch are those wanted; what a graph leaves open (a name) fits any."""
    return len(declared) == 1 + len(wanted) and all(
        size == want or not isinstance(size, int) for size, want in zip(declared[1:], wanted, strict=True)
    )


def _check_names(bundle: Bundle, encoder: _Graph, decoder: _Graph) -> None:
    """That the graphs take and give what this runtime and each other's names say."""
    memory = {name for name in encoder.outputs if name.startswith("memory_")}
    caches = {name for name in decoder.inputs if name.startswith("cache_")}
    judged = {"no_change"} if bundle.card.no_change.by == "head" else set()
    if bundle.card.in_distribution is not None:
        judged |= {"strangeness"}
    wanted = (
        ("encoder.onnx", "inputs", set(encoder.inputs), {"before", "after"}),
        ("encoder.onnx", "outputs", set(encoder.outputs), judged | memory),
        ("decoder.onnx", "inputs", set(decoder.inputs) - caches - memory, {"previous", "position"}),
        (
            "decoder.onnx",
            "outputs",
            set(decoder.outputs),
            {"log_probabilities", "attention"} | {f"next_{name}" for name in caches},
        ),
    )
    for name, side, got, want in wanted:
        if got != want:
            raise BundleError(
                f"{bundle.folder / name}: its {side} are {', '.join(sorted(got))}; "
                f"wanted {', '.join(sorted(want))}. Export it again."
            )
