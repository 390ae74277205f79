"""A model of regions: the places of a pair that may have changed in, statements out. No torch.

Rules propose the places (``regions.proposals``). One graph judges all N places of a pair at once:

    regions   numbers (N, numbers) float32, boxes (N, 2, 4) float32
              -> kinds (N, K), elements (N, E), aspects (N, A), changed (N,): logits; rank (N,): the larger,
                 the better a place; verdict (1,): the logit that the pair shows a change;
                 refined (N, 2, 4): better boxes

The card says what the logits stand for and how they become probabilities (``Statements``); the model's world
puts a statement into words.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whatchanged import words
from whatchanged.captioner.bundle import REGION_GRAPH, Bundle
from whatchanged.captioner.card import RegionInput, Statements
from whatchanged.captioner.onnx_graphs import Graph, checked_threads
from whatchanged.errors import BundleError
from whatchanged.measured.compared import Compared
from whatchanged.measured.pixels.boxes import area, common
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import KINDS, Box, Kind, Measured, Statement
from whatchanged.regions.numbers import NUMBERS, PairProposals, read_proposals
from whatchanged.regions.proposals import Proposal
from whatchanged.regions.values import values_of
from whatchanged.worlds import Claim, find_world

Floats = NDArray[np.float32]

SAME = 0.5
"""A place of which so much lies in another one, or the other way round, is not told beside it."""
LIKELY = 0.01
"""Elements that are less probable are left out."""
MODEL_SKIPPED_ABOVE = 0.9
"""Above this measured probability that nothing changed the graph is not asked. Of 252 such drawn pairs of
held-out designs 8 had changed, and the graph told two of those."""
PUSHES = ("added", "removed")
"""Kinds that may have moved the rest."""
PUSHED = 2
"""Pixels by which the rest moved at least, where it is told: a line that is drawn anew may move by one."""


@dataclass(frozen=True)
class RegionJudgement:
    """What the graph says of the places of a pair, as its head tells."""

    kinds: Floats
    elements: Floats
    aspects: Floats
    changed: Floats
    rank: Floats
    verdict: float
    refined: Floats


@dataclass(frozen=True)
class RegionDescription:
    """What a model says of a pair.

    statements: best first; none where no place was proposed. no_change: the calibrated probability that
    nothing visible changed. changed: whether that lies below the model's threshold.
    """

    statements: tuple[Statement, ...]
    no_change: float
    changed: bool


class RegionModel:
    """A model of regions that is loaded and ready. Threads may share it."""

    def __init__(self, bundle: Bundle, threads: int | None = None) -> None:
        """Check the graph and build its session.

        threads: how many an operator may use; None: at most two. Raises BundleError where a file is wrong, or
        the card declares what this version cannot run or what its world has no words for; WhatchangedError
        where ``threads`` is no whole number from 1.
        """
        self.bundle = bundle
        self.card = bundle.card
        self.input, self.settings = _declared(bundle)
        world = find_world(self.card.world)
        if world.language.tell is None:
            raise BundleError(f"{bundle.folder}: the world {world.name} has no words for statements.")
        self._to_words = world.language.tell
        content = bundle.read(REGION_GRAPH)
        self._graph = Graph(bundle.folder / REGION_GRAPH, content, checked_threads(threads))
        _check_graph(self._graph, self.input, self.settings)

    def describe(self, compared: Compared, measured: Measured) -> RegionDescription:
        """What the model says of two pictures, whose measured answer is known."""
        if measured.no_change > MODEL_SKIPPED_ABOVE and measured.verdict != "changed":
            return RegionDescription((), measured.no_change, False)
        proposals = read_proposals(compared, self.input.regions)
        if not proposals.proposals:
            return RegionDescription((), measured.no_change, measured.verdict == "changed")
        judged = self.judge(proposals)
        no_change = self.no_change(judged, measured)
        rest = _rest(measured.statements, proposals.proposals)
        statements = self._statements(compared.before, compared.after, proposals.proposals, judged, rest)
        return RegionDescription(statements, no_change, no_change < self.card.no_change.threshold)

    def judge(self, proposals: PairProposals) -> RegionJudgement:
        """What the graph says of these places, at least one. Raises BundleError."""
        results = self._graph.run(inputs_of(proposals))
        for name, values in results.items():
            wanted = (1,) if name == "verdict" else (len(proposals.proposals), *_widths(self.settings)[name])
            if np.shape(values) != wanted or not np.isfinite(values).all():
                raise BundleError(
                    f"{self._graph.path}: the model answers with {name} of the shape {np.shape(values)};"
                    f" wanted are {wanted}, all finite. Export it again."
                )
        return RegionJudgement(**{**results, "verdict": float(results["verdict"][0])})

    def no_change(self, judged: RegionJudgement, measured: Measured) -> float:
        """The calibrated probability that nothing visible changed, by the model and the measurement."""
        by = self.settings
        both = by.measured_weight * logit(measured.no_change) - by.verdict_weight * judged.verdict
        return self.card.no_change.calibrated(sigmoid(both))

    def _statements(
        self,
        before: Pixels,
        after: Pixels,
        proposals: Sequence[Proposal],
        judged: RegionJudgement,
        rest: tuple[int, int] | None,
    ) -> tuple[Statement, ...]:
        """The best place by its rank; then others that lie elsewhere, as far as they are sure enough.

        rest: how far what follows moved.
        """
        boxes = boxes_of(judged, before, after)
        sure = confidences(judged, self.settings)
        chances = softmax(judged.elements / self.settings.element_temperature)
        results = []
        for number, at in enumerate(self._chosen(judged, proposals, boxes)):
            was, now = boxes[at]
            kind = _kind(self.settings, judged.kinds[at])
            shown = before if kind == "removed" else after
            values = self._values(kind, judged.aspects[at], values_of(kind, before, after, proposals[at]))
            pushed = rest if number == 0 and kind in PUSHES else None
            claim = self._claim(kind, chances[at], boxes[at], values, pushed, shown)
            element, text = self._to_words(claim)
            results.append(
                Statement(
                    kind=kind,
                    box_before=claim.box_before,
                    box_after=claim.box_after,
                    sentence=words.capitalised(text),
                    confidence=float(sure[at]),
                    share=proposals[at].pixels / (shown.shape[0] * shown.shape[1]),
                    values=values,
                    boxes=(was if kind == "removed" else now,),
                    element=element,
                )
            )
        return tuple(results)

    def _chosen(
        self, judged: RegionJudgement, proposals: Sequence[Proposal], boxes: Sequence[tuple[Box, Box]]
    ) -> list[int]:
        """The places that are told: the best one, and of the further ones those that are sure enough."""
        best, *further = order(judged, proposals, boxes)
        return [best, *(at for at in further if chance_of_change(judged, at) > self.settings.told)]

    def _values(self, kind: Kind, aspects: Floats, measured: dict[str, Any]) -> dict[str, Any]:
        """What was measured of a place, behind the finer word for its kind where one is sure enough."""
        aspect = sure_aspect(self.settings, kind, aspects)
        return measured if aspect is None else {"aspect": aspect, **measured}

    def _claim(
        self,
        kind: Kind,
        chances: NDArray[np.float64],
        boxes: tuple[Box, Box],
        values: dict[str, Any],
        rest: tuple[int, int] | None,
        shown: Pixels,
    ) -> Claim:
        """What the world puts into words.

        chances: of each element (E,). shown: the picture that the place is seen in.
        """
        likely = {
            name: float(chance)
            for name, chance in zip(self.settings.elements, chances, strict=True)
            if chance >= LIKELY
        }
        return Claim(
            kind=kind,
            elements=likely,
            named=self.settings.named,
            box_before=None if kind == "added" else boxes[0],
            box_after=None if kind == "removed" else boxes[1],
            values=values,
            rest=rest,
            size=(shown.shape[1], shown.shape[0]),
        )


def inputs_of(proposals: PairProposals) -> dict[str, NDArray[Any]]:
    """What the graph reads."""
    return {"numbers": proposals.numbers, "boxes": proposals.boxes.astype(np.float32)}


def boxes_of(judged: RegionJudgement, before: Pixels, after: Pixels) -> list[tuple[Box, Box]]:
    """The boxes of each place in whole pixels of both pictures, at least one pixel each."""
    return [(_inside(was, before), _inside(now, after)) for was, now in judged.refined]


def order(
    judged: RegionJudgement, proposals: Sequence[Proposal], boxes: Sequence[tuple[Box, Box]]
) -> list[int]:
    """The places that may be told, one after the other.

    The first is the best by its rank. Then those follow that nothing else explains and that lie elsewhere
    than all before them, the likeliest change first.
    """
    chosen = [int(judged.rank.argmax())]
    for at in np.argsort(-judged.changed, kind="stable").tolist():
        if proposals[at].cause and not any(_same(boxes[at], boxes[one]) for one in chosen):
            chosen.append(at)
    return chosen


def chance_of_change(judged: RegionJudgement, index: int) -> float:
    """How probably a place shows a change, of whichever kind; not calibrated."""
    return sigmoid(float(judged.changed[index]))


def confidences(judged: RegionJudgement, by: Statements) -> NDArray[np.float64]:
    """How probably each place's statement is right, (N,); the equation is that of ``Statements``."""
    kind = softmax(judged.kinds / by.kind_temperature).max(axis=1)
    both = np.clip(kind / (1 + np.exp(-np.clip(judged.changed.astype(np.float64), -50, 50))), 1e-7, 1 - 1e-7)
    found: NDArray[np.float64] = 1 / (
        1 + np.exp(-np.clip(by.scale * np.log(both / (1 - both)) + by.shift, -50, 50))
    )
    return found


def sure_aspect(by: Statements, kind: str, logits: Floats) -> str | None:
    """The finer word for a kind, by the logits (A,) of all of them; None where none is sure enough."""
    own = by.aspects.get(kind, ())
    if not own:
        return None
    chances = softmax(logits[aspects_of(by, kind)] / by.aspect_temperature)
    best = int(chances.argmax())
    return own[best] if chances[best] >= by.named else None


def aspects_of(by: Statements, kind: str) -> slice:
    """Where the logits of a kind's finer words stand among all."""
    counts = [len(by.aspects.get(name, ())) for name in by.kinds]
    at = by.kinds.index(kind)
    return slice(sum(counts[:at]), sum(counts[: at + 1]))


def softmax(logits: Floats) -> NDArray[np.float64]:
    """Along the last axis."""
    powers = np.exp(logits.astype(np.float64) - logits.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def sigmoid(value: float) -> float:
    """From a logit to a probability."""
    return 1 / (1 + math.exp(-min(max(value, -700.0), 700.0)))


def logit(probability: float) -> float:
    """From a probability, as far as four digits tell it, to a logit."""
    p = min(max(probability, 1e-4), 1 - 1e-4)
    return math.log(p / (1 - p))


def _kind(by: Statements, logits: Floats) -> Kind:
    name = by.kinds[int(logits.argmax())]
    return next(kind for kind in KINDS if kind == name)


def _inside(box: Floats, pixels: Pixels) -> Box:
    height, width = pixels.shape[:2]
    edges = np.rint(np.nan_to_num(np.clip(box, -1e6, 1e6))).astype(int).tolist()
    left, top = min(max(edges[0], 0), width - 1), min(max(edges[1], 0), height - 1)
    return left, top, min(max(edges[2], left + 1), width), min(max(edges[3], top + 1), height)


def _same(one: tuple[Box, Box], other: tuple[Box, Box]) -> bool:
    """Whether two places are mostly one."""
    return any(common(a, b) >= SAME * min(area(a), area(b)) for a, b in zip(one, other, strict=True))


def _rest(measured: Sequence[Statement], proposals: Sequence[Proposal]) -> tuple[int, int] | None:
    """How far what follows moved, where the measurement says that something did because of another change,
    in what it tells or among the places."""
    rests = [one.values["rest"] for one in measured if "rest" in one.values]
    moves = [{"dx": dx, "dy": dy} for dx, dy in rests]
    moves += [one.values for one in proposals if one.rule == "moved" and not one.cause]
    for values in moves:
        dx, dy = values.get("dx", 0), values.get("dy", 0)
        if max(abs(dx), abs(dy)) >= PUSHED:
            return dx, dy
    return None


def _declared(bundle: Bundle) -> tuple[RegionInput, Statements]:
    """What the card declares. Raises BundleError where this version cannot run it."""
    card = bundle.card
    if not isinstance(card.input, RegionInput) or card.statements is None:
        raise BundleError(f"{bundle.folder}: {card.name} makes no statements about regions.")
    if card.input.numbers != NUMBERS:
        raise BundleError(
            f"{bundle.folder}: {card.name} reads {card.input.numbers} numbers of a place; this version"
            f" measures {NUMBERS}. Export the model again."
        )
    unknown = [kind for kind in card.statements.kinds if kind not in KINDS]
    if unknown or not card.statements.kinds or not card.statements.elements:
        raise BundleError(
            f"{bundle.folder}: {card.name} tells the kinds {', '.join(card.statements.kinds) or 'none'} of"
            f" {len(card.statements.elements)} elements; known kinds are {', '.join(KINDS)}. Export it again."
        )
    return card.input, card.statements


def _widths(settings: Statements) -> dict[str, tuple[int, ...]]:
    """The sizes behind the place of each output that has one row a place."""
    return {
        "kinds": (len(settings.kinds),),
        "elements": (len(settings.elements),),
        "aspects": (sum(len(own) for own in settings.aspects.values()),),
        "changed": (),
        "rank": (),
        "refined": (2, 4),
    }


def _check_graph(graph: Graph, input_: RegionInput, settings: Statements) -> None:
    """Check that the graph fits the card. Raises BundleError."""
    graph.check_names("inputs", set(graph.inputs) | {"boxes"}, {"numbers", "boxes"})
    widths = _widths(settings)
    graph.check_names("outputs", set(graph.outputs), {"verdict", *widths})
    graph.check_shape("numbers", (input_.numbers,))
    for name, width in widths.items():
        graph.check_shape(name, width)
