import contextlib
import resource
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper
from tiny_bundle import CARD, PICTURES, WARY

from whatchanged.captioner import onnx_files
from whatchanged.captioner.bundle import write_bundle
from whatchanged.captioner.card import GridAttention
from whatchanged.captioner.runtime import load
from whatchanged.errors import BundleError
from whatchanged.vocabulary import SPECIALS, Vocabulary


def test_a_threshold_and_the_graph_that_it_is_for_belong_together(bundle_folder, wary_folder):
    write_bundle(bundle_folder, WARY)
    with pytest.raises(BundleError, match="wanted memory_change, no_change, strangeness"):
        load(bundle_folder)
    write_bundle(wary_folder, CARD)
    with pytest.raises(BundleError, match="outputs are memory_change, no_change, strangeness; wanted"):
        load(wary_folder)


def test_a_judge_that_the_card_does_not_name(bundle_folder):
    by_sentences = replace(CARD, no_change=replace(CARD.no_change, by="sentences"))
    write_bundle(bundle_folder, by_sentences)
    with pytest.raises(BundleError, match="outputs are memory_change, no_change; wanted memory_change"):
        load(bundle_folder)


def test_a_graph_that_is_none(bundle_folder):
    (bundle_folder / "encoder.onnx").write_bytes(b"not a graph")
    write_bundle(bundle_folder, CARD)
    with pytest.raises(BundleError, match=r"encoder\.onnx: ONNX Runtime cannot load it"):
        load(bundle_folder)


def test_graphs_that_do_not_keep_the_contract(bundle_folder):
    (bundle_folder / "decoder.onnx").write_bytes((bundle_folder / "encoder.onnx").read_bytes())
    write_bundle(bundle_folder, CARD)
    with pytest.raises(BundleError, match=r"decoder\.onnx: its inputs are after, before; wanted previous"):
        load(bundle_folder)


@pytest.mark.parametrize(
    "change, message",
    [
        (
            {"input": replace(PICTURES, size=(16, 24))},
            r"encoder\.onnx: before is declared as \['B', 3, 16, 24\]",
        ),
        (
            {"attention": GridAttention(3, 2)},
            r"decoder\.onnx: attention is declared as \['B', 2, 2, 3\]; by the card it is",
        ),
        ({"vocabulary": Vocabulary((*SPECIALS, "there"))}, r"log_probabilities is declared as \['B', 13\]"),
    ],
)
def test_a_card_of_other_sizes_than_the_graphs(bundle_folder, change, message):
    write_bundle(bundle_folder, replace(CARD, **change))
    with pytest.raises(BundleError, match=message):
        load(bundle_folder)


def spoil(folder, name, change):
    """A graph of the bundle changed, and its card written anew: hashes fit."""
    model = onnx.load(folder / name)
    change(model.graph)
    onnx.save(model, folder / name)
    write_bundle(folder, CARD)


@pytest.mark.parametrize("name", ["no_change", "log_probabilities"])
def test_an_answer_that_is_not_a_number_is_the_models_fault(bundle_folder, pictures, name):
    def make_nan(graph):
        for node in graph.node:
            node.output[:] = ["finite" if output == name else output for output in node.output]
        graph.initializer.append(numpy_helper.from_array(np.float32(np.nan), "nan"))
        graph.node.append(helper.make_node("Add", ["finite", "nan"], [name]))

    spoil(bundle_folder, "encoder.onnx" if name == "no_change" else "decoder.onnx", make_nan)
    with pytest.raises(BundleError, match=rf"answers with what is not a number \({name}\)"):
        load(bundle_folder).describe(*pictures)


def test_captioning_with_such_a_model_writes_no_line_and_is_no_success(
    bundle_folder, pictures, tmp_path, whatchanged
):
    test_an_answer_that_is_not_a_number_is_the_models_fault(bundle_folder, pictures, "no_change")
    (tmp_path / "pairs.csv").write_text("before,after\nbefore.png,after.png\n")
    out = tmp_path / "out.jsonl"
    code, _, err = whatchanged("caption", tmp_path / "pairs.csv", "-o", out, "--model", bundle_folder)
    assert code == 2 and "not a number" in err and out.read_text() == ""


def outside(where):
    """Put the graph's numbers into a file of the working directory, or of the bundle."""

    def change(graph):
        tensor = graph.initializer[0]
        tensor.ClearField("raw_data")
        tensor.data_location = onnx.TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=where)

    return change


def in_an_attribute(graph):
    node = graph.node.add(op_type="Constant", output=["unused"])
    tensor = node.attribute.add(name="value", type=onnx.AttributeProto.TENSOR).t
    tensor.external_data.add(key="location", value="secret")


def in_a_graph_within(graph):
    node = graph.node.add(op_type="If", input=["c"], output=["unused"])
    inner = node.attribute.add(name="then_branch", type=onnx.AttributeProto.GRAPH).g
    inner.initializer.add().external_data.add(key="location", value="secret")


@pytest.mark.parametrize("change", [outside("secret"), outside("../x"), in_an_attribute, in_a_graph_within])
@pytest.mark.parametrize("name", ["encoder.onnx", "decoder.onnx"])
def test_numbers_outside_of_the_graph_are_refused(bundle_folder, monkeypatch, tmp_path, name, change):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret").write_bytes(bytes(10_000))
    spoil(bundle_folder, name, change)
    with pytest.raises(BundleError, match=rf"{name}: part of the graph lies in another file"):
        load(bundle_folder)


def test_a_graph_with_the_word_in_a_name_is_none_of_these(bundle_folder, pictures):
    def rename(graph):
        graph.name = "location"
        graph.doc_string = "allocation of a location"

    spoil(bundle_folder, "encoder.onnx", rename)
    assert load(bundle_folder).describe(*pictures).sentence == "the square changed"


def test_the_fields_are_those_of_onnx():
    """The tables beside the descriptors of the onnx package: every message that can hold a tensor."""
    kinds = {
        "GraphProto": onnx_files.GRAPH,
        "NodeProto": onnx_files.NODE,
        "AttributeProto": onnx_files.ATTRIBUTE,
        "SparseTensorProto": onnx_files.SPARSE,
        "FunctionProto": onnx_files.FUNCTION,
        "TrainingInfoProto": onnx_files.TRAINING,
        "TensorProto": onnx_files.TENSOR,
    }
    messages = {name: onnx_files.FIELDS[kind] for name, kind in kinds.items()}
    for name, table in {"ModelProto": onnx_files.MODEL, **messages}.items():
        fields = [field for field in getattr(onnx, name).DESCRIPTOR.fields if field.message_type]
        held = {field.number: field.message_type.name for field in fields}
        assert dict(table) == {number: kinds[held[number]] for number in held if held[number] in kinds}, name
    named = onnx.TensorProto.DESCRIPTOR.fields_by_name
    assert named["external_data"].number == onnx_files.EXTERNAL_DATA
    assert named["data_location"].number == onnx_files.DATA_LOCATION


@given(st.binary(max_size=200))
def test_any_bytes_are_self_contained_or_refused(content):
    with contextlib.suppress(BundleError):
        onnx_files.check_self_contained(Path("x"), b"\x0a\x08location" + content)


def test_messages_in_each_other_without_end_are_refused():
    graph = onnx.GraphProto(name="location")
    for _ in range(30):
        outer = onnx.GraphProto()
        outer.node.add().attribute.add().g.CopyFrom(graph)
        graph = outer
    with pytest.raises(BundleError, match="no ONNX file"):
        onnx_files.check_self_contained(Path("x"), onnx.ModelProto(graph=graph).SerializeToString())


def test_a_graph_that_fails_is_one_message(bundle_folder, pictures):
    def fail(graph):
        graph.initializer.append(numpy_helper.from_array(np.array([7, 7]), "wrong"))
        for node in graph.node:
            node.output[:] = ["whole" if output == "no_change" else output for output in node.output]
        graph.node.append(helper.make_node("Reshape", ["whole", "wrong"], ["no_change"]))

    spoil(bundle_folder, "encoder.onnx", fail)
    with pytest.raises(BundleError, match=r"encoder\.onnx: the graph cannot be run"):
        load(bundle_folder).describe(*pictures)


def test_a_graph_that_asks_for_much_memory_is_refused_it(bundle_folder, pictures):
    """8 GB of numbers from a graph of a few hundred bytes; hardly any of it is ever taken."""

    def grow(graph):
        graph.initializer.append(numpy_helper.from_array(np.array([2_000_000, 1000]), "large"))
        for node in graph.node:
            node.output[:] = ["judged" if output == "no_change" else output for output in node.output]
        graph.node.append(helper.make_node("ReduceMax", ["judged"], ["most"], keepdims=0))
        graph.node.append(helper.make_node("Expand", ["most", "large"], ["all"]))
        graph.node.append(helper.make_node("ReduceMean", ["all"], ["level"], keepdims=0))
        graph.node.append(helper.make_node("Min", ["judged", "level"], ["no_change"]))

    spoil(bundle_folder, "encoder.onnx", grow)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(BundleError, match=r"encoder\.onnx: the graph cannot be run.*memory.*--batch-size"):
        load(bundle_folder).describe(*pictures)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1_000_000  # kilobytes


def test_a_graph_that_never_ends_is_ended(bundle_folder, pictures, monkeypatch):
    def loop_on(graph):
        flag = partial(helper.make_tensor_value_info, elem_type=TensorProto.BOOL, shape=[])
        count = helper.make_tensor_value_info("i", TensorProto.INT64, [])
        same = [helper.make_node("Identity", [name], [f"{name}_out"]) for name in ("go", "kept")]
        inputs, outputs = [count, flag("go"), flag("kept")], [flag("go_out"), flag("kept_out")]
        body = helper.make_graph(same, "body", inputs, outputs)
        graph.initializer.append(numpy_helper.from_array(np.array(2**62), "times"))
        graph.initializer.append(numpy_helper.from_array(np.array(True), "yes"))
        graph.node.append(helper.make_node("Loop", ["times", "yes", "yes"], ["end"], body=body))
        for node in graph.node:
            node.output[:] = ["judged" if output == "no_change" else output for output in node.output]
        graph.node.append(helper.make_node("Where", ["end", "judged", "judged"], ["no_change"]))

    spoil(bundle_folder, "encoder.onnx", loop_on)
    monkeypatch.setattr("whatchanged.captioner.onnx_graphs.MOST_SECONDS", 0.5)
    began = time.monotonic()
    with pytest.raises(BundleError, match="the graph cannot be run"):
        load(bundle_folder).describe(*pictures)
    assert time.monotonic() - began < 20
