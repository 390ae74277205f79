"""Inputs that keep the form of a picture or a graph and ask for much work, as a fuzzer of bytes never does.

Headers of thousands of parts, comments of megabytes, pictures of one row, scans without end, further pictures
behind a JPEG; graphs with loops, functions that call each other, operators that make texts.
"""

import random
import struct
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import onnx
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from onnx import TensorProto, helper

COUNTS = (1, 10, 1000, 49_000, 51_000, 300_000)
"""How often a part is repeated: what programs write, and around the bound on parts."""
SIDES = (1, 2, 100, 16_383, 65_535, 65_536, 1_000_000, 5_000_000, 50_000_000)
"""Pixels of a side."""
MOST_ROWS = 3_000_000
"""Bytes of the pixels of a PNG that is drawn here."""
OPERATORS = (
    "SequenceMap",
    "StringConcat",
    "Unique",
    "Loop",
    "Scan",
    "If",
    "StringNormalizer",
    "OptionalGetElement",
)
"""What no graph may hold."""


def costly(data: bytes, rng: random.Random) -> bytes | None:
    """The content with one change that asks for much work; None where it is no picture and no graph."""
    for start, changes in _BY_START:
        if data.startswith(start):
            return rng.choice(changes)(data, rng)
    return None


def _jpeg_parts(data: bytes, rng: random.Random) -> bytes:
    """Fill bytes, or segments without content, at the beginning of the header."""
    part = rng.choice([b"\xff", b"\xff\xfe\0\2", b"\xff\xe1\0\2", b"\xff\xd0", b"\xff\xdb\0\2", b"\0"])
    return data[:2] + part * rng.choice(COUNTS) + data[2:]


def _jpeg_scans(data: bytes, rng: random.Random) -> bytes:
    """Its last scan again and again."""
    place = data.rfind(b"\xff\xda")
    return data if place < 0 else data[:-2] + data[place:-2] * rng.choice((1, 20, 5000)) + data[-2:]


def _jpeg_mpf(data: bytes, rng: random.Random) -> bytes:
    """With the segment that says that further pictures follow, and many scans."""
    entries = rng.choice((1, 2, 3, 1000))
    values = b"".join(struct.pack("<IIIHH", 0x030000, len(data), 0, 0, 0) for _ in range(entries))
    tags = [
        struct.pack("<HHI4s", 0xB000, 7, 4, b"0100"),
        struct.pack("<HHII", 0xB001, 4, 1, entries),
        struct.pack("<HHII", 0xB002, 7, len(values), 50),
    ]
    table = b"MPF\0II*\0" + struct.pack("<IH", 8, len(tags)) + b"".join(tags) + struct.pack("<I", 0) + values
    segment = b"\xff\xe2" + struct.pack(">H", min(len(table) + 2, 65_535)) + table[:65_533]
    return _jpeg_scans(data[:2] + segment + data[2:], rng)


def _png_chunks(data: bytes, rng: random.Random) -> bytes:
    """Chunks before its pixels, or behind them."""
    kind, content = rng.choice([(b"abCd", b""), (b"tEXt", b"a\0b"), (b"IDAT", b""), (b"zTXt", b"a\0\0x")])
    place = rng.choice((33, max(33, len(data) - 12)))
    return data[:place] + _chunk(kind, content) * rng.choice(COUNTS) + data[place:]


def _png_size(data: bytes, rng: random.Random) -> bytes:
    """A picture of one grey, very wide or very tall; its pixels end early where they would be many."""
    width, height = rng.choice(SIDES), rng.choice(SIDES)
    rows = bytes(min((width + 1) * height, MOST_ROWS))
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = (_chunk(b"IHDR", header), _chunk(b"IDAT", zlib.compress(rows, 1)), _chunk(b"IEND", b""))
    return data[:8] + b"".join(parts)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def _gif_blocks(data: bytes, rng: random.Random) -> bytes:
    """Extensions, or bytes that are none, before its first picture."""
    place = 13 + (3 * (2 << (data[10] & 7)) if len(data) > 10 and data[10] & 0x80 else 0)
    many = rng.choice(COUNTS)
    block = rng.choice(
        [b"!\xfe\1x\0" * many, b"!\xfe" + b"\1x" * many + b"\0", b"!\xff\0" * many, b"\0" * many]
    )
    return data[:place] + block + data[place:]


def _ppm_comments(data: bytes, rng: random.Random) -> bytes:
    """Comments or blanks in the header, or, of a plain one, behind it."""
    many = rng.choice(COUNTS)
    text = rng.choice([b"#" + b"x" * many + b"\n", b"#\n" * many, b" " * many])
    place = rng.choice((3, len(data)))
    return data[:place] + text + data[place:]


def _graph(data: bytes, rng: random.Random) -> bytes | None:
    """One operator more, functions that call each other, or texts. None where it is no graph."""
    model = onnx.ModelProto()
    try:
        model.ParseFromString(data)
    except DecodeError:
        return None
    if not model.graph.node:
        return None
    try:
        rng.choice((_add_operator, _add_functions, _add_texts))(model, rng)
    except UnicodeDecodeError:  # a damaged name, which no node can be made of
        return None
    changed: bytes = model.SerializeToString()
    return changed


def _add_operator(model: onnx.ModelProto, rng: random.Random) -> None:
    body = helper.make_graph([], "body", [], [])
    inputs = list(rng.choice(model.graph.node).output) or ["x"]
    node = helper.make_node(rng.choice(OPERATORS), inputs, ["added"], body=body)
    if rng.random() < 0.3:
        node.domain = rng.choice(("com.microsoft", "ai.onnx.ml", "ai.onnx", "x" * 10_000))
    model.graph.node.insert(rng.randrange(len(model.graph.node) + 1), node)


def _add_functions(model: onnx.ModelProto, rng: random.Random) -> None:
    """Each calls the one before it twice, so that written out they double with each."""
    opset = [helper.make_opsetid("", 17), helper.make_opsetid("x", 1)]
    for number in range(rng.choice((1, 5, 40))):
        name, domain = ("Relu", "") if number == 0 else (f"f{number - 1}", "x")
        calls = [
            helper.make_node(name, ["a"], ["m"], domain=domain),
            helper.make_node(name, ["m"], ["b"], domain=domain),
        ]
        model.functions.append(helper.make_function("x", f"f{number}", ["a"], ["b"], calls, opset))
    model.opset_import.append(helper.make_opsetid("x", 1))


def _add_texts(model: onnx.ModelProto, rng: random.Random) -> None:
    content: list[Any] = [b"a" * rng.choice(COUNTS), b"b"]
    texts = helper.make_tensor("texts", TensorProto.STRING, [2], content)
    node = rng.choice(
        (
            helper.make_node("Constant", [], ["texts"], value=texts),
            helper.make_node("Constant", [], ["texts"], value_string="a" * rng.choice(COUNTS)),
            helper.make_node(
                "Cast", list(rng.choice(model.graph.node).output) or ["x"], ["texts"], to=TensorProto.STRING
            ),
        )
    )
    model.graph.node.insert(0, node)


_Change = Callable[[bytes, random.Random], bytes | None]
_BY_START: Sequence[tuple[bytes, Sequence[_Change]]] = (
    (b"\xff\xd8", (_jpeg_parts, _jpeg_scans, _jpeg_mpf)),
    (b"\x89PNG", (_png_chunks, _png_size)),
    (b"GIF8", (_gif_blocks,)),
    (b"P", (_ppm_comments,)),
    (b"\x08", (_graph,)),
)
"""How a file begins -> what is done to it."""
