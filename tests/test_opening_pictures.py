import io
import struct
import time
import zlib

import numpy as np
import pytest
from PIL import Image

from whatchanged.errors import ImageError
from whatchanged.images import open_image, picture_size
from whatchanged.opening import MAX_COMMENTS, MAX_PARTS, PNM_HEADER, occurrences

COLOR = (200, 40, 90)


def flat(size=(12, 10)):
    return Image.new("RGB", size, COLOR)


def stored(kind, **settings) -> bytes:
    file = io.BytesIO()
    flat().save(file, kind, **settings)
    return file.getvalue()


def failure(content) -> str:
    """What is said of a picture, within seconds."""
    began = time.process_time()
    with pytest.raises(ImageError) as caught:
        open_image(content)
    with pytest.raises(ImageError, match="too"):
        picture_size(content)
    assert time.process_time() - began < 10
    return str(caught.value)


def chunk(kind, content=b""):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png_with(content: bytes) -> bytes:
    """A PNG with further chunks before its pixels."""
    plain = stored("PNG")
    return plain[:33] + content + plain[33:]


def jpeg_with(content: bytes) -> bytes:
    plain = stored("JPEG")
    return plain[:2] + content + plain[2:]


def gif_with(content: bytes) -> bytes:
    plain = stored("GIF")
    place = 13 + 3 * (2 << (plain[10] & 7))
    return plain[:place] + content + plain[place:]


def ppm_with(content: bytes) -> bytes:
    return b"P6\n" + content + b"12 10\n255\n" + bytes(COLOR) * 120


MANY = MAX_PARTS + 10


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (png_with(chunk(b"abCd") * MANY), "too many chunks of a PNG"),
        (stored("PNG")[:-12] + chunk(b"abCd") * MANY + stored("PNG")[-12:], "too many chunks of a PNG"),
        (jpeg_with(b"\xff" * MANY), "too many parts of a JPEG header"),
        (jpeg_with(b"\xff\xfe\0\2" * MANY), "too many parts of a JPEG header"),
        (jpeg_with(b"\xff\xd0" * MANY), "too many parts of a JPEG header"),
        (jpeg_with(b"\xff\xe0\0\2" + b"x" * MANY), "too many parts of a JPEG header"),
        (gif_with(b"!\xfe\1x\0" * MANY), "too many blocks of a GIF"),
        (gif_with(b"!\xfe" + b"\1x" * MANY + b"\0"), "too many blocks of a GIF"),
        (gif_with(b"\0" * MANY), "too many blocks of a GIF"),
        (ppm_with(b"#" + b"x" * PNM_HEADER + b"\n"), "too many bytes in the header of a PPM"),
        (ppm_with(b"#\n" * PNM_HEADER), "too many bytes in the header of a PPM"),
        (ppm_with(b" " * PNM_HEADER), "too many bytes in the header of a PPM"),
        (b"P3 12 10 255\n" + b"#\n" * (MAX_COMMENTS + 1) + b"200 40 90 " * 120, "1,000 comments"),
    ],
    ids=lambda value: None if isinstance(value, bytes) else value,
)
def test_what_pillow_would_read_part_by_part_is_bounded(content, said):
    assert said in failure(content)


@pytest.mark.parametrize(
    "content",
    [
        png_with(chunk(b"tEXt", b"a\0b") * 1000),
        jpeg_with(b"\xff" * 1000),
        jpeg_with(b"\xff" * 5000),  # across the end of a block
        jpeg_with(b"\xff\xfe" + struct.pack(">H", 60_002) + b"\xff\xd9" * 30_000),
        jpeg_with((b"\xff\xfe\0\5abc" + b"\xff" * 4090) * 5),
        gif_with(b"!\xfe" + b"\xff" + b"x" * 255 + b"\0"),
        ppm_with(b"# made by hand\n" * 100),
    ],
)
def test_what_programs_write_is_read(content):
    image = open_image(content)
    assert image.size == (12, 10)
    assert np.abs(np.subtract(image.getpixel((3, 3)), COLOR)).max() < 4


@pytest.mark.parametrize("value", [9, 10, 13, 32, 35])
def test_pixels_that_look_like_blanks_or_comments_are_no_header(value):
    """Of a size beyond the part of the file in which the header must end."""
    content = b"P6 200 200 255\n" + bytes([value]) * 120_000
    assert open_image(content).getpixel((7, 7)) == (value,) * 3
    assert open_image(b"P5 400 400 255\n" + bytes([value]) * 160_000).getpixel((7, 7)) == (value,) * 3
    bits = b"P4 4000 400\n" + bytes([value]) * 200_000
    assert open_image(bits).size == (4000, 400)


def progressive(size, scans):
    """A flat progressive JPEG whose last scan is repeated; each time, a decoder passes over every pixel."""
    file = io.BytesIO()
    Image.new("RGB", size, COLOR).save(file, "JPEG", progressive=True)
    content = file.getvalue()
    last = content[content.rindex(b"\xff\xda") : -2]
    return content[:-2] + last * (scans - content.count(b"\xff\xda")) + b"\xff\xd9"


def test_a_jpeg_of_thousands_of_scans_is_refused_before_it_is_decoded(tmp_path, monkeypatch):
    monkeypatch.setattr("whatchanged.opening.MAX_SCANNED", 12 * 10 * 100)
    path = tmp_path / "a.jpg"
    path.write_bytes(progressive((12, 10), 100))
    assert open_image(path).size == (12, 10)
    path.write_bytes(progressive((12, 10), 101))
    assert "101 scans of 12 x 10 pixels are too many" in failure(path)


def test_a_large_picture_may_have_the_scans_that_programs_write(tmp_path):
    path = tmp_path / "a.jpg"
    path.write_bytes(progressive((5000, 10_000), 16))
    assert picture_size(path) == (5000, 10_000)


def test_a_plain_ppm_that_would_take_long_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "a.ppm"
    path.write_bytes(b"P3\n12 10\n255\n" + b"200 40 90 " * 120)
    assert open_image(path).getpixel((3, 3)) == COLOR
    monkeypatch.setattr("whatchanged.opening.MAX_PLAIN", 500)
    assert "a plain PPM of 1,213 bytes is too large" in failure(path)
    flat().save(path)
    assert open_image(path).getpixel((3, 3)) == COLOR  # binary, of 373 bytes


def test_the_scans_of_a_picture_with_further_pictures_behind_it_count(monkeypatch):
    """An MPO is a JPEG with an MPF segment; Pillow calls its format otherwise."""
    file = io.BytesIO()
    flat().save(file, "MPO", save_all=True, append_images=[flat()], progressive=True)
    content = file.getvalue()
    with Image.open(io.BytesIO(content)) as image:
        assert image.format == "MPO"
    scans = content.count(b"\xff\xda")
    monkeypatch.setattr("whatchanged.opening.MAX_SCANNED", 12 * 10 * scans)
    assert open_image(content).size == (12, 10)
    monkeypatch.setattr("whatchanged.opening.MAX_SCANNED", 12 * 10 * scans - 1)
    assert f"{scans} scans of 12 x 10 pixels are too many" in failure(content)


@pytest.mark.parametrize("word", [b"#", b"eXIf"])
def test_occurrences_across_blocks(word):
    content = bytearray(3_000_000)
    for place in (0, 5000, (1 << 20) - 1, (1 << 21) - 2, 3_000_000 - len(word)):
        content[place : place + len(word)] = word
    assert occurrences(io.BytesIO(content), word) == 5
