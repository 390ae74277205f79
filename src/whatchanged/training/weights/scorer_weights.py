"""Reads the files of SCORER's authors (tuyunbin/SCORER): ``NAME_checkpoint_N.pt``, with detector and speaker.

The files lack the backward reasoning, which keeps its initial values; captioning does not need it. Shapes do
not show the number of heads. Our vocabulary has two more marks, whose logits have no effect.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from torch import Tensor

from whatchanged.errors import RecipeError
from whatchanged.training.methods.scorer import SCORER
from whatchanged.training.weights.clip_archive import read_tensors
from whatchanged.training.weights.published import (
    NEVER,
    CopiedWeights,
    Renamed,
    by_word,
    check_preset,
    copy_published,
    layers_in,
    vocabulary_of,
    words_beside,
)
from whatchanged.vocabulary import Vocabulary

VOCABULARIES = ("transformer_vocab.json", "vocab.json")
MARKS = {"<NULL>": "<PAD>", "<UNK>": "<UNK>", "<START>": "<BOS>", "<END>": "<EOS>"}
DETECTOR, SPEAKER = "change_detector_state.", "speaker_state."
_WHOLE = {
    "change_detector_state.img.0.bias": "project.bias",
    "change_detector_state.w_embedding.weight": "column_places.weight",
    "change_detector_state.h_embedding.weight": "row_places.weight",
    "change_detector_state.embed_fc.0.weight": "fuse.weight",
    "change_detector_state.embed_fc.0.bias": "fuse.bias",
    "speaker_state.core.embed.weight": "decoder.words.weight",
    "speaker_state.core.fc.0.weight": "decoder.widen.weight",
    "speaker_state.core.fc.0.bias": "decoder.widen.bias",
    "speaker_state.core.fc.2.weight": "decoder.norm.weight",
    "speaker_state.core.fc.2.bias": "decoder.norm.bias",
    "speaker_state.logit.weight": "decoder.output.weight",
    "speaker_state.logit.bias": "decoder.output.bias",
}
_PROJECTION = "change_detector_state.img.0.weight"
_TABLES = {"decoder.words.weight": 0.0, "decoder.output.weight": 0.0, "decoder.output.bias": NEVER}
_NUMBERED = (
    (r"change_detector_state\.scorer\.(\d+)\.attention\.(query|key|value)", r"layers.\1.attention.\2"),
    (r"change_detector_state\.scorer\.(\d+)\.attention\.layer_norm", r"layers.\1.norm"),
    (r"speaker_state\.core\.layer\.(\d+)\.self_attention\.(query|key|value)", r"decoder.layers.\1.own.\2"),
    (
        r"speaker_state\.core\.layer\.(\d+)\.dec_enc_attention\.(query|key|value)",
        r"decoder.layers.\1.cross.\2",
    ),
    (r"speaker_state\.core\.layer\.(\d+)\.norm1", r"decoder.layers.\1.own_norm"),
    (r"speaker_state\.core\.layer\.(\d+)\.norm2", r"decoder.layers.\1.cross_norm"),
    (r"speaker_state\.core\.layer\.(\d+)\.hidden_intermediate\.dense", r"decoder.layers.\1.ffn_in"),
    (r"speaker_state\.core\.layer\.(\d+)\.output\.dense", r"decoder.layers.\1.ffn_out"),
    (r"speaker_state\.core\.layer\.(\d+)\.output\.LayerNorm", r"decoder.layers.\1.ffn_norm"),
)


def load_scorer(method: SCORER, path: Path) -> CopiedWeights:
    """Copy a file of the authors into ``method``, and report what was used.

    Raises RecipeError where the file is not one of theirs, or its sizes or words differ from the recipe's.
    """
    check_preset(method, path)
    given = read_tensors(path)
    if _PROJECTION not in given or "speaker_state.core.embed.weight" not in given:
        raise RecipeError(f"{path}: these are no weights of SCORER's authors (no {_PROJECTION}).")
    rows = words_beside(path, VOCABULARIES, MARKS)
    tensors: dict[str, Tensor] = {}
    sources: dict[str, str] = {}
    for source, tensor in given.items():
        name = _ours(source)
        if not name:
            continue
        if name in _TABLES:
            tensor = by_word(tensor, rows, method.vocabulary, _TABLES[name], path)
        tensors[name] = tensor.flatten(1) if source == _PROJECTION else tensor
        sources[name] = source
    unused = [name for name in given if name not in sources.values()]
    renamed = Renamed(tensors, sources, _sizes(given), ("reasoning.",), frozenset({"caption"}), unused)
    return copy_published(method, renamed, path)


def scorer_words(path: Path) -> Vocabulary:
    """Return the vocabulary of an authors' file, read from the file beside it. Raises RecipeError."""
    return vocabulary_of(words_beside(path, VOCABULARIES, MARKS))


def _ours(source: str) -> str:
    """Return our name of one of the file's tensors, or "" for a tensor without a counterpart."""
    if source == _PROJECTION:
        return "project.weight"
    if source in _WHOLE:
        return _WHOLE[source]
    scale = re.fullmatch(r"change_detector_state\.scorer\.(\d+)\.attention\.logit_scale", source)
    if scale:
        return f"layers.{scale[1]}.matching.log_scale"
    part, _, kind = source.rpartition(".")
    for pattern, target in _NUMBERED:
        if re.fullmatch(pattern, part):
            return f"{re.sub(pattern, target, part)}.{kind}"
    return ""


def _sizes(given: Mapping[str, Tensor]) -> dict[str, int]:
    """Return the settings of the recipe that the shapes imply."""
    projection = given[_PROJECTION]
    sizes = {
        "method.width": projection.shape[0],
        "method.word_width": given["speaker_state.core.embed.weight"].shape[-1],
        "method.layers": layers_in(given, f"{DETECTOR}scorer."),
        "method.decoder_layers": layers_in(given, f"{SPEAKER}core.layer."),
        "vision.feature_width": projection.shape[1] - 2,  # two are coordinates
    }
    grid = {"vision.columns": f"{DETECTOR}w_embedding.weight", "vision.rows": f"{DETECTOR}h_embedding.weight"}
    return sizes | {key: given[name].shape[0] for key, name in grid.items() if name in given}
