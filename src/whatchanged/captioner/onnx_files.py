"""ONNX files as they are stored, as far as is needed to see that a graph reads no other file.

An ONNX file is a protocol buffer: messages of numbered fields, a field a tag, a length and content. The
tables below say in which fields a tensor may stand; their numbers are those of ONNX's onnx.proto.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from whatchanged.errors import BundleError

GRAPH, NODE, ATTRIBUTE, SPARSE, FUNCTION, TRAINING, TENSOR = range(7)
MODEL: Mapping[int, int] = {7: GRAPH, 20: TRAINING, 25: FUNCTION}
"""Field of a model -> the kind of message that it holds."""
FIELDS: Mapping[int, Mapping[int, int]] = {
    GRAPH: {1: NODE, 5: TENSOR, 15: SPARSE},
    NODE: {5: ATTRIBUTE},
    ATTRIBUTE: {5: TENSOR, 6: GRAPH, 10: TENSOR, 11: GRAPH, 22: SPARSE, 23: SPARSE},
    SPARSE: {1: TENSOR, 2: TENSOR},
    FUNCTION: {7: NODE, 11: ATTRIBUTE},
    TRAINING: {1: GRAPH, 2: GRAPH},
    TENSOR: {},
}
"""Kind of message -> its fields that hold messages in which a tensor may stand."""
EXTERNAL_DATA, DATA_LOCATION = 13, 14
"""Fields of a tensor: where its numbers lie outside of the file, and whether they do."""
_DEEPEST = 50
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_KEY = b"location"
"""No tensor lies outside of its file without this key, which says where."""


def check_self_contained(path: Path, content: bytes) -> None:
    """Raises BundleError where a tensor of the graph lies in another file, or this is no ONNX file.

    content: the bytes of the file at ``path``.
    """
    if _KEY not in content:  # nearly always, and much faster
        return
    try:
        outside = _refers(memoryview(content), MODEL, 0)
    except (IndexError, ValueError) as error:
        raise BundleError(f"{path}: this is no ONNX file ({error}). Export it again.") from error
    if outside:
        raise BundleError(
            f"{path}: part of the graph lies in another file, which the bundle's hashes do not cover. Do not"
            " use this bundle, or export it again with all data in the graph."
        )


def _refers(message: memoryview, inner: Mapping[int, int], depth: int, tensor: bool = False) -> bool:
    """Whether a tensor in this message lies outside of the file."""
    if depth > _DEEPEST:
        raise ValueError(f"more than {_DEEPEST} messages within each other")
    for number, value in _fields(message):
        if tensor and number in (EXTERNAL_DATA, DATA_LOCATION) and value:
            return True
        kind = inner.get(number)
        if kind is None:
            continue
        if isinstance(value, int):
            raise ValueError("a number stands where a message is wanted")
        if _refers(value, FIELDS[kind], depth + 1, kind == TENSOR):
            return True
    return False


def _fields(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """(number, content) of each field: whole numbers as such, all else as bytes."""
    place = 0
    while place < len(message):
        tag, place = _varint(message, place)
        number, wire = tag >> 3, tag & 7
        if wire == _VARINT:
            value, place = _varint(message, place)
            yield number, value
            continue
        if wire == _BYTES:
            size, place = _varint(message, place)
        elif wire in (_FIXED32, _FIXED64):
            size = 4 if wire == _FIXED32 else 8
        else:
            raise ValueError(f"a field of the unknown kind {wire}")
        if size > len(message) - place:
            raise ValueError("a field reaches beyond its message")
        yield number, message[place : place + size]
        place += size


def _varint(message: memoryview, place: int) -> tuple[int, int]:
    """A number of seven bits a byte, the lowest first, and where it ends."""
    value = 0
    for shift in range(0, 70, 7):
        byte = message[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place
    raise ValueError("a number of more than ten bytes")
