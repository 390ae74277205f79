"""A bundle's graphs back into weights, so that training can begin from a model of which there is no more.

Graphs keep most tensors under their names. What the exporter folded is unfolded here:

    y = x M + b            M is a linear layer's weight, transposed; it goes by the name of the bias b
    y = conv(x; W', b')    a convolution and its norm: W', and a norm that only adds b'
    types, specials        PCL's sums of a special vector, a type and a position, taken apart

A norm that only adds has forgotten its statistics, so the backbone can be run, but not trained any more. What
only training needs (regressor, fates) is not in a bundle and keeps its own start.
"""

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from whatchanged.captioner.bundle import Bundle
from whatchanged.errors import BundleError, RecipeError
from whatchanged.recipes.methods.pcl import PCLConfig
from whatchanged.recipes.reader import parse_saved_recipe
from whatchanged.recipes.schema import Recipe
from whatchanged.training.build import make_method
from whatchanged.training.export.graphs import decode_graphs
from whatchanged.training.methods import Method, initialise_from
from whatchanged.training.methods.pcl import PCL
from whatchanged.training.objects.tokens import ObjectVision
from whatchanged.training.validation import decode

PREFIX = "method."
"""Of the names that the exporter gives to a method's tensors."""
PROBES = 4
"""Pairs of noise that graphs and weights are compared on."""


def read_bundle(bundle: Bundle) -> tuple[Recipe, Method]:
    """A bundle's recipe, and its method with its weights, in evaluation mode.

    Raises BundleError where the bundle holds no such model.
    """
    card, where = bundle.card, bundle.folder
    bundle.check()
    try:
        recipe = parse_saved_recipe(str(card.provenance["resolved_recipe"]), f"{where}/bundle.json")
    except (KeyError, RecipeError) as error:
        raise BundleError(
            f"{where}: its recipe cannot be read ({error}). Start from a run's folder."
        ) from error
    supported = isinstance(recipe.method, PCLConfig) and recipe.method.preset == "paper"
    if not supported or recipe.vision.kind != "objects":
        raise BundleError(
            f"{where}: weights are read back from bundles of PCL, preset paper, on a backbone of its own;"
            f" this is {card.method}, preset {card.preset}. Start from the run's folder."
        )
    method = make_method(recipe, card.vocabulary)
    state = _unfolded(
        cast(PCL, method), *(_Graph(bundle.read(f"{name}.onnx")) for name in ("encoder", "decoder"))
    )
    own = method.state_dict()
    wrong = [name for name, tensor in state.items() if name not in own or own[name].shape != tensor.shape]
    if wrong:
        raise BundleError(
            f"{where}: its graphs hold {wrong[0]}, which its recipe has no place for. Export it again."
        )
    method.load_state_dict(state, strict=False)
    method.eval()
    return recipe, method


def initialise_from_bundle(recipe: Recipe, method: Method, bundle: Bundle) -> str:
    """Start a recipe's ``method`` from a bundle's weights; returns what there is to say of it.

    What is taken over, and what is raised: see ``initialise_from``. Raises BundleError, too, where the bundle
    holds no such model, RecipeError where the recipe would train its backbone.
    """
    if recipe.vision.learns and any(stage.learns_vision for stage in recipe.stages):
        raise RecipeError(
            f"{bundle.folder}: a bundle's backbone can be run, but not trained any more. Set train_vision"
            " = false in every stage, or start from the run's folder."
        )
    source = read_bundle(bundle)[1]
    equal = agreement(source, bundle)
    if not equal:
        raise BundleError(
            f"{bundle.folder}: read back, its weights write none of {PROBES} sentences as its graphs do."
            " Start from the run's folder."
        )
    said = initialise_from(method, source, str(bundle.folder))
    return f"{said}; read back, the weights write {equal} of {PROBES} sentences as the bundle's graphs do" + (
        "" if equal == PROBES else " (another version of whatchanged exported it)"
    )


class _Graph:
    """An ONNX graph and its constants, in float32 whatever they are stored in."""

    def __init__(self, content: bytes) -> None:
        self.nodes = list(onnx.load_model_from_string(content).graph.node)
        self.constants: dict[str, Tensor] = {}
        for item in onnx.load_model_from_string(content).graph.initializer:
            values: NDArray[Any] = onnx.numpy_helper.to_array(item)
            if values.dtype in (np.float16, np.float32):
                self.constants[item.name] = torch.from_numpy(values.astype(np.float32))
        for node in self.of("Cast"):
            if node.input[0] in self.constants:
                self.constants[node.output[0]] = self.constants.pop(node.input[0])

    def of(self, kind: str) -> Iterator[Any]:
        """The nodes of one kind, in order."""
        return (node for node in self.nodes if node.op_type == kind)

    def named(self) -> dict[str, Tensor]:
        """Constants under the method's names, and linear weights, which go by their bias."""
        found = {n.removeprefix(PREFIX): t for n, t in self.constants.items() if n.startswith(PREFIX)}
        products = {node.output[0]: node.input[1] for node in self.of("MatMul")}
        for node in self.of("Add"):
            for bias, product in (tuple(node.input), tuple(node.input)[::-1]):
                weight = self.constants.get(products.get(product, ""))
                if bias.startswith(PREFIX) and weight is not None:
                    found[bias.removeprefix(PREFIX).removesuffix("bias") + "weight"] = weight.T
        return found

    def unnamed(self, kind: str, place: int, *shape: int) -> list[Tensor]:
        """The constants without a name, of one shape if given, that nodes of one kind read at one place."""
        names = [node.input[place] for node in self.of(kind) if len(node.input) > place]
        found = [self.constants[n] for n in names if n in self.constants and not n.startswith(PREFIX)]
        return [x for x in found if not shape or x.shape == shape]


def _unfolded(method: PCL, encoder: _Graph, decoder: _Graph) -> dict[str, Tensor]:
    """The method's tensors by name, as far as the graphs hold them."""
    state = {**encoder.named(), **decoder.named()}
    assert isinstance(method.vision, ObjectVision)
    modules = [(f"vision.backbone.{n}", m) for n, m in method.vision.backbone.named_modules()]
    convolutions = [name for name, module in modules if isinstance(module, nn.Conv2d)]
    norms = [(name, module) for name, module in modules if isinstance(module, nn.BatchNorm2d)]
    weights, biases = encoder.unnamed("Conv", 1), encoder.unnamed("Conv", 2)
    for conv, (norm, module), weight, bias in zip(convolutions, norms, weights, biases, strict=False):
        state[f"{conv}.weight"], state[f"{norm}.bias"] = weight, bias
        ones = torch.ones_like(bias)
        state |= {f"{norm}.weight": ones, f"{norm}.running_mean": 0 * ones}
        state[f"{norm}.running_var"] = ones - module.eps
    width = method.config.width
    types, sums = method.embed.types.weight.detach().clone(), encoder.unnamed("LayerNormalization", 0, width)
    kinds, place = method.preset.types, method.embed.positions[0]
    patches, words = (g.unnamed("Add", 1, width) for g in (encoder, decoder))
    for kind, value in zip((kinds[1], kinds[3], kinds[5]), [*patches, *words], strict=False):
        types[kind] = value
    state["embed.types.weight"] = types
    state["embed.specials.weight"] = torch.stack(
        [value - types[kinds[2 * k]] - place for k, value in enumerate(sums)]
    )
    return state


def agreement(method: Method, bundle: Bundle) -> int:
    """On how many of ``PROBES`` pairs of noise the method and the bundle's graphs write the same sentence."""
    width, height = bundle.card.image_size
    light = np.random.default_rng(0).normal(size=(2, PROBES, 3, height, width)).astype(np.float32)
    ours = decode(method, *(torch.from_numpy(x) for x in light))
    theirs = decode_graphs(bundle.folder, light[0], light[1], method.max_length)
    return sum(a.ids == b.ids for a, b in zip(ours, theirs, strict=True))
