"""Reads the files of CLIP4IDC's authors (sushizixin/CLIP4IDC): ``pytorch_model.bin.N``, a state dictionary.

CLIP's own tensors, and those that join the two pictures, have the prefix ``clip.`` and OpenAI's names. The
captioner's tensors have the prefix ``decoder.``; only files of the captioning stage have them.
"""

import re
from collections.abc import Mapping

import torch
from torch import Tensor

CLIP, CAPTIONER = "clip.", "decoder."
SIDES = ("visual.bef_embedding", "visual.aft_embedding")
_TIED = (
    "decoder.embeddings.word_embeddings.weight",
    "decoder.embeddings.position_embeddings.weight",
    "decoder.classifier.cls.predictions.decoder.weight",
)
"""Second copies of CLIP's word table and positions."""
_ATTENTION = {"slf_attn": "self_attention", "enc_attn": "cross_attention"}
_LAYER = {
    "intermediate.dense": "feed_forward.net.0",
    "output.dense": "feed_forward.net.2",
    "output.LayerNorm": "feed_forward.norm",
}
_HEAD = {
    "decoder.embeddings.LayerNorm": "captioner.entry_norm",
    "decoder.classifier.cls.predictions.transform.dense": "captioner.transform",
    "decoder.classifier.cls.predictions.transform.LayerNorm": "captioner.transform_norm",
}


def is_authors(names: Mapping[str, Tensor]) -> bool:
    """Return whether these tensors come from a file of CLIP4IDC's authors, and not from CLIP alone."""
    return any(name.startswith(CLIP) for name in names)


def without_prefix(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the authors' tensors: CLIP's under OpenAI's names, both pictures' marks as one, without tied
    tensors.
    """
    results = {
        name.removeprefix(CLIP): t for name, t in tensors.items() if name not in _TIED and not _buffer(name)
    }
    if all(name in results for name in SIDES):
        results["visual.sides"] = torch.stack([results.pop(name).flatten() for name in SIDES])
    return results


def authors_target(source: str, tensor: Tensor) -> tuple[str, Tensor] | None:
    """Return our name for a tensor of the authors' module, and the content of the tensor; None for an unknown
    name.
    """
    if source == "visual.sides":
        return "pair.sides", tensor
    if source == "visual.joint_positional_embedding":
        return "pair.side_positions", tensor.reshape(2, -1, tensor.shape[-1])
    if source.startswith("visual.ln_mid."):
        return source.replace("visual.ln_mid", "pair.mid_norm"), tensor
    if source == "decoder.classifier.cls.predictions.bias":
        return "captioner.bias", tensor
    part, _, kind = source.rpartition(".")
    if part in _HEAD:
        return f"{_HEAD[part]}.{kind}", tensor
    found = re.fullmatch(r"decoder\.(encoder|decoder)\.layer\.(\d+)\.(.+)", part)
    name = _of_layer(found[3]) if found else ""
    return (f"captioner.{found[1]}.{found[2]}.{name}.{kind}", tensor) if found and name else None


def _of_layer(part: str) -> str:
    """Return our name of a part of a captioner's layer, or "" for an unknown name."""
    if part in _LAYER:
        return _LAYER[part]
    kind, _, rest = part.partition(".")
    found = re.fullmatch(r"att\.(query|key|value)", rest)
    if kind not in _ATTENTION:
        return ""
    if found:
        return f"{_ATTENTION[kind]}.attention.{found[1]}"
    ends = {"output.dense": "attention.out", "output.LayerNorm": "norm"}
    return f"{_ATTENTION[kind]}.{ends[rest]}" if rest in ends else ""


def _buffer(name: str) -> bool:
    """Buffers, which are no weights."""
    return name.endswith("position_ids")
