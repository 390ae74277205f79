"""Points where CLIP4IDC's paper and its released code (sushizixin/CLIP4IDC) differ, a field for each."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CLIP4IDCPreset:
    """One reading of the method."""

    mid_norm: bool  # a layer normalisation stands before the inter blocks
    mean_loss: bool  # the two directions' contrastive losses are averaged, not added
    temperature: bool  # similarities are multiplied by a learned scale, at most 100
    frozen: bool  # CLIP's tables and first layers stay as they are (with ``method.freeze``)
    layer_memory: bool  # decoder layer l reads encoder layer l, not the last one
    clip_words: bool  # the captioner's word table is CLIP's own
    apart: bool  # changed and unchanged pairs are averaged apart


PRESETS = {
    "paper": CLIP4IDCPreset(
        mid_norm=False,
        mean_loss=False,
        temperature=False,
        frozen=False,
        layer_memory=False,
        clip_words=False,
        apart=False,
    ),
    "authors": CLIP4IDCPreset(
        mid_norm=True,
        mean_loss=True,
        temperature=True,
        frozen=True,
        layer_memory=True,
        clip_words=True,
        apart=True,
    ),
}
