"""The weights of a bundle: ``weights.safetensors``, which training can start from.

The file holds the tensors of the method's state dict by their names. Large matrices are stored in 16 bit, as
in graphs that are exported with ``--fp16``; they are read as float32. The metadata has one key,
``whatchanged``, whose value is JSON with the number of the format.

The weights of some bundles were recovered from graphs. The batch norms of such a backbone are folded into its
convolutions:

    norm(conv(x; W)) = conv(x; W') + b'       so gamma = 1, beta = b', mean = 0, variance = 1 - eps

Such a norm gives the right result with its stored statistics, but not with those of a batch. Therefore the
backbone can be run, but not trained.
"""

import json
from collections.abc import Collection, Mapping
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

from whatchanged.captioner.bundle import MANIFEST, WEIGHTS, Bundle
from whatchanged.errors import BundleError, RecipeError
from whatchanged.json_values import read_json
from whatchanged.recipes.reader import parse_saved_recipe
from whatchanged.recipes.schema import Recipe
from whatchanged.training.build import make_method, on_meta
from whatchanged.training.compatibility import current_names
from whatchanged.training.methods import Method, initialise_from

FORMAT = 1
KEY = "whatchanged"
"""The only key of the metadata."""
HALF_FROM = 256
"""Numbers that a tensor must have to be worth storing in 16 bit, in a graph as in the weights. Packed runs
have bounds of their own (``weight_shards``)."""
LARGEST_HALF = 65000
"""The largest number that is stored in 16 bit; the range of float16 ends at 65504."""


def pack_weights(tensors: Mapping[str, Tensor]) -> bytes:
    """Return the bytes of the file for a method's tensors by name."""
    stored = {name: _smaller(tensor.detach().cpu()).contiguous() for name, tensor in tensors.items()}
    return save(stored, {KEY: json.dumps({"format": FORMAT})})


def read_weights(bundle: Bundle) -> dict[str, Tensor]:
    """Return a bundle's tensors by name, in float32. Raises BundleError where there are none or they are
    damaged.
    """
    where = bundle.folder / WEIGHTS
    if not bundle.has_weights:
        raise BundleError(
            f"{bundle.folder}: this model holds no weights to start from, as it was exported by an older"
            f" version: it has no {WEIGHTS}. Export its run again with this version, or start from the run's"
            " folder."
        )
    content = bundle.read(WEIGHTS)
    try:
        tensors = load(content)
        about = read_json(_metadata(content).get(KEY, "null"))
    except (SafetensorError, ValueError, TypeError, KeyError) as error:
        raise BundleError(
            f"{where}: this is no file of weights ({error}). Export the model again."
        ) from error
    found = about.get("format") if isinstance(about, dict) else None
    if found != FORMAT:
        raise BundleError(
            f"{where}: the format of the weights is {found!r}, this version reads {FORMAT}. Update"
            " whatchanged, or export the model again."
        )
    return {name: t.float() if t.is_floating_point() else t for name, t in tensors.items()}


def read_bundle(bundle: Bundle) -> tuple[Recipe, Method, frozenset[str]]:
    """Return a bundle's recipe, its method with its weights in evaluation mode, and the names of missing
    tensors.

    Tensors that the bundle lacks keep their initial values. Raises BundleError where the recipe cannot be
    read, the weights do not fit it, or the bundle lacks more than half of the recipe's numbers.
    """
    where = bundle.folder
    state = current_names(read_weights(bundle))
    try:
        recipe = parse_saved_recipe(str(bundle.card.provenance["resolved_recipe"]), f"{where / MANIFEST}")
    except (KeyError, RecipeError) as error:
        raise BundleError(
            f"{where}: its recipe cannot be read ({error}). Start from a run's folder."
        ) from error
    own = on_meta(recipe, bundle.card.vocabulary).state_dict()
    wrong = [name for name, tensor in state.items() if name not in own or own[name].shape != tensor.shape]
    if wrong:
        raise BundleError(
            f"{where / WEIGHTS}: {wrong[0]} does not fit the recipe of the model ({len(wrong)} tensors do"
            " not). Export the model again."
        )
    missing = frozenset(own.keys() - state.keys())
    new = sum(own[name].numel() for name in missing)
    there = sum(tensor.numel() for tensor in state.values())
    if new > there:  # a stranger's recipe may ask for more than any memory holds
        raise BundleError(
            f"{where / WEIGHTS}: it has {there:,} numbers and lacks {new:,} of those of the model's recipe."
            " Export the model again."
        )
    method = make_method(recipe, bundle.card.vocabulary)
    method.load_state_dict(state, strict=False)
    method.eval()
    return recipe, method, missing


def initialise_from_bundle(recipe: Recipe, method: Method, bundle: Bundle) -> str:
    """Start ``method`` from the weights of a bundle; returns a message that says what was copied.

    ``initialise_from`` describes what is copied and what is raised. Also raises BundleError where the
    bundle's weights are missing or damaged, and RecipeError where ``recipe`` would train a backbone whose
    norms are folded.
    """
    _, source, missing = read_bundle(bundle)
    check_norms(recipe, method, source, str(bundle.folder))
    message = initialise_from(method, source, str(bundle.folder))
    if missing:
        message += f"; the bundle holds no weights of {', '.join(_parts(missing))}, which start anew"
    return message


def has_folded_norms(method: Method) -> bool:
    """Return whether a batch norm of the method was folded into its convolution.

    A new or trained norm never has the statistics of a folded one.
    """
    norms = (module for module in method.modules() if isinstance(module, nn.BatchNorm2d))
    return any(_is_folded(norm) for norm in norms)


def check_norms(recipe: Recipe, method: Method, source: Method, where: str) -> None:
    """Raises RecipeError where ``recipe`` would train tensors of a backbone with folded norms.

    method: of the recipe. source: the method whose weights it starts from. where: their origin, for the
    message.
    """
    own, found = method.state_dict().keys(), source.state_dict().keys()
    taken = [name for name in own & found if name.startswith("vision.")]
    trains = any(stage.learns_vision for stage in recipe.stages)
    if taken and trains and has_folded_norms(source):
        raise RecipeError(
            f"{where}: the batch norms of this model's backbone were folded into its convolutions, so the"
            " backbone can be run but not trained. Set train_vision = false in every stage, or start from a"
            " run that trained its backbone itself."
        )


def _is_folded(norm: nn.BatchNorm2d) -> bool:
    mean, variance = norm.running_mean, norm.running_var
    if mean is None or variance is None:
        return False
    adds_only = bool((norm.weight == 1).all()) and bool((mean == 0).all())
    return adds_only and bool(((variance + norm.eps - 1).abs() < 1e-6).all())


def _parts(names: Collection[str]) -> list[str]:
    """Return the parts of a method to which these tensors belong: ``vision.X``, or the first word of the
    name.
    """
    return sorted({".".join(name.split(".")[: 2 if name.startswith("vision.") else 1]) for name in names})


def _smaller(tensor: Tensor) -> Tensor:
    """Return a large float32 matrix in 16 bit. Any other tensor is returned unchanged."""
    large = tensor.dtype == torch.float32 and tensor.ndim > 1 and tensor.numel() >= HALF_FROM
    return tensor.half() if large and tensor.abs().max() <= LARGEST_HALF else tensor


def _metadata(content: bytes) -> dict[str, Any]:
    """Return the metadata of a safetensors file: JSON after its length in eight bytes."""
    length = int.from_bytes(content[:8], "little")
    return dict(read_json(content[8 : 8 + length]).get("__metadata__") or {})
