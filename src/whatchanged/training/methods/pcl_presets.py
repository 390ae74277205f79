"""The points where PCL's paper and its released code (yaolinli/IDC) differ, one field for each."""

from dataclasses import dataclass


@dataclass(frozen=True)
class PCLPreset:
    """One reading of the method."""

    squash: bool  # a sigmoid follows the projection of the patches
    own_specials: bool  # [IMG1], [IMG2], [CLS] have vectors of their own; otherwise all use the word <CLS>
    types: tuple[int, int, int, int, int, int]  # type of [IMG1], patches 1, [IMG2], patches 2, [CLS], words
    doubled_exponent: bool  # the sinusoid's exponent is 2c/D for column c instead of 2⌊c/2⌋/D
    specials_with_positions: (
        bool  # specials at position 0 and contents from 1; otherwise contents from 0 only
    )
    scaled_words: bool  # word vectors are multiplied by sqrt(D)
    deviation_norm: bool  # ``DeviationNorm`` in place of the standard layer normalisation
    read_pads: bool  # pre-training attends to padding
    regressed_negatives: bool  # MVCL's unmasked negatives are the model's outputs, not original features
    cls_captions: bool  # [CLS] stays in front of the words when captioning
    pooler: bool  # built and never trained
    unused_heads_move: bool  # Adam goes on moving a head in steps whose task does not use it


PRESETS = {
    "paper": PCLPreset(
        squash=False,
        own_specials=True,
        types=(0, 0, 1, 1, 2, 2),
        doubled_exponent=False,
        specials_with_positions=True,
        scaled_words=False,
        deviation_norm=False,
        read_pads=False,
        regressed_negatives=False,
        cls_captions=True,
        pooler=False,
        unused_heads_move=False,
    ),
    "authors": PCLPreset(
        squash=True,
        own_specials=False,
        types=(1, 2, 3, 4, 5, 6),
        doubled_exponent=True,
        specials_with_positions=False,
        scaled_words=True,
        deviation_norm=True,
        read_pads=True,
        regressed_negatives=True,
        cls_captions=False,
        pooler=True,
        unused_heads_move=True,
    ),
}
