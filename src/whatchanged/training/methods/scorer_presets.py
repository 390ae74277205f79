"""The points where SCORER's paper and its released code (tuyunbin/SCORER) differ, one field for each."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ScorerPreset:
    """One reading of the method."""

    match_heads: bool  # each head matches by itself and the heads are summed; otherwise whole tokens match
    learned_scale: bool  # scores are multiplied by exp of a learned number; otherwise divided by a constant
    match_last: bool  # scores come from the last layer's queries and keys; otherwise from the first's
    coordinates: bool  # two channels of coordinates join the features
    project_heads: bool  # attention ends in an output projection (CBR's always does)
    standard_ffn: bool  # a decoder layer adds its feed-forward part to h; otherwise to gelu(W1 h)
    mean_sentence: bool  # CBR's sentence vector is the mean of real words; otherwise sum / L, pads counted
    train_reasoning: bool  # CBR's own parameters learn
    split_kinds: bool  # a scene's changed and unchanged pair have losses and score matrices of their own
    drop_fused: bool  # dropout between D's projection and its ReLU


PRESETS = {
    "paper": ScorerPreset(
        match_heads=True,
        learned_scale=False,
        match_last=False,
        coordinates=False,
        project_heads=True,
        standard_ffn=True,
        mean_sentence=True,
        train_reasoning=True,
        split_kinds=False,
        drop_fused=False,
    ),
    "authors": ScorerPreset(
        match_heads=False,
        learned_scale=True,
        match_last=True,
        coordinates=True,
        project_heads=False,
        standard_ffn=False,
        mean_sentence=False,
        train_reasoning=False,
        split_kinds=True,
        drop_fused=True,
    ),
}
