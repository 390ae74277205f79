"""Copies CLIP's weights, or those of CLIP4IDC's authors, into CLIP4IDC.

CLIP's files have one of three layouts of names: OpenAI's; open_clip's, which has the same names, with or
without ``text.`` before those of the text tower; and Hugging Face's ``CLIPModel``. All are translated to
OpenAI's names first, then to ours. For the files of CLIP4IDC's authors see ``clip4idc_weights``.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import torch
from torch import Tensor

from whatchanged.bpe import BPEVocabulary
from whatchanged.errors import RecipeError
from whatchanged.training.methods.clip4idc import CLIP4IDC, NEW
from whatchanged.training.weights.clip4idc_weights import (
    CAPTIONER,
    authors_target,
    is_authors,
    without_prefix,
)
from whatchanged.training.weights.clip_archive import read_tensors
from whatchanged.training.weights.published import CopiedWeights, check_preset

NOT_WEIGHTS = ("input_resolution", "context_length", "vocab_size")
"""Entries of OpenAI's archives that are no weights; Hugging Face's files have ``position_ids``."""
TEXT = ("token_embedding.", "positional_embedding", "transformer.", "ln_final.", "text_projection")

_HUGGING_FACE = (
    (r"vision_model\.embeddings\.patch_embedding\.weight", "visual.conv1.weight"),
    (r"vision_model\.embeddings\.class_embedding", "visual.class_embedding"),
    (r"vision_model\.embeddings\.position_embedding\.weight", "visual.positional_embedding"),
    (r"vision_model\.pre_layrnorm\.(.*)", r"visual.ln_pre.\1"),  # the misspelling is theirs
    (r"vision_model\.post_layernorm\.(.*)", r"visual.ln_post.\1"),
    (r"vision_model\.encoder\.layers\.(.*)", r"visual.transformer.resblocks.\1"),
    (r"visual_projection\.weight", "visual.proj"),
    (r"text_model\.embeddings\.token_embedding\.weight", "token_embedding.weight"),
    (r"text_model\.embeddings\.position_embedding\.weight", "positional_embedding"),
    (r"text_model\.encoder\.layers\.(.*)", r"transformer.resblocks.\1"),
    (r"text_model\.final_layer_norm\.(.*)", r"ln_final.\1"),
    (r"text_projection\.weight", "text_projection"),
)
_HUGGING_FACE_BLOCK = (
    (".layer_norm1.", ".ln_1."),
    (".layer_norm2.", ".ln_2."),
    (".mlp.fc1.", ".mlp.c_fc."),
    (".mlp.fc2.", ".mlp.c_proj."),
    (".self_attn.out_proj.", ".attn.out_proj."),
)
_OURS = {
    "visual.class_embedding": "pair.class_token",
    "visual.positional_embedding": "pair.positions",
    "visual.ln_pre.weight": "pair.entry_norm.weight",
    "visual.ln_pre.bias": "pair.entry_norm.bias",
    "visual.ln_post.weight": "pair.exit_norm.weight",
    "visual.ln_post.bias": "pair.exit_norm.bias",
    "token_embedding.weight": "words.weight",
    "positional_embedding": "text_positions",
    "ln_final.weight": "text.exit_norm.weight",
    "ln_final.bias": "text.exit_norm.bias",
    "logit_scale": "log_scale",
}
_OUR_BLOCK = {
    "attn.out_proj": "attention.out",
    "ln_1": "attention_norm",
    "ln_2": "ffn_norm",
    "mlp.c_fc": "grow",
    "mlp.c_proj": "shrink",
}


def load_clip(method: CLIP4IDC, path: Path) -> CopiedWeights:
    """Copy the weights of a CLIP file, or of CLIP4IDC's authors, into ``method``, and report what was used.

    Tensors that the file lacks (in CLIP: the new ones of the pair encoder, the captioner) keep their initial
    values. Raises RecipeError if a required tensor is missing or has another shape; ``method`` then stays
    unchanged.
    """
    tensors = read_tensors(path)
    authors = is_authors(tensors)
    if authors:
        check_preset(method, path)
        tensors = without_prefix(tensors)
    own, given = method.state_dict(), to_openai(tensors)
    wanted, learned = _of_clip(method), frozenset[str]()
    if authors:
        captions = any(name.startswith(CAPTIONER) for name in given)
        learned = frozenset({"retrieval", "caption"} if captions else {"retrieval"})
        wanted = {
            name
            for name, _ in method.named_parameters()
            if not name.startswith("vision.") and (captions or not name.startswith("captioner."))
        }
    placed = {
        name: (source, t) for source, tensor in given.items() for name, t in _targets(method, source, tensor)
    }
    fits = {n: (s, t) for n, (s, t) in placed.items() if n in own and own[n].shape == t.shape}
    used = {source for source, _ in fits.values()}
    report = CopiedWeights(
        tuple(sorted(used)),
        tuple(sorted(given.keys() - used - {s for n, (s, _) in placed.items() if n in own})),
        tuple(sorted(wanted - placed.keys())),
        tuple(
            f"{n} (got {tuple(t.shape)}, wanted {tuple(own[n].shape)})"
            for n, (_, t) in sorted(placed.items())
            if n in own and own[n].shape != t.shape
        ),
        learned if authors else None,
    )
    if report.missing or report.mismatched:
        words = any("words.weight" in name for name in report.mismatched)
        cure = "method.* and vision.* must have the sizes of the model that the weights are of"
        if words and not isinstance(method.vocabulary, BPEVocabulary):
            cure = "CLIP's word table needs CLIP's byte pairs: --set data.merges=bpe_simple_vocab_16e6.txt.gz"
        raise RecipeError(f"{path}: these weights do not fit. {report}. {cure[0].upper()}{cure[1:]}.")
    method.load_state_dict({name: tensor for name, (_, tensor) in fits.items()}, strict=False)
    return report


def to_openai(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return a file's tensors under OpenAI's names, whatever their layout."""
    kept = {n: t for n, t in tensors.items() if n not in NOT_WEIGHTS and not n.endswith("position_ids")}
    if any(name.startswith("vision_model.") for name in kept):
        return _from_hugging_face(kept)
    bare = {n: n.removeprefix("text.") for n in kept}
    return {bare[n] if bare[n].startswith(TEXT) else n: t for n, t in kept.items()}


def _from_hugging_face(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    results: dict[str, Tensor] = {}
    for source, tensor in tensors.items():
        name = source
        for pattern, target in _HUGGING_FACE:
            name = re.sub(f"^{pattern}$", target, name)
        for old, new in _HUGGING_FACE_BLOCK:
            name = name.replace(old, new)
        projection = name in ("visual.proj", "text_projection")
        results[name] = tensor.T if projection else tensor
    for query in [name for name in results if ".self_attn.q_proj." in name]:
        parts = [query.replace(".q_proj.", f".{part}_proj.") for part in "qkv"]
        if all(part in results for part in parts):
            joined = query.replace(".self_attn.q_proj.", ".attn.in_proj_")
            results[joined] = torch.cat([results.pop(part) for part in parts])
    return results


def _targets(method: CLIP4IDC, source: str, tensor: Tensor) -> Iterator[tuple[str, Tensor]]:
    """Yield our names for one of OpenAI's tensors, and their contents; nothing for an unknown name."""
    block = re.fullmatch(r"(visual\.)?transformer\.resblocks\.(\d+)\.(.+)", source)
    if source == "visual.conv1.weight":
        yield "pair.patches.weight", tensor.flatten(1)
    elif source in ("visual.proj", "text_projection"):
        yield ("pair" if source == "visual.proj" else "text") + ".project.weight", tensor.T
    elif block:
        number, alone = int(block[2]), len(method.pair.intra)
        place = f"text.blocks.{number}"
        if block[1]:
            place = f"pair.intra.{number}" if number < alone else f"pair.inter.{number - alone}"
        if block[3] in ("attn.in_proj_weight", "attn.in_proj_bias"):
            kind = block[3].removeprefix("attn.in_proj_")
            for part, third in zip(("query", "key", "value"), tensor.chunk(3), strict=True):
                yield f"{place}.attention.{part}.{kind}", third
        else:
            part, _, kind = block[3].rpartition(".")
            if part in _OUR_BLOCK:
                yield f"{place}.{_OUR_BLOCK[part]}.{kind}", tensor
    elif own := authors_target(source, tensor):
        yield own
    elif source in _OURS:
        name = _OURS[source]
        tables = {"words.weight": "captioner.words.weight", "text_positions": "captioner.positions"}
        yield tables.get(name, name) if method.config.variant == "ft2" else name, tensor


def _of_clip(method: CLIP4IDC) -> set[str]:
    """Return the names of our parameters that CLIP has."""
    copied = ("captioner.words.", "captioner.positions") if method.config.variant == "ft2" else ()
    return {
        name
        for name, _ in method.named_parameters()
        if not name.startswith(("captioner.", "vision.", *NEW)) or (copied and name.startswith(copied))
    }
