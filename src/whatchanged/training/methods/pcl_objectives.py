"""The corruption and the losses of PCL's pre-training tasks: masked words, masked patches, false captions.

Official code: yaolinli/IDC. Axis letters as in ``pcl``: B pairs, N patches, L text positions, K negatives, F
width of raw features, M masked and U unmasked patches of a batch.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from whatchanged.training.batches import Part, draw_rows
from whatchanged.training.vision.base import TokenPair
from whatchanged.vocabulary import BOS, EOS, MASK, PAD

MASKED = 0.15
"""Share of words, of ends and of patches that are masked."""
IGNORED = -100
"""Label of a position that the losses ignore."""


def corrupt_words(
    ids: Tensor, entries: int, generator: torch.Generator | None, part: Part | None = None
) -> tuple[Tensor, Tensor]:
    """Mask words for prediction; returns (inputs, labels), (B, L) each. The loss ignores the label IGNORED.

    A word is chosen with probability 0.15: 80 % of the chosen become MASK, 10 % an id drawn from all
    ``entries`` (specials and itself included), 10 % stay. If no word of a caption is chosen, its first word
    is masked. The end is chosen with probability 0.15 and becomes MASK. ids: (B, L), BOS words EOS PAD.
    part: the rows that this process holds; it uses the random numbers of these rows in the whole batch.
    """
    # Position by position, so that more padding behind draws nothing else for what stands before.
    numbers = draw_rows((*ids.T.shape, 2), generator, ids.device, part, axis=1)  # (L, B, 2)
    draw, stranger = numbers.transpose(0, 1).unbind(-1)
    end = ids == EOS
    word = (ids != PAD) & (ids != BOS) & ~end
    chosen = word & (draw < MASKED)
    forced = torch.zeros_like(chosen)
    forced[:, 1] = ~chosen.any(1)
    masked = forced | (end & (draw < MASKED)) | (chosen & (draw < 0.8 * MASKED))
    swapped = chosen & (draw >= 0.8 * MASKED) & (draw < 0.9 * MASKED)
    strangers = (stranger * entries).long().clamp(max=entries - 1)
    inputs = torch.where(swapped, strangers, ids).masked_fill(masked, MASK)
    return inputs, ids.masked_fill(~(masked | chosen), IGNORED)


def corrupt_patches(
    pair: TokenPair, generator: torch.Generator | None, part: Part | None = None
) -> tuple[Tensor, Tensor]:
    """Choose patches to mask, bool (B, N) for before and for after: in one picture of each pair.

    Each patch is masked with probability 0.15, and the patch with the smallest random number always is. An
    empty picture is never chosen. part: as in ``corrupt_words``.
    """
    features = pair.before.features
    draw = draw_rows(features.shape[:2], generator, features.device, part)
    in_before = draw_rows(features.shape[:1], generator, features.device, part)[:, None] < 0.5
    if pair.single:
        in_before = torch.ones_like(in_before)
    hidden = (draw < MASKED) | (draw == draw.amin(1, keepdim=True))
    return hidden & in_before, (hidden & ~in_before)[:, : pair.after.features.shape[1]]


def cosines(a: Tensor, b: Tensor) -> Tensor:
    """cos(a_i, b_j): (..., P, F), (..., Q, F) -> (..., P, Q); norms are clamped at 1e-12."""
    return F.normalize(a, dim=-1, eps=1e-12) @ F.normalize(b, dim=-1, eps=1e-12).transpose(-1, -2)


def masked_patch_loss(regressed: Tensor, originals: Tensor, unmasked: Tensor, temperature: float) -> Tensor:
    """MVCL in the paper: each masked patch must match its original among the batch's unmasked originals.

        l_i = −log e^{cos(y_i, x_i)/t} / (e^{cos(y_i, x_i)/t} + Σ_{u ∈ U} e^{cos(y_i, x_u)/t}),   mean over M

    regressed y, originals x: (M, F); unmasked: (U, F). At most ln(1 + U e^{2/t}). Source: equations 7, 8.
    """
    positive = (F.normalize(regressed, dim=-1) * F.normalize(originals, dim=-1)).sum(-1, keepdim=True)
    logits = torch.cat([positive, cosines(regressed, unmasked)], dim=1) / temperature
    return F.cross_entropy(logits, torch.zeros_like(logits[:, 0], dtype=torch.long))


def masked_patch_loss_authors(
    y: Tensor, x: Tensor, to_unmasked: Tensor, temperature: float, first: int = 0
) -> Tensor:
    """MVCL in the authors' code: negatives are masked originals and the outputs for unmasked patches.

        l_i = −log e^{cos(y_i, x_i)/t} / (Σ_{j ∈ M} e^{cos(y_i, x_j)/t} + Σ_{u ∈ U} e^{cos(y_i, y_u)/t})

    mean over M. regressed y, originals x: (M, F); to_unmasked: cos(y_i, y_u), (M, U). The y_u get a gradient
    too.
    first: the index of the first y's original, if x holds the originals of a larger batch.
    """
    logits = torch.cat([cosines(y, x), to_unmasked], dim=1) / temperature
    own = torch.arange(first, first + len(logits), device=logits.device)
    return F.cross_entropy(logits, own)


def alignment_loss(similarities: Tensor, temperature: float) -> Tensor:
    """FDA: the true caption, in column 0, must match the pair better than the pair's K false captions.

        L = −(1/B) Σ_b log e^{s_b0/t} / Σ_{k=0..K} e^{s_bk/t}

    similarities: (B, K+1), cosines. At t = 1, K = 6 the loss is between 0.594 and 3.814. Source: the paper's
    equation 9.
    """
    true = torch.zeros_like(similarities[:, 0], dtype=torch.long)
    return F.cross_entropy(similarities / temperature, true)
