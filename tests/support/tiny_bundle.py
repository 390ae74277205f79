"""A bundle of a few kilobytes that really works, built by hand: it says where two flat pictures differ.

Pictures are 24x16, the grid is 2x3 (cells of 8x8). If the mean difference exceeds 0.02 the sentence is "the
square changed", else "there is no change"; the attention to the picture after is the difference itself. A
cache whose length does not fit the position ends the sentence at once. A bundle of ``build_wary`` also knows
grey pictures only: strangeness is the mean of red less the mean of blue, on the scale of 0 to 1.
"""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from whatchanged.captioner.bundle import Bundle, write_bundle
from whatchanged.captioner.card import Card, GridAttention, InDistribution, NoChange, PictureInput
from whatchanged.vocabulary import BOS, EOS, SPECIALS, Vocabulary

SIZE = (24, 16)
GRID = (2, 3)
PICTURES = PictureInput(SIZE, (0.5, 0.5, 0.5), (0.5, 0.5, 0.5))
SENTENCES = ("there is no change", "the square changed")
VOCABULARY = Vocabulary((*SPECIALS, "change", "changed", "is", "no", "square", "the", "there"))
CARD = Card(
    name="tiny",
    version="1",
    method="difference",
    preset="none",
    world="flat",
    input=PICTURES,
    attention=GridAttention(*GRID),
    vocabulary=VOCABULARY,
    max_length=8,
    no_change=NoChange(0.5, 1.0, 0.0, "by hand", ("there is no change",)),
    provenance={"made_by": "tests"},
)
WARY = replace(CARD, in_distribution=InDistribution(0.25, "by hand"))


def build(folder: Path) -> Bundle:
    """Write the bundle into an empty folder."""
    return build_card(folder, CARD)


def build_wary(folder: Path) -> Bundle:
    """The same, telling too how strange its pictures are."""
    return build_card(folder, WARY)


def build_card(folder: Path, card: Card) -> Bundle:
    """The same with another card."""
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(_encoder(card.in_distribution is not None), folder / "encoder.onnx")
    onnx.save(_decoder(), folder / "decoder.onnx")
    (folder / "README.md").write_text("# tiny\n", encoding="utf-8")
    return write_bundle(folder, card)


def _model(nodes, inputs, outputs, constants) -> onnx.ModelProto:
    tensors = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "tiny", inputs, outputs, tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return model


def _value(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def _encoder(wary: bool) -> onnx.ModelProto:
    width, height = SIZE
    nodes = [
        helper.make_node("Sub", ["after", "before"], ["signed"]),
        helper.make_node("Abs", ["signed"], ["difference"]),
        helper.make_node("ReduceMean", ["difference"], ["gray"], axes=[1], keepdims=1),
        helper.make_node("AveragePool", ["gray"], ["pooled"], kernel_shape=[8, 8], strides=[8, 8]),
        helper.make_node("Squeeze", ["pooled", "one"], ["memory_change"]),
        helper.make_node("ReduceMean", ["memory_change"], ["mean"], axes=[1, 2], keepdims=0),
        helper.make_node("Mul", ["mean", "slope"], ["sloped"]),
        helper.make_node("Add", ["sloped", "start"], ["logit"]),
        helper.make_node("Sigmoid", ["logit"], ["no_change"]),
    ]
    pictures = [_value(name, ["B", 3, height, width]) for name in ("before", "after")]
    outputs = [_value("no_change", ["B"]), _value("memory_change", ["B", *GRID])]
    constants = {"one": np.array([1]), "slope": np.float32(-200), "start": np.float32(4)}
    if wary:
        for side in ("before", "after"):
            nodes.append(helper.make_node("ReduceMean", [side], [f"means_{side}"], axes=[2, 3], keepdims=0))
            nodes.append(helper.make_node("MatMul", [f"means_{side}", "red_less_blue"], [f"strange_{side}"]))
        nodes.append(helper.make_node("Concat", ["strange_before", "strange_after"], ["strangeness"], axis=1))
        outputs.append(_value("strangeness", ["B", 2]))
        constants["red_less_blue"] = np.array([[0.5], [0], [-0.5]], np.float32)  # the deviations are 0.5
    return _model(nodes, pictures, outputs, constants)


def _decoder() -> onnx.ModelProto:
    size = len(VOCABULARY)
    nodes = [
        helper.make_node("ReduceMean", ["memory_change"], ["mean"], axes=[1, 2], keepdims=0),
        helper.make_node("Greater", ["mean", "limit"], ["is_changed"]),
        helper.make_node("Unsqueeze", ["is_changed", "one"], ["column"]),
        helper.make_node("Gather", ["same", "previous"], ["if_same"]),
        helper.make_node("Gather", ["different", "previous"], ["if_different"]),
        helper.make_node("Where", ["column", "if_different", "if_same"], ["wanted"]),
        helper.make_node("Shape", ["cache_words"], ["length"], start=3, end=4),
        helper.make_node("Add", ["length", "one"], ["expected"]),
        helper.make_node("Sub", ["expected", "position"], ["off"]),
        helper.make_node("Abs", ["off"], ["distance"]),
        helper.make_node("Cast", ["distance"], ["penalty"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["penalty", "ending"], ["bonus"]),
        helper.make_node("Add", ["wanted", "bonus"], ["logits"]),
        helper.make_node("LogSoftmax", ["logits"], ["log_probabilities"], axis=1),
        helper.make_node("Sub", ["memory_change", "memory_change"], ["cold"]),
        helper.make_node("Unsqueeze", ["cold", "one"], ["attention_before"]),
        helper.make_node("Unsqueeze", ["memory_change", "one"], ["attention_after"]),
        helper.make_node("Concat", ["attention_before", "attention_after"], ["attention"], axis=1),
        helper.make_node("Cast", ["previous"], ["said"], to=TensorProto.FLOAT),
        helper.make_node("Reshape", ["said", "cell"], ["latest"]),
        helper.make_node("Concat", ["cache_words", "latest"], ["next_cache_words"], axis=3),
    ]
    inputs = [
        _value("previous", ["B"], TensorProto.INT64),
        _value("position", [], TensorProto.INT64),
        _value("memory_change", ["B", *GRID]),
        _value("cache_words", ["B", 1, 1, "t", 1]),
    ]
    outputs = [
        _value("log_probabilities", ["B", size]),
        _value("attention", ["B", 2, *GRID]),
        _value("next_cache_words", ["B", 1, 1, "u", 1]),
    ]
    ending = np.zeros(size, np.float32)
    ending[EOS] = 1000
    constants = {
        "limit": np.float32(0.02),
        "one": np.array([1]),
        "same": _bigrams(SENTENCES[0]),
        "different": _bigrams(SENTENCES[1]),
        "ending": ending,
        "cell": np.array([-1, 1, 1, 1, 1]),
    }
    return _model(nodes, inputs, outputs, constants)


def _bigrams(sentence: str) -> np.ndarray:
    """Logits (V, V) under which each word is followed by the next of the sentence."""
    table = np.zeros((len(VOCABULARY), len(VOCABULARY)), np.float32)
    words = [BOS, *VOCABULARY.word_ids(sentence), EOS]
    for word, following in pairwise(words):
        table[word, following] = 10
    return table
