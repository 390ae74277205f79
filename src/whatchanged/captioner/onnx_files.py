"""Parse an ONNX file far enough to refuse an unsafe graph before it is loaded.

A graph may contain only the operators in ``OPERATORS``: each runs once, and returns numbers within the memory
limit of ``onnx_graphs``. A graph may not read another file, contain loops or branches (these hold graphs of
their own), define functions, or create strings.

An ONNX file is a protocol buffer: messages of numbered fields, where a field consists of a tag, a length and
its content. The tables below list the fields that may contain a tensor; the numbers are those of ONNX's
onnx.proto.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from whatchanged.errors import BundleError

GRAPH, NODE, ATTRIBUTE, SPARSE, TENSOR = range(5)
MODEL: Mapping[int, int] = {7: GRAPH}
"""Field of a model -> the kind of message that it holds."""
FIELDS: Mapping[int, Mapping[int, int]] = {
    GRAPH: {1: NODE, 5: TENSOR, 15: SPARSE},
    NODE: {5: ATTRIBUTE},
    ATTRIBUTE: {5: TENSOR, 10: TENSOR, 22: SPARSE, 23: SPARSE},
    SPARSE: {1: TENSOR, 2: TENSOR},
    TENSOR: {},
}
"""Kind of message -> its fields with messages that may contain a tensor."""
REFUSED: Mapping[int | None, Mapping[int, str]] = {
    None: {20: "a graph for training", 25: "functions of its own"},
    ATTRIBUTE: {6: "a graph within the graph", 11: "graphs within the graph"},
    TENSOR: {6: "texts"},
}
"""Kind of message (None: the model itself) -> forbidden fields, and what they hold."""
OPERATOR, DOMAIN = 4, 7
"""Fields of a node: its operator, and the operator's domain."""
ATTRIBUTE_NAME, ATTRIBUTE_NUMBER = 1, 3
KIND_OF_NUMBERS, EXTERNAL_DATA, DATA_LOCATION = 2, 13, 14
"""Fields of a tensor: its data type, the location of external data, and whether its data is external."""
TEXT = 8
"""The data type of strings."""
_BY_MEANING = {
    "one number from one or several": """
        Abs Acos Acosh Add And Asin Asinh Atan Atanh Cast CastLike Ceil Celu Clip Cos Cosh Div Elu Equal Erf
        Exp Floor Gelu Greater GreaterOrEqual HardSigmoid HardSwish Identity IsInf IsNaN LeakyRelu Less
        LessOrEqual Log Max Mean Min Mish Mod Mul Neg Not Or PRelu Pow Reciprocal Relu Round Selu Sigmoid Sign
        Sin Sinh Softplus Softsign Sqrt Sub Sum Swish Tan Tanh ThresholdedRelu Where Xor""",
    "layers": """
        Attention AveragePool BatchNormalization Conv ConvTranspose Dropout Einsum GRU Gemm GlobalAveragePool
        GlobalMaxPool GroupNormalization InstanceNormalization LSTM LayerNormalization LogSoftmax
        LpNormalization MatMul MaxPool RMSNormalization RNN Softmax""",
    "8-bit weights": """
        ConvInteger DequantizeLinear DynamicQuantizeLinear MatMulInteger QLinearConv QLinearMatMul
        QuantizeLinear""",
    "over an axis": """
        ArgMax ArgMin CumSum ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin
        ReduceProd ReduceSum ReduceSumSquare TopK""",
    "arrangement": """
        Concat Constant ConstantOfShape DepthToSpace Expand EyeLike Flatten Gather GatherElements GatherND
        GridSample NonZero OneHot Pad Range Reshape Resize ScatterElements ScatterND Shape Size Slice
        SpaceToDepth Split Squeeze Tile Transpose Trilu Unsqueeze""",
}
OPERATORS = frozenset(name for names in _BY_MEANING.values() for name in names.split())
"""The operators that the exporter writes for the methods here and for those of other packages. None of them
repeats a part of the graph, and none creates strings, which the memory limit does not cover.
"""
_DEEPEST = 50
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


class _Field(NamedTuple):
    """One field of a message: a whole number, or the bytes from ``start`` to ``end`` of the file."""

    number: int
    start: int
    end: int
    whole: int | None = None


def check_graph(path: Path, content: bytes) -> None:
    """Raise BundleError where the graph may not be loaded, or this is no ONNX file.

    content: the bytes of the file at ``path``.
    """
    try:
        wrong = _refused(content, _Field(0, 0, len(content)), MODEL, None, 0)
    except (IndexError, ValueError) as error:
        raise BundleError(f"{path}: this is no ONNX file ({error}). Export it again.") from error
    if wrong:
        raise BundleError(f"{path}: {wrong}")


def _refused(content: bytes, message: _Field, inner: Mapping[int, int], kind: int | None, depth: int) -> str:
    """Return a phrase for the forbidden part of this message; empty where all of it may be loaded.

    inner: the fields of the message that hold messages. kind: of the message, None for the model itself.
    """
    if depth > _DEEPEST:
        raise ValueError(f"more than {_DEEPEST} messages within each other")
    fields = _fields(content, message)
    wrong = _wrong_fields(content, kind, fields)
    for field in fields if not wrong else ():
        within = inner.get(field.number)
        if within is None:
            continue
        if field.whole is not None:
            raise ValueError("a number stands where a message is wanted")
        wrong = _refused(content, field, FIELDS[within], within, depth + 1)
        if wrong:
            break
    return wrong


def _wrong_fields(content: bytes, kind: int | None, fields: Sequence[_Field]) -> str:
    """Return a phrase for a fault in a message's own fields; empty where there is none.

    If a field number occurs several times, the last one counts in a protocol buffer, so every one is checked.
    """
    refused = REFUSED.get(kind, {})
    held = next((refused[field.number] for field in fields if field.number in refused), "")
    if not held and kind == ATTRIBUTE and _makes_texts(content, fields):
        held = "texts"
    if held:
        return f"the graph holds {held}, which no model needs to caption pictures. Do not use this bundle."
    if kind == TENSOR and any(f.number in (EXTERNAL_DATA, DATA_LOCATION) and f.whole != 0 for f in fields):
        return (
            "part of the graph lies in another file, which the bundle's hashes do not cover. Do not use this"
            " bundle, or export it again with all data in the graph."
        )
    return _wrong_operator(content, fields) if kind == NODE else ""


def _wrong_operator(content: bytes, fields: Sequence[_Field]) -> str:
    """Return a phrase for a fault in a node's operator; empty where there is none."""
    for field in fields:
        if field.number == DOMAIN and _text(content, field) not in ("", "ai.onnx"):
            owner = _text(content, field)
            return f"the graph uses an operator of {owner}, not one of ONNX's own. Do not use this bundle."
        if field.number == OPERATOR and _text(content, field) not in OPERATORS:
            return (
                f"the graph uses the operator {_text(content, field)}, which is not among those that a model"
                " may use. Do not use this bundle, or export it again without it."
            )
    return ""


def _makes_texts(content: bytes, fields: Sequence[_Field]) -> bool:
    """Return whether an attribute creates strings: as a constant's value, or as the target type of a cast."""
    names = [_text(content, field) for field in fields if field.number == ATTRIBUTE_NAME]
    if any(name.startswith("value_string") for name in names):
        return True
    return "to" in names and any(f.number == ATTRIBUTE_NUMBER and f.whole == TEXT for f in fields)


def _text(content: bytes, field: _Field) -> str:
    """Return the beginning of a name."""
    return content[field.start : min(field.end, field.start + 100)].decode("utf-8", "replace")


def _fields(content: bytes, message: _Field) -> list[_Field]:
    """Yield the fields of a message."""
    fields = []
    index, end = message.start, message.end
    while index < end:
        tag, index = _varint(content, index)
        number, wire = tag >> 3, tag & 7
        if wire == _VARINT:
            whole, index = _varint(content, index)
            fields.append(_Field(number, index, index, whole))
            continue
        if wire == _BYTES:
            size, index = _varint(content, index)
        elif wire in (_FIXED32, _FIXED64):
            size = 4 if wire == _FIXED32 else 8
        else:
            raise ValueError(f"a field of the unknown kind {wire}")
        if size > end - index:
            raise ValueError("a field reaches beyond its message")
        fields.append(_Field(number, index, index + size))
        index += size
    return fields


def _varint(content: bytes, position: int) -> tuple[int, int]:
    """Return a number stored as seven bits a byte, the lowest first, and the position behind it."""
    value = content[position]
    if value < 0x80:  # nearly always
        return value, position + 1
    value &= 0x7F
    for shift in range(7, 70, 7):
        position += 1
        byte = content[position]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position + 1
    raise ValueError("a number of more than ten bytes")
