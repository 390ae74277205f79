import contextlib
import resource
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper
from support.tiny_bundle import CARD, PICTURES, WARY

from whatchanged.captioner import onnx_files
from whatchanged.captioner.bundle import SHIPPED, write_bundle
from whatchanged.captioner.card import GridAttention
from whatchanged.captioner.onnx_graphs import first_state
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
    with pytest.raises(BundleError, match=r"encoder\.onnx: this is no ONNX file"):
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


@pytest.mark.parametrize("change", [outside("secret"), outside("../x"), in_an_attribute])
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
    """The tables beside the descriptors of the onnx package: what can hold a tensor or a graph."""
    kinds = {
        "GraphProto": onnx_files.GRAPH,
        "NodeProto": onnx_files.NODE,
        "AttributeProto": onnx_files.ATTRIBUTE,
        "SparseTensorProto": onnx_files.SPARSE,
        "TensorProto": onnx_files.TENSOR,
    }
    dangerous = {*kinds, "FunctionProto", "TrainingInfoProto"}
    for name, kind in {"ModelProto": None, **kinds}.items():
        known = {*(onnx_files.MODEL if kind is None else onnx_files.FIELDS[kind])}
        known |= {*onnx_files.REFUSED.get(kind, {})}
        descriptor = getattr(onnx, name).DESCRIPTOR
        held = {f.number for f in descriptor.fields if f.message_type and f.message_type.name in dangerous}
        assert held <= known, name
    tensor = onnx.TensorProto.DESCRIPTOR.fields_by_name
    assert tensor["external_data"].number == onnx_files.EXTERNAL_DATA
    assert tensor["data_location"].number == onnx_files.DATA_LOCATION
    assert tensor["data_type"].number == onnx_files.KIND_OF_NUMBERS
    assert tensor["string_data"].number in onnx_files.REFUSED[onnx_files.TENSOR]
    assert onnx.TensorProto.STRING == onnx_files.TEXT
    node = onnx.NodeProto.DESCRIPTOR.fields_by_name
    assert (node["op_type"].number, node["domain"].number) == (onnx_files.OPERATOR, onnx_files.DOMAIN)
    attribute = onnx.AttributeProto.DESCRIPTOR.fields_by_name
    numbers = (attribute["name"].number, attribute["i"].number)
    assert numbers == (onnx_files.ATTRIBUTE_NAME, onnx_files.ATTRIBUTE_NUMBER)


def test_every_operator_is_one_of_onnx():
    """A misspelt name would allow nothing."""
    if onnx.defs.onnx_opset_version() < 24:
        pytest.skip("this onnx is older than some of the operators")
    assert {schema.name for schema in onnx.defs.get_all_schemas()} >= onnx_files.OPERATORS


@pytest.mark.parametrize(
    "path", sorted(SHIPPED.glob("*/*.onnx")), ids=lambda path: str(path.relative_to(SHIPPED))
)
def test_the_shipped_graphs_hold_what_any_graph_may(path):
    onnx_files.check_graph(path, path.read_bytes())


@given(st.binary(max_size=200))
def test_any_bytes_are_allowed_or_refused(content):
    with contextlib.suppress(BundleError):
        onnx_files.check_graph(Path("x"), content)


def model_of(*nodes, functions=(), **more) -> bytes:
    graph = helper.make_graph(nodes, "g", [], [], **more)
    return onnx.ModelProto(graph=graph, functions=functions).SerializeToString()


def node(operator, **attributes):
    return helper.make_node(operator, ["a"], ["b"], **attributes)


def text_attribute(**attributes):
    return helper.make_node("Constant", [], ["b"], **attributes)


BODY = helper.make_graph([], "body", [], [])
TEXTS = helper.make_tensor("t", TensorProto.STRING, [1], [b"x"])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (model_of(node("Loop", body=BODY)), "operator Loop"),
        (model_of(node("Scan", body=BODY, num_scan_inputs=1)), "operator Scan"),
        (model_of(node("If", then_branch=BODY, else_branch=BODY)), "operator If"),
        (model_of(node("SequenceMap", body=BODY)), "operator SequenceMap"),
        (model_of(node("StringConcat")), "operator StringConcat"),
        (model_of(node("Unique")), "operator Unique"),
        (model_of(node("Relu", domain="com.microsoft")), "an operator of com.microsoft"),
        (model_of(node("Relu", body=BODY)), "a graph within the graph"),
        (model_of(node("Relu", bodies=[BODY])), "graphs within the graph"),
        (model_of(node("Cast", to=TensorProto.STRING)), "holds texts"),
        (model_of(text_attribute(value_string="x")), "holds texts"),
        (model_of(text_attribute(value_strings=["x"])), "holds texts"),
        (model_of(text_attribute(value=TEXTS)), "holds texts"),
        (model_of(node("Relu"), initializer=[TEXTS]), "holds texts"),
        (
            model_of(functions=[helper.make_function("x", "f", [], [], [], [helper.make_opsetid("", 17)])]),
            "functions of its own",
        ),
        (
            onnx.ModelProto(training_info=[onnx.TrainingInfoProto()]).SerializeToString(),
            "a graph for training",
        ),
    ],
)
def test_a_graph_holds_known_operators_alone(content, said):
    with pytest.raises(BundleError, match=said):
        onnx_files.check_graph(Path("x"), content)


def test_functions_that_call_each_other_are_refused_before_they_are_loaded(bundle_folder):
    """Each of 40 functions calls the one before it twice: written out they would be 2 ** 40 operators."""
    model = onnx.load(bundle_folder / "encoder.onnx")
    opset = [helper.make_opsetid("", 17), helper.make_opsetid("x", 1)]
    for number in range(40):
        inner = ("Relu", "") if number == 0 else (f"f{number - 1}", "x")
        twice = [
            helper.make_node(inner[0], ["a"], ["m"], domain=inner[1]),
            helper.make_node(inner[0], ["m"], ["b"], domain=inner[1]),
        ]
        model.functions.append(helper.make_function("x", f"f{number}", ["a"], ["b"], twice, opset))
    model.opset_import.append(helper.make_opsetid("x", 1))
    onnx.save(model, bundle_folder / "encoder.onnx")
    write_bundle(bundle_folder, CARD)
    with pytest.raises(BundleError, match=r"encoder\.onnx: the graph holds functions of its own"):
        load(bundle_folder)


@pytest.mark.parametrize(
    ("operators", "said"),
    [
        ([("Cast", {"to": TensorProto.STRING})], "holds texts"),
        ([("SequenceConstruct", {})], "operator SequenceConstruct"),
        ([("Unsqueeze", {})], r"no_change has the shape \[1, 1\]"),
        ([("ReduceMax", {"keepdims": 0})], r"no_change has the shape \[\] for 1 rows"),
    ],
)
def test_an_answer_of_another_kind_or_shape_is_one_message(bundle_folder, pictures, operators, said):
    """What a graph declares of its outputs need not be what it answers with."""

    def other(graph):
        graph.initializer.append(numpy_helper.from_array(np.array([1]), "first"))
        for item in graph.node:
            item.output[:] = ["judged" if output == "no_change" else output for output in item.output]
        for operator, attributes in operators:
            inputs = ["judged", "first"] if operator == "Unsqueeze" else ["judged"]
            graph.node.append(helper.make_node(operator, inputs, ["no_change"], **attributes))
        (declared,) = [item for item in graph.output if item.name == "no_change"]
        declared.type.tensor_type.ClearField("shape")

    spoil(bundle_folder, "encoder.onnx", other)
    with pytest.raises(BundleError, match=said):
        load(bundle_folder).describe(*pictures)


def declared(shape, kind="tensor(float)"):
    return SimpleNamespace(shape=shape, type=kind)


def test_a_state_begins_empty_or_as_the_encoder_says():
    inputs = {
        "previous": declared(["batch"], "tensor(int64)"),
        "cache_keys": declared(["batch", 2, 4, "length", 8]),
        "cache_ids": declared(["batch", None], "tensor(int64)"),
        "cache_h": declared(["batch", 5]),
    }
    h = np.ones((3, 5), np.float32)
    encoded = {"memory_x": h, "first_cache_h": h}
    state = first_state(inputs, encoded, 3)
    assert {name: value.shape for name, value in state.items()} == {
        "cache_keys": (3, 2, 4, 0, 8),
        "cache_ids": (3, 0),
        "cache_h": (3, 5),
    }
    assert state["cache_ids"].dtype == np.int64 and state["cache_keys"].dtype == np.float32
    assert state["cache_h"] is h and encoded == {"memory_x": h}


def reshape_state(shape, kind=TensorProto.FLOAT):
    """Declare the tiny decoder's state anew."""

    def change(graph):
        (state,) = [item for item in graph.input if item.name == "cache_words"]
        state.CopyFrom(helper.make_tensor_value_info("cache_words", kind, shape))

    return change


def test_a_state_that_cannot_begin_is_refused(bundle_folder):
    spoil(bundle_folder, "decoder.onnx", reshape_state(["B", 1, 1, 10**12, 1]))
    said = (
        r"cache_words is declared as \['B', 1, 1, 1000000000000, 1\], so it never is empty, and the encoder"
    )
    with pytest.raises(BundleError, match=said):
        load(bundle_folder)


def test_a_first_state_that_no_decoder_reads_is_refused(bundle_folder):
    def say(graph):
        graph.node.append(helper.make_node("Identity", ["no_change"], ["first_cache_other"]))
        graph.output.append(helper.make_tensor_value_info("first_cache_other", TensorProto.FLOAT, ["B"]))

    spoil(bundle_folder, "encoder.onnx", say)
    with pytest.raises(BundleError, match="outputs are first_cache_other, memory_change, no_change; wanted"):
        load(bundle_folder)


def test_the_encoder_says_what_a_state_begins_with(bundle_folder, pictures):
    """The tiny decoder ends a sentence whose state is not as long as its words: one row more ends it."""

    def begin(graph):
        graph.initializer.append(numpy_helper.from_array(np.array([-1, 1, 1, 1, 1]), "row"))
        graph.node.append(helper.make_node("Reshape", ["no_change", "row"], ["first_cache_words"]))
        value = helper.make_tensor_value_info("first_cache_words", TensorProto.FLOAT, ["B", 1, 1, 1, 1])
        graph.output.append(value)

    for beams in (1, 3):
        assert load(bundle_folder).describe(*pictures, beams=beams).sentence == "the square changed"
    spoil(bundle_folder, "encoder.onnx", begin)
    for beams in (1, 3):
        assert load(bundle_folder).describe(*pictures, beams=beams).sentence == ""


def test_messages_in_each_other_without_end_are_refused(monkeypatch):
    tensor = onnx.AttributeProto(t=onnx.TensorProto(dims=[1]))
    content = onnx.ModelProto(graph=onnx.GraphProto(node=[onnx.NodeProto(attribute=[tensor])]))
    onnx_files.check_graph(Path("x"), content.SerializeToString())
    monkeypatch.setattr(onnx_files, "_DEEPEST", 3)
    with pytest.raises(BundleError, match="no ONNX file"):
        onnx_files.check_graph(Path("x"), content.SerializeToString())


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
