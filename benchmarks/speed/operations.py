"""Counts the multiplications for one pair in the graphs, and the share of the measured time they explain.

    python -m benchmarks.speed.operations [--model NAME-or-FOLDER] [--words 9] [--runs 50]

It counts the multiply-adds of Conv, MatMul, Gemm and Einsum for one pair, from the shapes of a run: the
encoder graph once, the decoder graph once per word. The explained time is the time that they would take at
the rate of a large matrix product in the same runtime, on one thread. The rest is small shapes,
memory and other operators.
"""

import argparse
import statistics
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import TensorProto, helper

from benchmarks.record import Watch, add_record_option, write_result
from whatchanged.captioner.runtime import load

SIDE = 768
Arrays = Mapping[str, NDArray[Any]]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default=None)
    parser.add_argument("--words", type=int, default=9)
    parser.add_argument("--runs", type=int, default=50)
    add_record_option(parser, "operations")
    options = parser.parse_args()
    with Watch() as watch:
        figures = measure(options.model, options.words, options.runs)
    print(f"rate of a {SIDE}^3 product, one thread: {figures['rate'] / 1e9:.1f} G multiply-adds/s")
    for part in figures["parts"]:
        print(
            f"{part['name']} x {part['times']}: {part['multiply_adds'] / 1e6:.1f} M multiply-adds,"
            f" {1e3 * part['seconds']:.1f} ms, explained {100 * part['explained']:.0f} %"
        )
    count, took = (sum(part[key] for part in figures["parts"]) for key in ("multiply_adds", "seconds"))
    explained = count / figures["rate"] / took
    print(
        f"a pair: {count / 1e6:.1f} M multiply-adds, {1e3 * took:.1f} ms, explained {100 * explained:.0f} %"
    )
    if options.record:
        write_result(options.record, "operations", figures, watch=watch)


def measure(model: str | None, words: int, runs: int) -> dict[str, Any]:
    """Multiply-adds and seconds of the encoder and of ``words`` decoder steps, and the machine's rate."""
    captioner = load(model, 1)
    bundle = captioner.bundle
    width, height = captioner.input.size
    pixels = np.random.default_rng(0).standard_normal((2, 1, 3, height, width)).astype(np.float32)
    encoder = onnx.load(bundle.folder / "encoder.onnx")
    decoder = onnx.load(bundle.folder / "decoder.onnx")
    seen = {"before": pixels[0], "after": pixels[1]}
    memory = _run(encoder, seen)
    feeds = {i.name: memory[i.name] for i in decoder.graph.input if i.name in memory}
    feeds |= {"previous": np.ones(1, np.int64), "position": np.array(1, np.int64)}
    for value in decoder.graph.input:
        if value.name not in feeds:
            shape = [
                d.dim_value or (1 if d.dim_param == "batch" else 0) for d in value.type.tensor_type.shape.dim
            ]
            feeds[value.name] = np.zeros(shape, np.float32)
    rate, parts = _rate(runs), []
    for name, graph, given, times in (("encoder", encoder, seen, 1), ("decoder", decoder, feeds, words)):
        count, seconds = times * sum(_counts(graph, given).values()), times * _seconds(graph, given, runs)
        explained = count / rate / seconds
        part = {
            "name": name,
            "times": times,
            "multiply_adds": count,
            "seconds": seconds,
            "explained": explained,
        }
        parts.append(part)
    return {"rate": rate, "words": words, "parts": parts}


def _session(graph: onnx.ModelProto) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(
        graph.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def _run(graph: onnx.ModelProto, feeds: Arrays) -> dict[str, NDArray[Any]]:
    session = _session(graph)
    return dict(zip((o.name for o in session.get_outputs()), session.run(None, dict(feeds)), strict=True))


def _seconds(graph: onnx.ModelProto, feeds: Arrays, runs: int) -> float:
    session = _session(graph)
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        session.run(None, dict(feeds))
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def _rate(runs: int) -> float:
    """Multiply-adds a second of one large product of matrices."""
    shapes = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [SIDE, SIDE]) for n in ("a", "b", "c")]
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["a", "b"], ["c"])], "product", shapes[:2], shapes[2:]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    given = {name: np.ones((SIDE, SIDE), np.float32) for name in ("a", "b")}
    return float(SIDE**3 / _seconds(model, given, runs))


def _counts(graph: onnx.ModelProto, feeds: Arrays) -> dict[str, int]:
    """Operator -> multiply-adds, from the shapes of every counted node's operands."""
    shown = onnx.ModelProto()
    shown.CopyFrom(graph)
    counted = [n for n in shown.graph.node if n.op_type in ("Conv", "MatMul", "Gemm", "Einsum")]
    kept = {t.name: list(t.dims) for t in shown.graph.initializer}
    given = {name: list(array.shape) for name, array in feeds.items()}
    asked = {name for n in counted for name in (*n.input, *n.output)} - kept.keys() - given.keys()
    present = {o.name for o in shown.graph.output}
    shown.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in sorted(asked - present))
    shapes = {name: list(array.shape) for name, array in _run(shown, feeds).items()} | kept | given
    results: dict[str, int] = {}
    for node in counted:
        left, right, out = (shapes[name] for name in (*node.input[:2], node.output[0]))
        if node.op_type == "Einsum":
            equation = helper.get_node_attr_value(node, "equation").decode().replace(" ", "").split("->")[0]
            sizes: dict[str, int] = {}
            for letters, shape in zip(equation.split(","), (left, right), strict=False):
                sizes |= dict(zip(letters, shape, strict=True))
            work = np.prod(list(sizes.values()))
        elif node.op_type == "Conv":
            work = np.prod(out) * np.prod(right[1:])
        else:
            flipped = node.op_type == "Gemm" and any(a.name == "transA" and a.i for a in node.attribute)
            work = np.prod(out) * left[0 if flipped else -1]
        results[node.op_type] = results.get(node.op_type, 0) + int(work)
    return results


if __name__ == "__main__":
    main()
