import numpy as np
import onnx
import onnxruntime

from whatchanged.training.export.graphs import store_half


def test_half_storage_rounds_each_weight_once(tmp_path):
    values = np.linspace(-3, 3, 512, dtype=np.float32).reshape(2, 256)
    weight = onnx.numpy_helper.from_array(values, "w")
    small = onnx.numpy_helper.from_array(np.array([1.1], np.float32), "s")
    x = onnx.helper.make_tensor_value_info("x", 1, [2, 256])
    y = onnx.helper.make_tensor_value_info("y", 1, [2, 256])
    nodes = [onnx.helper.make_node("Mul", ["x", "w"], ["m"]), onnx.helper.make_node("Mul", ["m", "s"], ["y"])]
    graph = onnx.helper.make_graph(nodes, "g", [x], [y], [weight, small])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, tmp_path / "m.onnx")
    store_half(tmp_path / "m.onnx")
    session = onnxruntime.InferenceSession(str(tmp_path / "m.onnx"), providers=["CPUExecutionProvider"])
    (result,) = session.run(None, {"x": np.ones((2, 256), np.float32)})
    assert np.array_equal(result, values.astype(np.float16).astype(np.float32) * np.float32(1.1))
