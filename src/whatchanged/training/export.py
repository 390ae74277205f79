"""From a training run to a bundle: two ONNX graphs, card, README; refused unless they write torch's words.

encoder   before, after (B, 3, H, W) -> memory_*, no_change (B,) where the method has a head for it, and
          strangeness (B, 2) where a pool of familiar pictures was named
decoder   previous (B,), position (), memory_*, cache_* (B, layers, heads, t, d) ->
          log_probabilities (B, V), attention (B, 2, rows, columns), next_cache_*
"""

import json
import os
import shutil
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx
import onnxruntime
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

import whatchanged
from whatchanged.captioner.bundle import Bundle, Card, open_bundle, write_bundle
from whatchanged.captioner.decoding import Cache, greedy
from whatchanged.errors import BundleError, OutputError, RecipeError
from whatchanged.images import normalise
from whatchanged.recipes.reader import dump_recipe
from whatchanged.recipes.schema import Recipe
from whatchanged.training.batches import Source
from whatchanged.training.calibration import calibrate, read_examples
from whatchanged.training.checkpoint import State
from whatchanged.training.data.sources import open_sources
from whatchanged.training.familiarity import Strangeness, encode_and_judge, fit_familiarity
from whatchanged.training.features.on_the_fly import put_backbone_in_front
from whatchanged.training.methods import Method
from whatchanged.training.model_card import model_card
from whatchanged.training.run import open_run
from whatchanged.training.seeing.vision import pixel_statistics
from whatchanged.worlds.clevr.language import NO_CHANGE

OPSET = 17
FIXTURE_PAIRS = 64
STRANGENESS_OFF = 0.02
"""Most relative difference between the encoder's strangeness and torch's."""
HALF_FROM = 256
"""Numbers that a weight must have to be worth storing as fp16."""

WORLDS: Mapping[str, tuple[str, tuple[str, ...]]] = {"clevr_change": ("clevr", NO_CHANGE)}
"""Data set -> the world its pictures show, and that world's ways to say that nothing changed."""


def export_run(
    run: Path,
    output: Path,
    name: str,
    data: Path | None = None,
    fp16: bool = False,
    checkpoint: str = "auto",
    force: bool = False,
    weights: Path | None = None,
    familiar: Path | None = None,
) -> Bundle:
    """Write the run's model as a bundle folder; nothing is left at ``output`` if anything fails.

    data: a data set folder whose validation pairs calibrate the no-change probability and test the graphs;
    default: the run's own. fp16 stores large weights in half the bytes; the graphs still compute in fp32.
    checkpoint: as in ``checkpoint_file``. weights: of the backbone that a model of stored features gets,
    unless a package has them. familiar: a pool of drawn pictures of the model's size; the bundle then tells
    how unlike them its pictures are (``familiarity``).

    Raises RecipeError for a run that no bundle can be made of, OutputError where ``output`` is no folder, or
    exists and ``force`` is not set, BundleError where a graph and torch do not agree.
    """
    if output.is_symlink() or (output.exists() and not output.is_dir()):
        raise OutputError(f"{output}: is a file or a link, and a model is a folder. Choose another place.")
    if output.exists() and not force:
        raise OutputError(f"{output}: exists already. Pass --force to replace it, or choose another folder.")
    trained, method, state = open_run(run, checkpoint)
    recipe, statistics, seen_by = trained, pixel_statistics(trained.vision), None
    if trained.vision.kind == "features":
        recipe, backbone = put_backbone_in_front(run, trained, method, weights)
        statistics, seen_by = (backbone.mean, backbone.std), backbone.about()
    validation = _pictures(recipe, data, run)
    distance, known = (None, None) if familiar is None else fit_familiarity(method.vision, familiar)
    pairs = _fixture_pairs(validation, *statistics)
    draft = output.with_name(f".{output.name}.{os.getpid()}")
    draft.mkdir(parents=True)
    try:
        write_graphs(method, (pairs[0][:2], pairs[1][:2]), draft, distance)
        if fp16:
            for graph in ("encoder.onnx", "decoder.onnx"):
                store_half(draft / graph)
        difference = compare(method, draft, *pairs)
        if distance is not None:
            compare_strangeness(method, distance, draft, *pairs)
        dataset = validation.example(0, np.random.default_rng(0)).record.dataset
        world, sentences = WORLDS.get(dataset, ("none", ()))
        no_change = calibrate(method, validation, sentences)
        graphs = {"pairs": len(pairs[0]), "ids": "equal", "largest_difference": difference}
        provenance = {
            **_training(run, trained, method, state),
            **({} if seen_by is None else {"features": seen_by}),
            "weights_stored_as": "fp16 where large" if fp16 else "fp32",
            "graphs_against_torch": graphs,
        }
        card = Card(
            name, whatchanged.__version__, recipe.method.name, recipe.method.preset, world,
            (recipe.vision.image_width, recipe.vision.image_height), *statistics,
            (method.vision.rows, method.vision.columns), method.vocabulary, method.max_length,
            no_change, provenance, known,
        )  # fmt: skip
        (draft / "README.md").write_text(model_card(card, recipe, draft), encoding="utf-8")
        write_bundle(draft, card)
        if output.exists():
            shutil.rmtree(output)
        draft.replace(output)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    bundle = open_bundle(output.absolute())
    bundle.check()
    return bundle


def _training(run: Path, recipe: Recipe, method: Method, state: State) -> dict[str, Any]:
    """How the weights came about, for the bundle's card; no paths."""
    return {
        "recipe": recipe.name,
        "resolved_recipe": dump_recipe(
            replace(recipe, data=replace(recipe.data, path="", features="", merges=""))
        ),
        "preparation": recipe.data.preparation,
        "attention": method.looks,
        "checkpoint": {"stage": recipe.stages[state.stage].name, "step": state.step, "best": state.best},
        "training_seconds": round(state.seconds),
        "environment": _environment(run),
    }


def _environment(run: Path) -> dict[str, Any]:
    """What the run was trained on, without its command and start, whose paths are nobody's business."""
    kept: dict[str, Any] = json.loads((run / "environment.json").read_text(encoding="utf-8"))
    return {key: value for key, value in kept.items() if key not in ("command", "init")}


class _Encoder(nn.Module):
    """Pictures -> no_change, where the method judges it, strangeness, where known, and the memory's parts."""

    def __init__(self, method: Method, parts: Sequence[str], distance: Strangeness | None) -> None:
        super().__init__()
        self.method, self.parts, self.distance = method, parts, distance

    def forward(self, before: Tensor, after: Tensor) -> tuple[Tensor, ...]:
        memory, strangeness = encode_and_judge(self.method, before, after, self.distance)
        judged, parts = self.method.no_change(memory), [getattr(memory, part) for part in self.parts]
        return tuple(found for found in (judged, strangeness, *parts) if found is not None)


class _Decoder(nn.Module):
    """One word; the parts of the memory that decoding does not read are filled with nothing."""

    def __init__(self, method: Method, memory: Any, parts: Sequence[str], caches: Sequence[str]) -> None:
        super().__init__()
        self.method, self.parts, self.caches = method, parts, caches
        self.empty = memory

    def forward(self, previous: Tensor, position: Tensor, *rest: Tensor) -> tuple[Tensor, ...]:
        memory = self.empty._replace(**dict(zip(self.parts, rest, strict=False)))
        cache = dict(zip(self.caches, rest[len(self.parts) :], strict=True))
        scores, attention, grown = self.method.step(memory, previous, position, cache)
        return (scores, attention, *(grown[name] for name in self.caches))


def write_graphs(
    method: Method,
    pictures: tuple[NDArray[np.float32], NDArray[np.float32]],
    folder: Path,
    distance: Strangeness | None = None,
) -> None:
    """Trace ``encoder.onnx`` and ``decoder.onnx`` on two pairs; batch and length stay free."""
    before, after = (torch.from_numpy(p) for p in pictures)
    with torch.inference_mode():
        memory = method.encode(before, after)
        judged = [] if method.no_change(memory) is None else ["no_change"]
        judged += [] if distance is None else ["strangeness"]
        cache = method.first_cache(memory)
        previous = torch.ones(len(before), dtype=torch.int64)
        _, _, cache = method.step(memory, previous, 1, cache)
    memory = type(memory)(*(tensor.clone() for tensor in memory))
    cache = {name: tensor.clone() for name, tensor in cache.items()}
    parts, caches = _read_parts(method, memory, previous, cache), list(cache)
    memories, names = [f"memory_{part}" for part in parts], [f"cache_{name}" for name in caches]
    batch = {0: "batch"}
    _trace(
        _Encoder(method, parts, distance), (before, after), folder / "encoder.onnx", ["before", "after"],
        [*judged, *memories], dict.fromkeys(["before", "after", *judged, *memories], batch),
    )  # fmt: skip
    grown = [f"next_{name}" for name in names]
    axes = {name: {0: "batch", 3: "length"} for name in names} | {
        n: {0: "batch", 3: "next_length"} for n in grown
    }
    free = dict.fromkeys(["previous", "log_probabilities", "attention", *memories], batch)
    values = (*(getattr(memory, part) for part in parts), *cache.values())
    _trace(
        _Decoder(method, memory, parts, caches), (previous, torch.tensor(2), *values),
        folder / "decoder.onnx",
        ["previous", "position", *memories, *names], ["log_probabilities", "attention", *grown], free | axes,
    )  # fmt: skip


def _read_parts(method: Method, memory: Any, previous: Tensor, cache: dict[str, Tensor]) -> list[str]:
    """The memory's fields that a decoder step reads: those that change its answer when they are not there."""
    read = []
    for name in memory._fields:
        try:
            with torch.inference_mode():
                method.step(memory._replace(**{name: None}), previous, 2, cache)
        except (TypeError, AttributeError):
            read.append(name)
    return read


def _trace(
    module: nn.Module, inputs: tuple[Tensor, ...], path: Path, names: list[str], outputs: list[str], axes: Any
) -> None:
    module.eval()
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # the tracer warns of every Python number; ``compare`` is the proof
        torch.onnx.export(
            module, inputs, str(path), input_names=names, output_names=outputs, dynamic_axes=axes,
            opset_version=OPSET, dynamo=False, do_constant_folding=True,
        )  # fmt: skip
    onnx.checker.check_model(str(path))


def store_half(path: Path) -> None:
    """Store the graph's large fp32 weights as fp16, each followed by a cast back to fp32."""
    model = onnx.load(str(path))
    graph = model.graph
    casts = []
    for number, weight in enumerate(list(graph.initializer)):
        values = onnx.numpy_helper.to_array(weight)
        if values.dtype != np.float32 or values.size < HALF_FROM or np.abs(values).max() > 65000:
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
    """The largest difference of the captions' log-probabilities; raises BundleError if an id differs."""
    torch_rows = greedy_torch(method, torch.from_numpy(before), torch.from_numpy(after))
    onnx_rows = greedy_onnx(folder, before, after, method.max_length)
    differing = [i for i, (a, b) in enumerate(zip(torch_rows, onnx_rows, strict=True)) if a.ids != b.ids]
    if differing:
        i = differing[0]
        raise BundleError(
            f"{len(differing)} of {len(before)} captions of the exported graphs are not torch's, so nothing"
            f" was written. Pair {i}: {method.vocabulary.text(onnx_rows[i].ids)!r} instead of"
            f" {method.vocabulary.text(torch_rows[i].ids)!r}. Export without --fp16 if it was set."
        )
    pairs = zip(torch_rows, onnx_rows, strict=True)
    return float(max(abs(a.log_probability - b.log_probability) for a, b in pairs))


def compare_strangeness(
    method: Method,
    distance: Strangeness,
    folder: Path,
    before: NDArray[np.float32],
    after: NDArray[np.float32],
) -> None:
    """Raises BundleError where the graph's strangeness is off torch's by more than ``STRANGENESS_OFF``."""
    with torch.inference_mode():
        _, wanted = encode_and_judge(method, torch.from_numpy(before), torch.from_numpy(after), distance)
    session = onnxruntime.InferenceSession(str(folder / "encoder.onnx"), providers=["CPUExecutionProvider"])
    (got,) = session.run(["strangeness"], {"before": before, "after": after})
    off = float(np.abs(got / cast(Tensor, wanted).numpy() - 1).max())
    if off > STRANGENESS_OFF:
        raise BundleError(
            f"The strangeness that the exported encoder finds is off torch's by {100 * off:.1f} %, so nothing"
            " was written. Export without --fp16 if it was set."
        )


def greedy_torch(method: Method, before: Tensor, after: Tensor) -> list[Any]:
    """Greedy captions by the method itself."""
    with torch.inference_mode():
        memory = method.encode(before, after)

        def step(previous: NDArray[np.int64], position: int, cache: Cache) -> tuple[Any, None, Cache]:
            scores, _, grown = method.step(memory, torch.from_numpy(previous), position, dict(cache))
            return scores.numpy(), None, grown

        return list(greedy(step, method.first_cache(memory), len(before), method.max_length))


def greedy_onnx(
    folder: Path, before: NDArray[np.float32], after: NDArray[np.float32], longest: int
) -> list[Any]:
    """Greedy captions by the two graphs."""
    encoder, decoder = (
        onnxruntime.InferenceSession(str(folder / f"{name}.onnx"), providers=["CPUExecutionProvider"])
        for name in ("encoder", "decoder")
    )
    outputs = [item.name for item in encoder.get_outputs()]
    memory = dict(zip(outputs, encoder.run(None, {"before": before, "after": after}), strict=True))
    first = {
        item.name: np.zeros((len(before), *item.shape[1:3], 0, *item.shape[4:]), np.float32)
        for item in decoder.get_inputs()
        if item.name.startswith("cache_")
    }
    for judged in ("no_change", "strangeness"):
        memory.pop(judged, None)

    def step(previous: NDArray[np.int64], position: int, cache: Cache) -> tuple[Any, None, Cache]:
        feed = {"previous": previous, "position": np.array(position, np.int64), **memory, **cache}
        scores, _, *grown = decoder.run(None, feed)
        return scores, None, dict(zip(first, grown, strict=True))

    return list(greedy(step, first, len(before), longest))


def _pictures(recipe: Recipe, data: Path | None, run: Path) -> Source:
    """The validation pairs as pictures: of the folder ``data``, or of the run's own data set or pool."""
    places = replace(  # the run keeps its vocabulary, and each pair is seen for itself
        recipe.data, features="", merges="", examples="captions", exchange=False
    )
    if data is not None:
        places = replace(
            places,
            source="dataset",
            path=str(data),
            wording="captions",
            ordered_pairs="official",
            vary="examples",
        )
    return open_sources(replace(recipe, data=places, stages=()), run).validation  # nothing to train on


def _fixture_pairs(
    validation: Source, mean: Sequence[float], std: Sequence[float]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The first validation pairs as the graphs read them: normalised, (B, 3, H, W) each.

    Raises RecipeError if there are none.
    """
    examples = read_examples(validation, range(min(len(validation), FIXTURE_PAIRS)))
    if len(examples) < 2:
        raise RecipeError("There are no validation pairs to test the graphs on. Name a data set with --data.")
    before, after = (np.stack([getattr(e, side) for e in examples]) for side in ("before", "after"))
    return normalise(before, mean, std), normalise(after, mean, std)
