"""Reads the files of PCL's authors (yaolinli/IDC): ``checkpoint_N.pt`` of pre-training, and those of
fine-tuning.

Pre-training stores its tensors under ``model_state_dict``, fine-tuning without a key. Shapes do not show the
number of heads.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from torch import Tensor

from whatchanged.errors import RecipeError
from whatchanged.training.methods.pcl import PCL
from whatchanged.training.weights.clip_archive import read_tensors
from whatchanged.training.weights.published import (
    CopiedWeights,
    Renamed,
    by_word,
    check_preset,
    copy_published,
    layers_in,
    vocabulary_of,
    words_beside,
)
from whatchanged.vocabulary import SPECIALS, Vocabulary

VOCABULARIES = ("dict.json", "dict_cub_bird.json")
MARKS = {mark: mark for mark in SPECIALS}
STACKS = {"single_img_encoder": "single", "double_img_encoder": "pair", "encoder": "cross"}
_WHOLE = {
    "word_embedding.weight": "embed.words.weight",
    "img_project.0.weight": "embed.project.weight",
    "img_project.0.bias": "embed.project.bias",
    "position_encoding.type_pe.weight": "embed.types.weight",
    "position_encoding.layernorm.a_2": "embed.norm.weight",
    "position_encoding.layernorm.b_2": "embed.norm.bias",
    "output_layer.weight": "output.weight",
    "output_layer.bias": "output.bias",
    "feat_regress.bias": "regressor.bias",
    "feat_regress.net.0.weight": "regressor.net.0.weight",
    "feat_regress.net.0.bias": "regressor.net.0.bias",
    "feat_regress.net.2.a_2": "regressor.net.2.weight",
    "feat_regress.net.2.b_2": "regressor.net.2.bias",
}
_CONSTANT = ("position_encoding.pe", "feat_regress.weight")
"""The sinusoid, and a second copy of the projection's weight."""
_TABLES = ("embed.words.weight", "output.weight", "output.bias")
_PARTS = {
    "attn.q_linear": "attention.query",
    "attn.k_linear": "attention.key",
    "attn.v_linear": "attention.value",
    "attn.out": "attention.out",
    "feed_forward.w_1": "ffn.0",
    "feed_forward.w_2": "ffn.3",
    "sublayer.0.norm": "attention_norm",
    "sublayer.1.norm": "ffn_norm",
}
_KINDS = {"a_2": "weight", "b_2": "bias"}


def load_pcl(method: PCL, path: Path) -> CopiedWeights:
    """Copy a file of the authors into ``method``, and report what was used.

    The heads of the other stage keep their initial values. Raises RecipeError where the file is not one of
    theirs, or its sizes or words differ from the recipe's.
    """
    check_preset(method, path)
    given = read_tensors(path)
    if "word_embedding.weight" not in given or "img_project.0.weight" not in given:
        raise RecipeError(f"{path}: these are no weights of PCL's authors (no word_embedding.weight).")
    rows = words_beside(path, VOCABULARIES, MARKS)
    tensors: dict[str, Tensor] = {}
    sources: dict[str, str] = {}
    unused = []
    for source, tensor in given.items():
        name = _ours(source, given)
        if name:
            tensors[name] = by_word(tensor, rows, method.vocabulary, 0.0, path) if name in _TABLES else tensor
            sources[name] = source
        elif source not in _CONSTANT:
            unused.append(source)
    fine_tuned = "regressor.bias" not in tensors
    learned = frozenset({"caption"} if fine_tuned else {"mlm", "mvcl", "fda"})
    own_start = ("pooler.", "distractor.", *(["regressor."] if fine_tuned else []))
    return copy_published(method, Renamed(tensors, sources, _sizes(given), own_start, learned, unused), path)


def pcl_words(path: Path) -> Vocabulary:
    """Return the vocabulary of an authors' file, read from the file beside it. Raises RecipeError."""
    return vocabulary_of(words_beside(path, VOCABULARIES, MARKS))


def _ours(source: str, given: Mapping[str, Tensor]) -> str:
    """Return our name of one of the file's tensors, or "" for a tensor without a counterpart."""
    if source in _WHOLE:
        return _WHOLE[source]
    if source.startswith("pooler.0."):  # three rows in pre-training; two, of the judge, in fine-tuning
        wide = given["pooler.0.weight"].shape[-1] == 3 * given["word_embedding.weight"].shape[-1]
        return ("pooler." if wide else "distractor.") + source.removeprefix("pooler.0.")
    stack, _, rest = source.partition(".")
    found = re.fullmatch(r"layers\.(\d+)\.(.+)\.(weight|bias|a_2|b_2)", rest)
    if stack not in STACKS:
        return ""
    if rest in ("norm.a_2", "norm.b_2"):
        return f"{STACKS[stack]}.entry_norm.{_KINDS[rest.removeprefix('norm.')]}"
    if found is None or found[2] not in _PARTS:
        return ""
    return f"{STACKS[stack]}.blocks.{found[1]}.{_PARTS[found[2]]}.{_KINDS.get(found[3], found[3])}"


def _sizes(given: Mapping[str, Tensor]) -> dict[str, int]:
    """Return the settings of the recipe that the shapes imply."""
    layers = {f"method.{ours}_layers": layers_in(given, f"{name}.layers.") for name, ours in STACKS.items()}
    ffn = given.get("encoder.layers.0.feed_forward.w_1.weight")
    return {
        "method.width": given["word_embedding.weight"].shape[-1],
        **({} if ffn is None else {"method.ffn": ffn.shape[0]}),
        **layers,
        "vision.feature_width": given["img_project.0.weight"].shape[-1],
    }
