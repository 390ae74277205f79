"""Inputs that keep the form of a file and put something hostile into it.

A fuzzer that flips bytes seldom gets past the first check of a format. These functions change one value of a
JSON or TOML text, of the JSON within a safetensors file, of a NumPy header, or one member of a Zip file.
"""

import io
import json
import random
import re
import struct
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

from fuzz.costs import costly

HOSTILE: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 0.5, 2**31, 2**63, 2**64, -(2**63), 10**12, 10**309, 10**4000),
    *(1e308, -0.0, float("nan"), float("inf"), float("-inf")),
    *("", " ", "\0", "\x1b[2J", "\u202e", "\ud800", "../../etc/passwd", "/etc/passwd", "C:\\x", "a" * 5000),
    *("nan", "1e999", "__proto__", "%s%n", "\n", "<script>", "x\ty", "-1", "\u00e9\u4e2d"),
    *([], {}, [[]], [1, 2, 3], {"a": 1}, {"": None}, [None] * 50, [[0] * 4] * 3),
)
"""Values that files of strangers hold."""
TEXTS = (
    "9" * 400,
    "9" * 5000,
    "[" * 3000,
    '{"a":' * 3000,
    "-0",
    "NaN",
    "1e400",
    "0x10",
    "1_000",
    "'",
    '"""',
    "[[stages]]",
    "base = 'pcl-tiny'\n",
    "a.b.c = 1\n",
    "1979-05-27T07:32:00Z",
    "{}",
    "inf",
)
"""Pieces of text that a reader of JSON or TOML may stumble over."""


def mutated(data: bytes, rng: random.Random) -> bytes | None:
    """The content with one hostile change that fits its form; None where its form is not known."""
    if data[:1] in b"\xff\x89GP\x08" and data[:2] != b"PK" and rng.random() < 0.4:
        return costly(data, rng)
    if data[:6] == b"\x93NUMPY":
        return _numpy(data, rng)
    if data[:4] == b"PK\x03\x04":
        return _zip(data, rng)
    if len(data) > 8 and data[8:9] == b"{" and struct.unpack("<Q", data[:8])[0] < len(data):
        return _safetensors(data, rng)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if rng.random() < 0.3:
        return _spliced(text, rng).encode("utf-8", "surrogatepass")
    changed = _json(text, rng) or _lines(text, rng)
    return (changed or _spliced(text, rng)).encode("utf-8", "surrogatepass")


def _json(text: str, rng: random.Random) -> str | None:
    """One JSON value, changed in one place."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return _dumped(_changed(value, rng))


def _lines(text: str, rng: random.Random) -> str | None:
    """Lines of which one is changed: as JSON, as a setting, or as columns; or left out, or said twice."""
    lines = text.split("\n")
    place = rng.randrange(len(lines))
    what = rng.randrange(6)
    if what == 0:
        lines.insert(place, lines[place])
    elif what == 1:
        del lines[place]
    elif (found := _json(lines[place], rng)) is not None:
        lines[place] = found
    elif "=" in lines[place]:
        lines[place] = f"{lines[place].partition('=')[0]}= {_toml(rng)}"
    else:
        parts = re.split(r"([\s,;|]+)", lines[place])
        parts[rng.randrange(0, len(parts), 2)] = str(rng.choice([v for v in HOSTILE if _short(v)]))
        lines[place] = "".join(parts)
    return "\n".join(lines)


def _toml(rng: random.Random) -> str:
    value = rng.choice(HOSTILE)
    if isinstance(value, float):
        return str(value)
    return _dumped(value) if value is not None and rng.random() < 0.8 else rng.choice(TEXTS)


def _short(value: Any) -> bool:
    return not isinstance(value, int) or abs(value) < 10**310


def _spliced(text: str, rng: random.Random) -> str:
    """A hostile piece somewhere in the text, or a piece of it elsewhere."""
    start, end = sorted(rng.randrange(len(text) + 1) for _ in range(2))
    piece = rng.choice(TEXTS) if rng.random() < 0.6 else text[start:end]
    cut = min(end, start + rng.choice([0, 0, 1, 5, 50]))
    return text[:start] + piece + text[cut:]


def _changed(value: Any, rng: random.Random) -> Any:
    """The value with one of the values in it replaced, left out, repeated or wrapped."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        key = rng.choice(list(value))
        what = rng.random()
        if what < 0.08:
            return {name: item for name, item in value.items() if name != key}
        if what < 0.16:
            return {**value, str(rng.choice(["", "\0", "x", "__proto__", "../x", key + " "])): value[key]}
        return {**value, key: _changed(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.85:
        place = rng.randrange(len(value))
        what = rng.random()
        if what < 0.08:
            return value[:place] + value[place + 1 :]
        if what < 0.16:
            return [*value, value[place]] * rng.choice([1, 1, 30])
        return [*value[:place], _changed(value[place], rng), *value[place + 1 :]]
    what = rng.random()
    if what < 0.1:
        return [value]
    if what < 0.2:
        return {"a": value}
    if isinstance(value, int | float) and abs(value) < 1e300 and what < 0.4:
        return value + rng.choice([-1, 1, 0.5, 1000])
    return rng.choice(HOSTILE)


def _dumped(value: Any) -> str:
    """As JSON, whole numbers of any length."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**4000:
        return "1" + "0" * 5000
    try:
        return json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):
        return "9" * 5000


def _safetensors(data: bytes, rng: random.Random) -> bytes:
    """Its header changed, or the JSON that stands in the metadata as text."""
    size = struct.unpack("<Q", data[:8])[0]
    try:
        header = json.loads(data[8 : 8 + size])
        metadata = header.get("__metadata__")
    except (ValueError, AttributeError):
        return data[:8] + b"{" + data[9:]
    if isinstance(metadata, dict) and metadata and rng.random() < 0.8:
        key = rng.choice(list(metadata))
        inner = _json(metadata[key], rng) if isinstance(metadata[key], str) else None
        header["__metadata__"] = {**metadata, key: inner if inner is not None else rng.choice(HOSTILE)}
    else:
        header = _changed(header, rng)
    text = _dumped(header).encode("utf-8", "surrogatepass")
    body = data[8 + size :]
    if rng.random() < 0.1:
        body = body[: rng.randrange(len(body) + 1)]
    return struct.pack("<Q", len(text)) + text + body


def _numpy(data: bytes, rng: random.Random) -> bytes:
    """Its header changed."""
    size = struct.unpack("<H", data[8:10])[0]
    header = data[10 : 10 + size].decode("latin1")
    swaps: tuple[Callable[[str], str], ...] = (
        lambda text: re.sub(r"\d+", lambda _: str(rng.choice([0, 1, -1, 2, 7, 10**6, 10**12, 10**20])), text),
        lambda text: re.sub(
            r"'[<>|]\w+'", repr(rng.choice(["<f4", "<f8", "<c8", "|O", "<U9", "<M8[s]"])), text
        ),
        lambda text: text.replace("False", rng.choice(["True", "None", "[]", "0"])),
        lambda text: _spliced(text, rng),
    )
    changed = rng.choice(swaps)(header).encode("latin1", "replace")
    return data[:8] + struct.pack("<H", min(len(changed), 65_535)) + changed + data[10 + size :]


def _zip(data: bytes, rng: random.Random) -> bytes:
    """One member changed, renamed, left out, said twice or compressed."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [(info.filename, archive.read(info)) for info in archive.infolist()]
    except (zipfile.BadZipFile, zlib.error, OSError, ValueError, NotImplementedError, RuntimeError, EOFError):
        return data[: rng.randrange(len(data) + 1)]
    place = rng.randrange(len(members)) if members else 0
    changed = io.BytesIO()
    what = rng.randrange(6)
    with zipfile.ZipFile(changed, "w") as archive:
        for number, (name, content) in enumerate(members):
            if number != place:
                archive.writestr(name, content)
            elif what == 0:
                archive.writestr("../" + name, content)
            elif what == 1:
                archive.writestr(name, content, zipfile.ZIP_DEFLATED)
            elif what > 2:
                archive.writestr(name, mutated(content, rng) or _flipped(content, rng))
    return changed.getvalue()


def _flipped(data: bytes, rng: random.Random) -> bytes:
    """Some bytes of it changed, or a piece left out."""
    content = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 8])):
        if content:
            content[rng.randrange(len(content))] = rng.randrange(256)
    start, end = sorted(rng.randrange(len(content) + 1) for _ in range(2))
    return bytes(content[:start] + content[end:]) if rng.random() < 0.2 else bytes(content)
