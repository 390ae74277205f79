"""A run that judges regions as a bundle: one graph, and numbers fitted on validation pairs.

The validation pairs go through the ``RegionModel`` that ships, picture by picture, so that what is fitted is
what is later said.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

import whatchanged
from whatchanged.captioner.bundle import REGION_GRAPH, WEIGHTS, open_bundle, write_bundle
from whatchanged.captioner.card import BoxAttention, Card, InDistribution, NoChange, RegionInput, Statements
from whatchanged.datasets import open_dataset
from whatchanged.errors import BundleError, RecipeError
from whatchanged.files import whole_folder
from whatchanged.measured import measure
from whatchanged.measured.compared import Compared
from whatchanged.measured.pixels.reading import read_picture
from whatchanged.measured.result import KINDS
from whatchanged.records import PairRecord
from whatchanged.regions.numbers import NUMBERS, read_proposals
from whatchanged.regions.runtime import (
    RegionJudgement,
    RegionModel,
    aspects_of,
    boxes_of,
    chance_of_change,
    confidences,
    inputs_of,
    logit,
    order,
    softmax,
)
from whatchanged.training.export.calibration import fit_logistic, fit_sigmoid
from whatchanged.training.export.graphs import store_half, trace
from whatchanged.training.export.model_card import model_card
from whatchanged.training.export.trained_model import TrainedModel
from whatchanged.training.regions import supervision
from whatchanged.training.regions.graph import INPUTS, OUTPUTS, RegionGraph
from whatchanged.training.regions.judge import RegionJudge
from whatchanged.training.weights.bundle_weights import pack_weights
from whatchanged.worlds import Truth, World, world_of

OFF, OFF_HALF = 1e-3, 0.1
"""The largest difference between a logit of the graph and torch's, or between two boxes in pixels; with large
weights in half the bytes."""
TRACED = 3
"""Places that the graph is traced on."""
PAIRS = 1000
"""Validation pairs at most, spread over the split; five minutes on one core."""
PRECISE = 0.8
"""Part of the second and third statements of validation pairs that are to point to a change."""
MOST = 3
"""Statements of a pair that count there."""
LEAST = 20
"""Such statements at least, or none is told."""
THRESHOLD = 0.5
"""Below this probability that nothing changed something did. On drawn families that the network did not learn
from 97.9 % of the changes and 94.6 % of the other pairs were told for what they are with it; 95.8 and 95.5 %
with the threshold at which as many of both were right on the families that it learnt from."""
NAMED = 0.8
"""The least probability that a noun or a finer word fits."""
UNEVEN = 0.7
"""Share of uneven pixels up to which a picture is one of a screen. Set by hand: of 19 photographs the least
uneven has 0.77, scenes of CLEVR 0.92 to 0.96, and nine of ten drawn screens below 0.35."""
TruePair = tuple[PairRecord, Truth]
"""A pair whose truth is known."""


@dataclass(frozen=True)
class JudgedPair:
    """A validation pair: what the graph says of its places and what they show by the truth.

    order: the places that may be told, see ``regions.runtime.order``.
    kind, element, aspect: (N,), as in ``supervision.Labels``.
    right: (N,), whether the place's likeliest kind is that of a change that it points to.
    points: (N, changes), whether the place points to that change.
    """

    measured: float
    changed: bool
    judged: RegionJudgement
    order: list[int]
    kind: NDArray[np.int64]
    element: NDArray[np.int64]
    aspect: NDArray[np.int64]
    right: NDArray[np.bool_]
    points: NDArray[np.bool_]


def export_regions(
    model: TrainedModel, output: Path, data: Path | None, in_distribution: Path | None
) -> None:
    """Write the bundle of a model that judges regions; arguments and what is raised: see ``export_run``."""
    recipe, judge = model.recipe, model.method
    if not isinstance(judge, RegionJudge):
        raise RecipeError(f"{model.run}: {recipe.method.name} judges no regions.")
    if in_distribution is not None:
        raise RecipeError("--familiar: a model of regions tells screens by how even they are. Leave it out.")
    roots = tuple(map(Path, recipe.data.paths)) if data is None else (data,)
    read = [_validation_pairs(root) for root in roots]
    world = read[0][0]
    pairs = [pair for _, own in read for pair in own]
    card = Card(
        name=model.name,
        version=whatchanged.__version__,
        method=recipe.method.name,
        world=world.name,
        input=RegionInput(judge.config.regions, NUMBERS),
        attention=BoxAttention(),
        no_change=NoChange(0.5, 1.0, 0.0, "nothing", world.language.no_change_sentences),
        provenance=model.provenance,
    )
    with whole_folder(output, replace=True) as draft:
        (draft / WEIGHTS).write_bytes(pack_weights(model.tensors))
        card = write_region_model(judge, pairs, card, draft, model.fp16)
        (draft / "README.md").write_text(model_card(card, recipe, world, draft), encoding="utf-8")
        write_bundle(draft, card)


def _validation_pairs(root: Path) -> tuple[World, list[TruePair]]:
    """The world of a data set, and its validation pairs whose truth is known. Raises RecipeError where it has
    no world."""
    dataset = open_dataset(root)
    world = world_of(dataset.name, root)
    if world is None:
        raise RecipeError(f"{root}: these pairs are of no world, so no statement can be put into words.")
    records = [record for record in dataset.records if record.split == "val"]
    truths = world.truth.read(root, records)
    return world, [(one, truths[one.pair_id]) for one in records if one.pair_id in truths]


def write_region_model(
    judge: RegionJudge,
    pairs: Sequence[TruePair],
    card: Card,
    folder: Path,
    fp16: bool = False,
) -> Card:
    """Write ``regions.onnx`` and the card of a folder whose other files lie there; returns the card.

    card: with the world and provenance; the rest is found here. pairs: those of validation. fp16: large
    weights are stored in half the bytes. Raises RecipeError where there are no such pairs, BundleError where
    graph and torch differ.
    """
    known = _certain_pairs(pairs)
    graph = RegionGraph(judge).eval()
    _write_graph(graph, folder)
    if fp16:
        store_half(folder / REGION_GRAPH)
    neutral = _neutral_statements()
    card = replace(
        card,
        input=RegionInput(judge.config.regions, NUMBERS),
        attention=BoxAttention(),
        statements=neutral,
        in_distribution=InDistribution(
            UNEVEN,
            "share of the pixels that differ from the next to the right or below, or else the share of four"
            " main colours; limits set by hand",
        ),
    )
    write_bundle(folder, card)
    model = RegionModel(open_bundle(folder))
    most = OFF_HALF if fp16 else OFF
    seen = [_see(model, graph, record, truth, most) for record, truth in known]
    weights = fit_weights(seen)
    no_change = _no_change(seen, weights, card.no_change.sentences)
    card = replace(card, statements=fit_statements(seen, neutral, weights), no_change=no_change)
    write_bundle(folder, card)
    return card


def _certain_pairs(pairs: Sequence[TruePair]) -> list[TruePair]:
    """At most ``PAIRS`` of the pairs, none of them doubtful.

    Raises RecipeError where nothing can be fitted on them.
    """
    known = [(one, truth) for one, truth in pairs if one.changed is not None and one.after is not None]
    known = [known[round(at)] for at in np.linspace(0, len(known) - 1, min(PAIRS, len(known)))]
    changed = {one.changed for one, _ in known}
    if changed != {True, False}:
        raise RecipeError(
            "There are no validation pairs with truth, changed ones and others, to fit this model's"
            " probabilities on. Name a drawn data set with --data."
        )
    return known


def _neutral_statements() -> Statements:
    """What a card says of statements before anything is fitted."""
    aspects: dict[str, tuple[str, ...]] = {
        kind: tuple(aspect for its, aspect in supervision.ASPECT_NAMES if its == kind) for kind in KINDS
    }
    return Statements(
        kinds=KINDS,
        elements=supervision.ELEMENT_NAMES,
        aspects=aspects,
        kind_temperature=1.0,
        element_temperature=1.0,
        aspect_temperature=1.0,
        scale=1.0,
        shift=0.0,
        told=1.0,
        named=NAMED,
        verdict_weight=1.0,
        measured_weight=1.0,
        how="nothing",
    )


def _write_graph(graph: RegionGraph, folder: Path) -> None:
    """Trace the graph; the number of places stays free."""
    given = torch.zeros(TRACED, NUMBERS), torch.tensor([0.0, 0, 8, 8]).repeat(TRACED, 2, 1)
    free = {name: {0: "places"} for name in (*INPUTS, *OUTPUTS) if name != "verdict"}
    trace(graph, given, folder / REGION_GRAPH, list(INPUTS), list(OUTPUTS), free)


def _see(model: RegionModel, graph: RegionGraph, record: PairRecord, truth: Truth, most: float) -> JudgedPair:
    """One pair through the graph, and through torch. Raises BundleError where they differ by more than
    ``most``."""
    assert record.after is not None
    before, after = (read_picture(path).on_white for path in (record.before, record.after))
    proposals = read_proposals(Compared(before, after), model.input.regions)
    measured = measure(record.before, record.after).no_change
    if not proposals.proposals:
        return _nothing(measured, bool(record.changed), model.settings)
    feed = inputs_of(proposals)
    judged = model.judge(proposals)
    with torch.inference_mode():
        wanted = graph(**{name: torch.from_numpy(array) for name, array in feed.items()})
    for name, tensor in zip(OUTPUTS, wanted, strict=True):
        off = float(np.abs(np.asarray(getattr(judged, name)) - tensor.numpy()).max())
        if off > most:
            raise BundleError(
                f"{record.pair_id}: {name} of the exported graph differs from torch's by {off:.2g}, so"
                " nothing was written. Export without --fp16 if it was set."
            )
    ordered = order(judged, proposals.proposals, boxes_of(judged, before, after))
    return _labelled(measured, bool(record.changed), judged, ordered, truth)


def _labelled(
    measured: float, changed: bool, judged: RegionJudgement, ordered: list[int], truth: Truth
) -> JudgedPair:
    boxes = torch.from_numpy(judged.refined)[None]
    known = supervision.collate([truth])
    labels = supervision.label(boxes, known)
    pointed = supervision.pointed(boxes, known)[0].numpy()  # (N, T)
    alike = judged.kinds.argmax(-1)[:, None] == known.kind.numpy()  # (N, T)
    numbers = np.arange(int(known.change.max()) + 1)
    points = (pointed[..., None] & (known.change[0].numpy()[:, None] == numbers)).any(1)
    return JudgedPair(
        measured,
        changed,
        judged,
        ordered,
        labels.kind[0].numpy(),
        labels.element[0].numpy(),
        labels.aspect[0].numpy(),
        (pointed & alike).any(1),
        points,
    )


def _nothing(measured: float, changed: bool, by: Statements) -> JudgedPair:
    """A pair without a place."""
    empty = np.zeros(0)
    judged = RegionJudgement(
        np.zeros((0, len(by.kinds)), np.float32),
        np.zeros((0, len(by.elements)), np.float32),
        np.zeros((0, sum(len(words) for words in by.aspects.values())), np.float32),
        empty.astype(np.float32),
        empty.astype(np.float32),
        0.0,
        np.zeros((0, 2, 4), np.float32),
    )
    numbers = empty.astype(np.int64)
    nowhere = np.zeros((0, 0), np.bool_)
    return JudgedPair(measured, changed, judged, [], numbers, numbers, numbers, empty.astype(bool), nowhere)


@dataclass(frozen=True)
class Weights:
    """How much the verdict and the measured probability weigh in the logit that nothing changed, and its
    shift."""

    verdict: float
    measured: float
    shift: float


def fit_statements(seen: Sequence[JudgedPair], start: Statements, weights: Weights) -> Statements:
    """The temperatures, the confidence, and from where on more is told; the weights of the verdict beside."""
    kinds, kind = _of_hits(seen, "kinds", "kind")
    elements, element = _of_hits(seen, "elements", "element")
    aspects, aspect = _of_hits(seen, "aspects", "aspect")
    by = replace(
        start,
        kind_temperature=_temperature(kinds, kind),
        element_temperature=_temperature(elements, element),
        aspect_temperature=_temperature(_of_own_kind(aspects, aspect, start), aspect),
    )
    sure = [np.clip(confidences(one.judged, by), 1e-7, 1 - 1e-7) for one in seen]
    right = [one.right for one in seen]
    both = np.concatenate(sure)
    scale, shift = fit_sigmoid(np.log(both / (1 - both)), np.concatenate(right).astype(float))
    by = replace(by, scale=scale, shift=shift)
    places = sum(len(one.right) for one in seen)
    how = (
        f"maximum likelihood on {places:,} places of {len(seen):,} validation pairs; a second or third"
        f" statement where {100 * PRECISE:g} % of them point to a change of their own"
    )
    return replace(
        by,
        told=_further_threshold(seen),
        verdict_weight=weights.verdict,
        measured_weight=weights.measured,
        how=how,
    )


def _of_hits(
    seen: Sequence[JudgedPair], logits: str, label: str
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The logits and the true numbers of the places whose kind or element is known."""
    known = [getattr(one, label) >= 0 for one in seen]
    rows = [getattr(one.judged, logits)[there] for one, there in zip(seen, known, strict=True)]
    wanted = [getattr(one, label)[there] for one, there in zip(seen, known, strict=True)]
    return np.concatenate(rows).astype(np.float64), np.concatenate(wanted)


def _of_own_kind(
    logits: NDArray[np.float64], wanted: NDArray[np.int64], by: Statements
) -> NDArray[np.float64]:
    """The logits of finer words without those of other kinds than the wanted one's."""
    own = np.full(logits.shape, -np.inf)
    for kind in by.kinds:
        there = aspects_of(by, kind)
        rows = (wanted >= there.start) & (wanted < there.stop)
        own[rows, there] = logits[rows, there]
    return own


def _temperature(logits: NDArray[np.float64], wanted: NDArray[np.int64]) -> float:
    """The temperature of the least cross-entropy, between 1/10 and 10; 1 where nothing is known."""
    if not len(wanted):
        return 1.0

    def loss(power: float) -> float:
        chances = softmax(logits / np.exp(power))
        return float(-np.log(np.clip(chances[np.arange(len(wanted)), wanted], 1e-12, 1)).mean())

    found = minimize_scalar(loss, bounds=(-np.log(10), np.log(10)), method="bounded")
    return float(np.exp(found.x))


def _further_threshold(seen: Sequence[JudgedPair]) -> float:
    """The chance of a change above which ``PRECISE`` of the later statements of pairs point to a change of
    their own: to one to which none before them points.

    1 where too few do.
    """
    later = []
    for one in seen:
        for place in range(1, len(one.order[:MOST])):
            index, before = one.order[place], one.order[:place]
            own = one.points[index] & ~one.points[before].any(0)
            later.append((chance_of_change(one.judged, index), bool(own.any())))
    later.sort(reverse=True)
    right = np.cumsum([hit for _, hit in later])
    precise = [n for n in range(LEAST, len(later) + 1) if right[n - 1] >= PRECISE * n]
    chances = [chance for chance, _ in later] + [0.0]
    return chances[precise[-1]] if precise else 1.0


def fit_weights(seen: Sequence[JudgedPair]) -> Weights:
    """The weights under which it is likeliest which of the pairs changed."""
    features = np.array([[-one.judged.verdict, logit(one.measured)] for one in seen])
    unchanged = np.array([not one.changed for one in seen], float)
    own, measured, shift = fit_logistic(features, unchanged, np.array([1.0, 0.0, 0.0]))
    return Weights(float(own), float(measured), float(shift))


def _no_change(seen: Sequence[JudgedPair], weights: Weights, sentences: tuple[str, ...]) -> NoChange:
    """The calibration of the weighted sum of verdict and measured probability: only its shift is missing."""
    unchanged = sum(not one.changed for one in seen)
    how = (
        f"maximum likelihood on {len(seen):,} validation pairs ({unchanged:,} without change), beside the"
        " measured probability"
    )
    return NoChange(THRESHOLD, 1.0, weights.shift, how, sentences)
