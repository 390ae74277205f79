"""Object tokens: the cells of a backbone's grid that most likely show the middle of an object.

The backbone takes most of the time, so a stage that does not train it can read stored tokens (``to_tokens``)
instead of pictures. Not part of any published method.

Axis letters: B pairs, N tokens of a picture, F width of a token's own features, h x w the cells.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from whatchanged.errors import DatasetError
from whatchanged.recipes.visions.objects import ObjectsConfig
from whatchanged.training.batches import Batch
from whatchanged.training.objects import supervision
from whatchanged.training.objects.frozen_tokens import Standardised, aligned
from whatchanged.training.objects.landmarks import LANDMARK_NUMBERS, landmarks
from whatchanged.training.objects.match_features import (
    MATCH_NUMBERS,
    Described,
    describe_matches,
    located,
)
from whatchanged.training.objects.matching import Matching
from whatchanged.training.objects.occlusion import OCCLUSION_NUMBERS, Occlusion
from whatchanged.training.objects.scene_context import SceneContext
from whatchanged.training.objects.supervision import ATTRIBUTES, PairTruth
from whatchanged.training.vision.backbone import BackboneVision
from whatchanged.training.vision.base import Hidden, TokenPair, Tokens, hide

CHANGE_LABEL_WIDTH = 96
DETECTION_WEIGHTS = {
    "center": 1.0,
    "shape": 2.0,
    "size": 0.5,
    "color": 1.0,
    "material": 1.0,
    "ground_position": 2.0,
}
"""The weights of the losses of task ``detection``.

Shape has a larger weight because it is learned last. Positions have a larger weight because they decide about
moves.
"""
SCENE_CONTEXT_WEIGHT = 5.0
"""The weight of the position loss relative to the size loss in ``scene_context_loss``. Sizes are nearly known
beforehand."""


@dataclass(frozen=True)
class CellAnswers:
    """The predictions of the heads for every cell of a batch of pictures.

    features (B, C, h, w); centers (B, h, w) logits; attributes: name -> (B, n, h, w) logits; ground_positions
    (B, 2, h, w) in units of ``supervision.POSITION_SCALE``.
    """

    features: Tensor
    centers: Tensor
    attributes: dict[str, Tensor]
    ground_positions: Tensor


class ObjectVision(BackboneVision):
    """A backbone with heads. Its tokens are the ``keep`` cells that most likely show the middle of an object.

    A token holds its cell's backbone features and the heads' predictions, ``raw_width`` = F numbers.
    ``add_match_features`` extends it to ``width`` numbers by features from matching the two pictures.
    """

    def __init__(self, config: ObjectsConfig) -> None:
        super().__init__(config)
        self.guided_attention = config.guided_attention
        self.patches = config.keep or self.rows * self.columns
        answers = sum(ATTRIBUTES.values())
        self.heads = nn.Conv2d(self.backbone.width, 1 + answers + 2, 1)
        self.raw_width = self.width = self.backbone.width + answers
        self.stored_width = self.raw_width + 4  # position (2), salience, cell number
        self.scene_context = None
        if config.scene_context:
            first = self.backbone.width + ATTRIBUTES["shape"]
            sizes = ATTRIBUTES["size"]
            self.scene_context = SceneContext(self.raw_width, first, sizes, self.rows, self.columns)
        self.matching = Matching(self.raw_width) if config.matching else None
        self.occlusion = Occlusion() if config.occlusion else None
        self.landmarks = config.landmarks
        if config.matching:
            described = 3 * self.raw_width + MATCH_NUMBERS
            described += OCCLUSION_NUMBERS if config.occlusion else 0
            self.change_label = nn.Sequential(
                nn.LayerNorm(described),
                nn.Linear(described, 2 * CHANGE_LABEL_WIDTH),
                nn.ReLU(),
                nn.Linear(2 * CHANGE_LABEL_WIDTH, CHANGE_LABEL_WIDTH),
                nn.ReLU(),
            )
            self.change_label_head = nn.Linear(CHANGE_LABEL_WIDTH, len(supervision.CHANGE_LABELS))
            self.width = described + CHANGE_LABEL_WIDTH
            self.width += LANDMARK_NUMBERS if config.landmarks else 0
        self.aligned = config.aligned
        self.standardises = config.frozen
        self.standardised = Standardised(self.width) if config.frozen else None
        if config.frozen:
            self.requires_grad_(False)

    @property
    def tasks(self) -> Mapping[str, Callable[[Batch], dict[str, Tensor]]]:
        """The tasks that learn from the truth of scenes: detection in one picture, matching of two.

        A frozen vision has none.
        """
        if self.standardises:
            return {}
        tasks: dict[str, Callable[[Batch], dict[str, Tensor]]] = {"detection": self._detection}
        if self.matching is not None:
            tasks["matching"] = partial(self._match, self.matching)
        return tasks

    def token_parameters(self) -> frozenset[str]:
        """Return the names of the parameters of the backbone and the heads. For a frozen vision, return the
        names of all parameters.
        """
        if self.standardises:
            return frozenset(name for name, _ in self.named_parameters())
        parts = ("backbone.", "heads.")
        return frozenset(name for name, _ in self.named_parameters() if name.startswith(parts))

    def parameters_without_gradient(self, tasks: Collection[str]) -> frozenset[str]:
        """Return the names of the parameters that get no gradient from any of ``tasks``, if the vision reads
        pictures.
        """
        if self.standardises:
            return self.token_parameters()
        unused = {"change_label_head"} if "matching" not in tasks and not self.landmarks else set()
        if set(tasks) <= {"detection"}:
            unused |= {"scene_context", "matching", "occlusion", "change_label", "change_label_head"}
        if not tasks:
            unused |= {"backbone", "heads"}
        return frozenset(name for name, _ in self.named_parameters() if name.partition(".")[0] in unused)

    def token_state(self) -> Mapping[str, Tensor]:
        """Return the weights of the backbone and the heads."""
        parts = nn.ModuleDict({"backbone": self.backbone, "heads": self.heads})
        return parts.state_dict()

    def collate_truth(self, truths: Sequence[Any]) -> PairTruth | None:
        """Return the ground truth of the pairs as tensors, where every pair has ground truth."""
        return None if None in truths else supervision.collate_truth(truths)

    def attention_terms(
        self, pair: TokenPair, truth: Any, attention: Tensor, words: Tensor
    ) -> dict[str, Tensor]:
        """Guided attention: whether words attend to the objects that they mention (``pointing_loss``)."""
        if not self.guided_attention:
            return {}
        known = _known(truth)
        missing = attention.shape[1] - known.mentioned.shape[1]
        mentioned = F.pad(known.mentioned, (0, 0, 0, 0, 0, missing), value=supervision.ABSENT)
        shows = supervision.mentioned_tokens(*self._objects(pair, known), mentioned)
        return {"pointing": supervision.pointing_loss(attention, shows, words)}

    def _detection(self, batch: Batch) -> dict[str, Tensor]:
        """``supervision.cell_loss`` of both pictures, its terms weighted by ``DETECTION_WEIGHTS``."""
        truth = _known(batch.truth)
        if batch.before.ndim != 4:
            raise DatasetError("task detection reads pictures; got stored tokens. Leave data.tokens empty.")
        found = self.answers(self.normalise(torch.cat([batch.before, batch.after])))
        attributes = {name: logits.float() for name, logits in found.attributes.items()}
        both = supervision.join(truth.before, truth.after)
        positions = found.ground_positions.float()
        terms = supervision.cell_loss(found.centers.float(), attributes, positions, both)
        return {name: DETECTION_WEIGHTS[name] * term for name, term in terms.items()}

    def _match(self, matching: Matching, batch: Batch) -> dict[str, Tensor]:
        """``match_loss`` and ``change_label_loss``; with scene context also ``scene_context_loss``."""
        truth = _known(batch.truth)
        pair = self.tokens(batch.before, batch.after)
        own = (pair.before.features.float(), pair.after.features.float())
        with in_full_precision(own[0]):  # as in ``add_match_features``
            found = describe_matches(matching, self.occlusion, pair, own, (None, None))
        objects = self._objects(pair, truth)
        labels = (
            self.change_label_head(self.change_label(found.numbers[0])),
            self.change_label_head(self.change_label(found.numbers[1])),
        )
        terms = {
            "match": supervision.match_loss(found.matches, objects, truth),
            "change_label": supervision.change_label_loss(labels, objects, truth),
        }
        if self.scene_context is not None:
            sizes = (own[0][..., self.scene_context.size], own[1][..., self.scene_context.size])
            positions = located(pair).positions
            terms |= supervision.scene_context_loss(sizes, positions, objects, truth)
            terms["ground_position"] = SCENE_CONTEXT_WEIGHT * terms["ground_position"]
        return terms

    def _objects(self, pair: TokenPair, truth: PairTruth) -> tuple[Tensor, Tensor]:
        """Return the object that each token shows, -1 for none, (B, N) of both pictures."""
        return (
            supervision.objects_of_tokens(pair.before.cells, truth.before, self.columns),
            supervision.objects_of_tokens(pair.after.cells, truth.after, self.columns),
        )

    def answers(self, pictures: Tensor) -> CellAnswers:
        """(B, 3, H, W) normalised pictures -> the heads' predictions for every cell."""
        features = self.features(pictures)
        sizes = [1, *ATTRIBUTES.values(), 2]
        centers, *attributes, positions = self.heads(features).split(sizes, dim=1)
        return CellAnswers(features, centers[:, 0], dict(zip(ATTRIBUTES, attributes, strict=True)), positions)

    def to_tokens(self, pictures: Tensor) -> Tensor:
        """(B, 3, H, W) -> (B, N, F + 4): the kept tokens, each with its position (2), salience, cell number.

        The most salient cells are kept, best first; cells that are ``peaks`` precede all others.
        """
        found = self.answers(pictures)
        salience = found.centers.sigmoid()
        peak = salience * peaks(salience, found.attributes)
        score = (peak + 1e-3 * salience).flatten(1)  # when peaks run out, the next best cells follow
        cells = score.topk(self.patches, dim=1).indices
        attributes = [logits.log_softmax(1) for logits in found.attributes.values()]
        parts = [found.features, *attributes, found.ground_positions, salience[:, None]]
        grid = torch.cat(parts, dim=1).flatten(2)  # (B, F + 3, h w)
        kept = torch.gather(grid, 2, cells[:, None].expand(-1, grid.shape[1], -1)).transpose(1, 2).float()
        return torch.cat([kept, cells[..., None].to(kept.dtype)], dim=2)  # bf16 would lose digits of cells

    def tokens(self, before: Tensor, after: Tensor) -> TokenPair:
        """uint8 (B, H, W, 3), normalised (B, 3, H, W), or stored tokens (B, N, F + 4)."""
        both = torch.cat([before, after])
        if both.ndim == 4:
            both = self.to_tokens(self.normalise(both))
        features, positions, salience, cells = torch.split(both, [self.raw_width, 2, 1, 1], dim=2)
        numbers = cells[..., 0].round().long()
        if self.scene_context is not None:
            with in_full_precision(both):  # positions need more than three digits
                features, positions = self.scene_context(
                    features.float(), positions.float(), salience.float(), numbers
                )
        batch = before.shape[0]
        first, second = (
            Tokens(
                features[side],
                numbers[side],
                ground_positions=positions[side],
                salience=salience[side, :, 0],
            )
            for side in (slice(batch), slice(batch, None))
        )
        pair = TokenPair(first, second)
        if self.aligned and self.matching is not None:
            with in_full_precision(both):
                pair = aligned(self.matching, pair)
        return pair

    @torch.no_grad()
    def measure(self, before: Tensor, after: Tensor) -> None:
        """From now on, standardise by the tokens of these pairs; see ``StandardisedVision``."""
        if self.standardised is not None:
            features = self._match_features(self.tokens(before, after), (None, None))
            self.standardised.measure(torch.cat(features).flatten(0, 1))

    def add_match_features(self, pair: TokenPair, hidden: Hidden = (None, None)) -> TokenPair:
        """Return each token with the features that its match in the other picture adds, (B, N, width).

        Hidden tokens are zero, and are matched as such. If the vision is frozen, all features are
        standardised.
        """
        before, after = self._match_features(pair, hidden)
        if self.standardised is not None:
            before, after = self.standardised(before), self.standardised(after)
        return TokenPair(pair.before.with_features(before), pair.after.with_features(after))

    def _match_features(self, pair: TokenPair, hidden: Hidden) -> tuple[Tensor, Tensor]:
        """Return the features (B, N, width) of both pictures, not standardised."""
        before, after = hide(pair.before.features, hidden[0]), hide(pair.after.features, hidden[1])
        if self.matching is None:
            return before, after
        with in_full_precision(before):  # positions need more than three digits
            own = (before.float(), after.float())
            found = describe_matches(self.matching, self.occlusion, pair, own, hidden)
        return self._labelled(found, 0), self._labelled(found, 1)

    def _labelled(self, picture: Described, side: int) -> Tensor:
        """One picture's tokens with their change labels, and with landmarks if these are switched on."""
        described = picture.numbers[side]
        label = self.change_label(described)
        parts = [described, label]
        if self.landmarks:
            position, salience = picture.where.positions[side], picture.where.salience[side]
            same = self.change_label_head(label).float().softmax(-1)[..., :1]  # CHANGE_LABELS[0]
            with in_full_precision(described):
                changed = salience * (1 - same)
                parts.append(landmarks(changed, position, salience, picture.duplicates[side]))
        return torch.cat(parts, dim=2)


def peaks(salience: Tensor, attributes: Mapping[str, Tensor]) -> Tensor:
    """Return whether no neighbour of a cell (of eight) is more salient with the same shape and color.

    salience (B, h, w), attributes: name -> (B, n, h, w) logits; bool (B, h, w). Neighbours that show
    something else do not count, because the middles of two objects may be adjacent.
    """
    kind = attributes["shape"].argmax(1) * ATTRIBUTES["color"] + attributes["color"].argmax(1)
    near, other = F.pad(salience, (1, 1, 1, 1)), F.pad(kind, (1, 1, 1, 1), value=-1)
    height, width = salience.shape[1:]
    best = torch.ones_like(salience, dtype=torch.bool)
    for row in range(3):
        for column in range(3):
            beside = slice(row, row + height), slice(column, column + width)
            outdone = near[:, *beside] > salience
            best = best & ~(outdone & (other[:, *beside] == kind))
    return best


def in_full_precision(tensor: Tensor) -> AbstractContextManager[Any]:
    """Return a context without autocast, which meta tensors do not support."""
    return nullcontext() if tensor.is_meta else torch.autocast(tensor.device.type, enabled=False)


def _known(truth: PairTruth | None) -> PairTruth:
    if truth is None:
        raise DatasetError(
            "tasks detection and matching, and guided attention, need the truth of scenes; this data has"
            " none. Use a pool."
        )
    return truth
