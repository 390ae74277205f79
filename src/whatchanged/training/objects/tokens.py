"""How pixels become the grids that a method reads: a backbone, its answers about each cell, the kept tokens.

A picture's tokens may also arrive ready-made (``to_tokens``): the backbone is the dear part, so a stage
that does
not train it reads stored tokens instead of pictures.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from whatchanged.errors import DatasetError, ShapeError
from whatchanged.recipes.schema import VisionConfig
from whatchanged.training.objects import supervision as scene_truth
from whatchanged.training.objects.matching import Matches, Matching
from whatchanged.training.objects.scene_context import SceneContext
from whatchanged.training.vision import patches
from whatchanged.training.vision.backbone import Backbone
from whatchanged.training.vision.base import Batch, Grids, Hidden, StoredFeatures, hide

CHANGE_LABEL_WIDTH = 96
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
SEEING_WEIGHTS = {"center": 1.0, "shape": 2.0, "size": 0.5, "color": 1.0, "material": 1.0, "place": 2.0}
"""Shape is learned last and place decides about moves, so they weigh more."""
SCENE_CONTEXT_WEIGHT = 5.0
"""Of a place beside a size, when all things are read together: sizes are nearly known by then."""


@dataclass(frozen=True)
class Seen:
    """One batch of pictures, seen. features (B, F, h, w); centers (B, h, w) logits; answers: attribute ->
    (B, n, h, w) logits; places (B, 2, h, w) on the ground, in units of ``scene_truth.PLACE_SCALE``."""

    features: Tensor
    centers: Tensor
    answers: dict[str, Tensor]
    places: Tensor


def build_vision(config: VisionConfig) -> nn.Module:
    """The vision that a recipe asks for."""
    if config.kind == "features":
        return StoredFeatures(config.rows, config.columns, config.feature_width)
    return patches.PatchVision(config) if config.kind == "patches" else ObjectVision(config)


def pixel_statistics(config: VisionConfig) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Mean and deviation that a way of seeing normalises pixels with: CLIP's for patches, or ImageNet's."""
    return (patches.MEAN, patches.STD) if config.kind == "patches" else (MEAN, STD)


class ObjectVision(nn.Module):
    """A backbone trained from nothing, its heads, the ``keep`` most object-like cells as tokens, matching.


    A token is its cell's backbone features and the heads' answers, ``raw_width`` = F numbers;
    ``add_match_features`` widens it to ``width`` with what the matching found.
    """

    def __init__(self, config: VisionConfig) -> None:
        super().__init__()
        self.scene_truth = config.scene_truth
        self.mean: Tensor
        self.std: Tensor
        self.register_buffer("mean", torch.tensor(MEAN)[:, None, None], persistent=False)
        self.register_buffer("std", torch.tensor(STD)[:, None, None], persistent=False)
        self.rows, self.columns = config.image_height // 8, config.image_width // 8
        self.patches = config.keep or self.rows * self.columns
        self.backbone = Backbone(config.channels, config.blocks)
        self.heads = nn.Conv2d(self.backbone.width, 1 + sum(scene_truth.ATTRIBUTES.values()) + 2, 1)
        self.raw_width = self.backbone.width + sum(scene_truth.ATTRIBUTES.values())
        self.scene_context = None
        if config.scene_context:
            first = self.backbone.width + scene_truth.ATTRIBUTES["shape"]
            self.scene_context = SceneContext(
                self.raw_width, first, scene_truth.ATTRIBUTES["size"], self.rows, self.columns
            )
        self.matching = Matching(self.raw_width) if config.matching else None
        self.width = self.raw_width
        if config.matching:
            described = 3 * self.raw_width + 13
            self.change_label = nn.Sequential(
                nn.LayerNorm(described), nn.Linear(described, 2 * CHANGE_LABEL_WIDTH), nn.ReLU(),
                nn.Linear(2 * CHANGE_LABEL_WIDTH, CHANGE_LABEL_WIDTH), nn.ReLU(),
            )  # fmt: skip
            self.change_label_head = nn.Linear(CHANGE_LABEL_WIDTH, len(scene_truth.CHANGE_LABELS))
            self.width = described + CHANGE_LABEL_WIDTH

    @property
    def tasks(self) -> Mapping[str, Callable[[Batch], dict[str, Tensor]]]:
        """What scene truth can teach: to see one picture, to match two."""
        if not self.scene_truth:
            return {}
        tasks: dict[str, Callable[[Batch], dict[str, Tensor]]] = {"seeing": self._seeing}
        if self.matching is not None:
            tasks["matching"] = partial(self._match, self.matching)
        return tasks

    def parameters_without_gradient(self, tasks: Collection[str]) -> frozenset[str]:
        """Names of the parameters that none of ``tasks`` gives a gradient when it reads pictures."""
        idle = {"change_label_head"} if "matching" not in tasks else set()
        if set(tasks) <= {"seeing"}:
            idle |= {"scene_context", "matching", "change_label"}
        if not tasks:
            idle |= {"backbone", "heads"}
        return frozenset(name for name, _ in self.named_parameters() if name.partition(".")[0] in idle)

    def collate_truth(self, truths: Sequence[Any]) -> scene_truth.PairTruth | None:
        """The pairs' truth as tensors, where the recipe uses it."""
        return scene_truth.collate_truth(truths) if self.scene_truth and None not in truths else None

    def _seeing(self, batch: Batch) -> dict[str, Tensor]:
        """What each cell of both pictures shows: ``scene_truth.cell_loss``, with ``SEEING_WEIGHTS``."""
        truth = _known(batch)
        if batch.before.ndim != 4:
            raise DatasetError("task seeing reads pictures; got stored tokens. Leave data.features empty.")
        seen = self.see(self.normalise(torch.cat([batch.before, batch.after])))
        answers = {name: logits.float() for name, logits in seen.answers.items()}
        both = scene_truth.join(truth.before, truth.after)
        terms = scene_truth.cell_loss(seen.centers.float(), answers, seen.places.float(), both)
        return {name: SEEING_WEIGHTS[name] * term for name, term in terms.items()}

    def _match(self, matching: Matching, batch: Batch) -> dict[str, Tensor]:
        """Which tokens are one object, what became of each: ``match_loss``, ``change_label_loss``."""
        truth = _known(batch)
        grids = self.grids(batch.before, batch.after)
        with torch.autocast(grids.before.device.type, enabled=False):  # as in ``add_match_features``
            own = (grids.before.float(), grids.after.float())
            matches, described = _describe(matching, grids, *own, (None, None))
        objects = self._objects(grids, truth)
        change_labels = (
            self.change_label_head(self.change_label(described[0])),
            self.change_label_head(self.change_label(described[1])),
        )
        terms = {
            "match": scene_truth.match_loss(matches, objects, truth),
            "change_label": scene_truth.change_label_loss(change_labels, objects, truth),
        }
        if self.scene_context is not None:
            sizes = [features[..., self.scene_context.size] for features in own]
            terms |= scene_truth.scene_context_loss((sizes[0], sizes[1]), _placed(grids)[0], objects, truth)
            terms["place"] = SCENE_CONTEXT_WEIGHT * terms["place"]
        return terms

    def pointing(self, grids: Grids, truth: scene_truth.PairTruth, looked: Tensor, asked: Tensor) -> Tensor:
        """How far words look past the tokens of what they tell of (``scene_truth.pointing_loss``)."""
        missing = looked.shape[1] - truth.mentioned.shape[1]
        mentioned = F.pad(truth.mentioned, (0, 0, 0, 0, 0, missing), value=scene_truth.ABSENT)
        shows = scene_truth.mentioned_tokens(*self._objects(grids, truth), mentioned)
        return scene_truth.pointing_loss(looked, shows, asked)

    def _objects(self, grids: Grids, truth: scene_truth.PairTruth) -> tuple[Tensor, Tensor]:
        return (
            scene_truth.objects_of_tokens(grids.cells_before, truth.before, self.columns),
            scene_truth.objects_of_tokens(grids.cells_after, truth.after, self.columns),
        )

    def normalise(self, pictures: Tensor) -> Tensor:
        """uint8 (B, H, W, 3) -> (B, 3, H, W) with ImageNet's mean and deviation; floats stay as they are."""
        if pictures.dtype != torch.uint8:
            return pictures
        pictures = pictures.permute(0, 3, 1, 2).float() / 255
        return (pictures - self.mean) / self.std

    def see(self, pictures: Tensor) -> Seen:
        """(B, 3, H, W) normalised pictures -> what every cell shows."""
        features = self.backbone(pictures.contiguous(memory_format=torch.channels_last))  # twice as fast
        centers, *answers, places = self.heads(features).split(
            [1, *scene_truth.ATTRIBUTES.values(), 2], dim=1
        )
        return Seen(features, centers[:, 0], dict(zip(scene_truth.ATTRIBUTES, answers, strict=True)), places)

    def to_tokens(self, pictures: Tensor) -> Tensor:
        """(B, 3, H, W) -> (B, N, F + 4): the kept tokens, each with its place (2), salience and cell number.

        Kept are the most salient cells that no neighbour outdoes with the same thing (``peaks``), best first.
        """
        seen = self.see(pictures)
        salience = seen.centers.sigmoid()
        peak = salience * peaks(salience, seen.answers)
        score = (peak + 1e-3 * salience).flatten(1)  # when peaks run out, the next best cells follow
        cells = score.topk(self.patches, dim=1).indices
        answers = [logits.log_softmax(1) for logits in seen.answers.values()]
        grid = torch.cat([seen.features, *answers, seen.places, salience[:, None]], dim=1).flatten(2)
        kept = torch.gather(grid, 2, cells[:, None].expand(-1, grid.shape[1], -1)).transpose(1, 2).float()
        return torch.cat([kept, cells[..., None].to(kept.dtype)], dim=2)  # bf16 would lose digits of cells

    def grids(self, before: Tensor, after: Tensor) -> Grids:
        """Two batches as raw grids: uint8 (B, H, W, 3), normalised (B, 3, H, W), or packed tokens."""
        packed = torch.cat([before, after])
        if packed.ndim == 4:
            packed = self.to_tokens(self.normalise(packed))
        features, places, salience, cells = torch.split(packed, [self.raw_width, 2, 1, 1], dim=2)
        batch = before.shape[0]
        numbers = cells[..., 0].round().long()
        if self.scene_context is not None:
            with torch.autocast(packed.device.type, enabled=False):  # places need more than three digits
                features, places = self.scene_context(
                    features.float(), places.float(), salience.float(), numbers
                )
        return Grids(
            features[:batch], features[batch:], numbers[:batch], numbers[batch:],
            places[:batch], places[batch:], salience[:batch, :, 0], salience[batch:, :, 0],
        )  # fmt: skip

    def add_match_features(self, grids: Grids, hidden: Hidden = (None, None)) -> Grids:
        """What the method's projection reads: each token beside its match in the other picture.

        hidden: (B, N) bool masks of patches to blank, per picture, or None. Features become (B, N, width).
        """
        before, after = hide(grids.before, hidden[0]), hide(grids.after, hidden[1])
        if self.matching is None:
            return grids.replace_features(before, after)
        with torch.autocast(before.device.type, enabled=False):  # places need more than three digits
            _, described = _describe(self.matching, grids, before.float(), after.float(), hidden)
        change_labels = [self.change_label(x) for x in described]
        return grids.replace_features(
            torch.cat([described[0], change_labels[0]], dim=2),
            torch.cat([described[1], change_labels[1]], dim=2),
        )


def peaks(salience: Tensor, answers: Mapping[str, Tensor]) -> Tensor:
    """Whether none of a cell's eight neighbours is more salient and shows the same shape in the same color.

    salience (B, h, w), answers: attribute -> (B, n, h, w) logits; bool (B, h, w). Neighbours that show
    something else do not count: the middles of two things can lie side by side.
    """
    kind = answers["shape"].argmax(1) * scene_truth.ATTRIBUTES["color"] + answers["color"].argmax(1)
    near, other = F.pad(salience, (1, 1, 1, 1)), F.pad(kind, (1, 1, 1, 1), value=-1)
    height, width = salience.shape[1:]
    best = torch.ones_like(salience, dtype=torch.bool)
    for row in range(3):
        for column in range(3):
            beside = slice(row, row + height), slice(column, column + width)
            outdone = near[:, *beside] > salience
            best = best & ~(outdone & (other[:, *beside] == kind))
    return best


def duplicates(features: Tensor, places: Tensor, salience: Tensor) -> Tensor:
    """How surely a picture has another thing of the same shape, size, color and material, and how far from
    that this one stands: (B, N, 3).

        t_i = max_j a_ij,   a_ij = s_i s_j prod_a sum_v p_ia(v) p_ja(v),   a_ii = 0
        d_i = t_i (p_i - sum_j a_ij p_j / sum_j a_ij)

    Attributes do not single such a thing out: a caption has to say on which side of something it stands.
    features: (B, N, F), the last of them the answers' log probabilities; places: (B, N, 2); salience:
    (B, N, 1).
    """
    sizes = list(scene_truth.ATTRIBUTES.values())
    _, *answers = torch.split(features, [features.shape[-1] - sum(sizes), *sizes], dim=-1)
    alike = (salience @ salience.transpose(1, 2)) * (1 - torch.eye(features.shape[1], device=features.device))
    for log_probability in answers:
        probability = log_probability.exp()
        alike = alike * (probability @ probability.transpose(1, 2))
    share = alike / alike.sum(2, keepdim=True).clamp_min(1e-6)
    twin = alike.amax(2, keepdim=True)
    return torch.cat([twin, twin * (places - share @ places)], dim=2)


def _describe(
    matching: Matching, grids: Grids, before: Tensor, after: Tensor, hidden: Hidden
) -> tuple[Matches, tuple[Tensor, Tensor]]:
    """Each token with [own, matched, difference, residual motion (2) and its length, place (2), salience,
    matched salience, share matched nowhere, turn (2), twin, away from it (2)]: 3F + 13 numbers."""
    places, salience = _placed(grids)
    places = (hide(places[0], hidden[0]), hide(places[1], hidden[1]))
    salience = (hide(salience[0], hidden[0]), hide(salience[1], hidden[1]))
    matches = matching((before, after), places, (salience[0][..., 0], salience[1][..., 0]))
    joint = matches.log_joint.exp()
    back = matches.turn * matches.turn.new_tensor([1.0, -1.0])
    described = []
    expected = matches.expected  # both motions are measured on the after view's ground
    for own, other, share, here, start, there, weight, other_weight, turn in (
        (before, after, joint[:, :-1], places[0], expected, places[1], *salience, matches.turn),
        (
            after,
            before,
            joint[:, :, :-1].transpose(1, 2),
            places[1],
            places[1],
            expected,
            *salience[::-1],
            back,
        ),
    ):
        share = share / share.sum(-1, keepdim=True)
        to_tokens = share[..., :-1]
        found = to_tokens / to_tokens.sum(-1, keepdim=True).clamp_min(1e-6)
        matched = found @ other
        motion = found @ there - start
        length = (motion.square().sum(-1, keepdim=True) + 1e-9).sqrt()
        described.append(
            torch.cat([
                own, matched, matched - own, motion, length, here, weight, found @ other_weight,
                share[..., -1:], turn[:, None].expand(-1, own.shape[1], -1), duplicates(own, here, weight),
            ], dim=2)
        )  # fmt: skip
    return matches, (described[0], described[1])


def _placed(grids: Grids) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """Places (B, N, 2) and salience (B, N, 1) of both pictures; only grids that have them can be matched."""
    before, after = grids.places_before, grids.places_after
    weight, other_weight = grids.salience_before, grids.salience_after
    if before is None or after is None or weight is None or other_weight is None:
        raise ShapeError("matching needs each token's place and salience; these grids have none.")
    return (before, after), (weight[..., None], other_weight[..., None])


def _known(batch: Batch) -> scene_truth.PairTruth:
    if batch.truth is None:
        raise DatasetError("tasks seeing and matching need scene truth; this data has none. Use a pool.")
    truth: scene_truth.PairTruth = batch.truth
    return truth
