"""A model of regions of a few kilobytes that really works, built by hand.

Of each place it says how far its fill's colour moved: logits ``changed`` and ``rank`` are 60 times that (0 to
1) less 2, the verdict is that of the place that differs most. Every change is a recolored button, for all it
knows, and boxes stay as they are.
"""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from whatchanged.captioner.bundle import Bundle, write_bundle
from whatchanged.captioner.card import BoxAttention, Card, InDistribution, NoChange, RegionInput, Statements
from whatchanged.regions.numbers import NUMBERS
from whatchanged.vocabulary import Vocabulary

RECOLOURED = 62
"""Which of a place's numbers is the step between the colours of both fills."""
KINDS = ("added", "recolored")
ELEMENTS = ("button", "icon button", "text")
ASPECTS = {"recolored": ("fill", "ink"), "added": ("element",)}
LOGITS = {"kinds": (0.0, 3.0), "elements": (4.0, 1.0, 0.0), "aspects": (1.0, 5.0, 3.0)}
SLOPE, START = 60.0, -2.0

CARD = Card(
    name="tiny-regions",
    version="1",
    method="pcl",
    preset="paper",
    world="screens",
    input=RegionInput(6, NUMBERS),
    attention=BoxAttention(),
    vocabulary=Vocabulary.from_captions(["the button"]),
    max_length=10,
    no_change=NoChange(0.5, 1.0, 0.0, "by hand", ("nothing visible changed",)),
    provenance={},
    in_distribution=InDistribution(0.7, "by hand"),
    statements=Statements(KINDS, ELEMENTS, ASPECTS, 1.0, 1.0, 1.0, 1.0, 0.0, 0.5, 0.8, 1.0, 0.0, "by hand"),
)


def build_regions(folder: Path, card: Card = CARD) -> Bundle:
    """Write the bundle. The graph is that of ``CARD``, whatever the card says."""
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(_graph(), folder / "regions.onnx")
    (folder / "README.md").write_text("# tiny\n", encoding="utf-8")
    return write_bundle(folder, card)


def _graph() -> onnx.ModelProto:
    constants = {
        "recoloured": np.array(RECOLOURED),
        "scale": np.float32(SLOPE),
        "start": np.float32(START),
        **{f"{name}_bias": np.array(values, np.float32) for name, values in LOGITS.items()},
        **{f"{name}_none": np.zeros((NUMBERS, len(values)), np.float32) for name, values in LOGITS.items()},
    }
    nodes = [
        helper.make_node("Gather", ["numbers", "recoloured"], ["step"], axis=1),
        helper.make_node("Mul", ["step", "scale"], ["sloped"]),
        helper.make_node("Add", ["sloped", "start"], ["changed"]),
        helper.make_node("Identity", ["changed"], ["rank"]),
        helper.make_node("ReduceMax", ["changed"], ["verdict"], axes=[0], keepdims=1),
        helper.make_node("Identity", ["boxes"], ["refined"]),
    ]
    for name in LOGITS:
        nodes.append(helper.make_node("MatMul", ["numbers", f"{name}_none"], [f"{name}_same"]))
        nodes.append(helper.make_node("Add", [f"{name}_same", f"{name}_bias"], [name]))
    inputs = [
        helper.make_tensor_value_info("numbers", TensorProto.FLOAT, ["N", NUMBERS]),
        helper.make_tensor_value_info("boxes", TensorProto.FLOAT, ["N", 2, 4]),
    ]
    shapes = {"changed": ["N"], "rank": ["N"], "verdict": [1], "refined": ["N", 2, 4]}
    shapes |= {name: ["N", len(values)] for name, values in LOGITS.items()}
    outputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()
    ]
    tensors = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "tiny", inputs, outputs, tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return model
