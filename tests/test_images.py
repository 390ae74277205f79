import errno
import io
import os
import re
import struct
import threading
import tracemalloc
import zlib

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from PIL import ExifTags, Image, ImageCms, PngImagePlugin

from whatchanged.errors import ImageError, ShapeError
from whatchanged.images import (
    kept,
    normalise,
    open_image,
    orientation_of,
    picture_size,
    resize,
    upright,
)

COLOR = (200, 40, 90)


def flat(mode="RGB", color=COLOR, size=(12, 10)):
    return Image.new(mode, size, color)


def png_header(width, height):
    """A PNG that ends after its header: signature, IHDR, and the beginning of nothing."""
    body = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + body + struct.pack(">I", zlib.crc32(body))


def failure(source):
    with pytest.raises(ImageError) as error:
        open_image(source)
    return str(error.value)


@pytest.mark.parametrize("ending", ["png", "webp", "bmp", "tiff", "ppm"])
def test_lossless_formats_give_the_same_pixels(tmp_path, ending):
    path = tmp_path / f"a.{ending}"
    flat().save(path, **({"lossless": True} if ending == "webp" else {}))
    image = open_image(path)
    assert (image.mode, image.size, image.getpixel((3, 3))) == ("RGB", (12, 10), COLOR)
    assert np.array_equal(open_image(str(path)), open_image(Image.open(path)))


def test_jpeg_is_turned_upright(tmp_path):
    path = tmp_path / "a.jpg"
    image = Image.new("RGB", (32, 16), "black")
    image.paste((255, 255, 255), (0, 0, 16, 16))  # left half white
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was turned: rotate 90 degrees clockwise to show
    image.save(path, exif=exif, quality=95)
    upright = open_image(path)
    assert upright.size == (16, 32)
    assert min(upright.getpixel((8, 4))) > 240  # what was left is now above
    assert max(upright.getpixel((8, 28))) < 15


def test_sixteen_bits_are_scaled_not_clipped(tmp_path):
    path = tmp_path / "a.png"
    Image.fromarray(np.full((9, 9), 257 * 100, np.uint16)).save(path)
    assert open_image(path).getpixel((0, 0)) == (100, 100, 100)
    signed = Image.fromarray(np.full((9, 9), 65535, np.int32))
    assert open_image(signed).getpixel((0, 0)) == (255, 255, 255)


def test_float_tiff(tmp_path):
    path = tmp_path / "a.tiff"
    Image.fromarray(np.full((9, 9), 0.5, np.float32)).save(path)
    assert open_image(path).getpixel((0, 0)) == (128, 128, 128)
    Image.fromarray(np.full((9, 9), 7.5, np.float32)).save(path)
    assert "7.5" in failure(path)


@pytest.mark.parametrize(
    ("image", "wanted"),
    [
        (flat("L", 77), (77, 77, 77)),
        (flat("1", 1), (255, 255, 255)),
        (flat("LA", (77, 0)), (77, 77, 77)),
        (flat("RGBA", (*COLOR, 0)), COLOR),
        (flat().convert("P", palette=Image.Palette.ADAPTIVE), COLOR),
        (flat("CMYK", (0, 0, 0, 0)), (255, 255, 255)),
    ],
)
def test_every_mode_becomes_rgb_and_alpha_is_dropped(image, wanted):
    assert open_image(image).getpixel((5, 5)) == wanted


def test_palette_with_transparent_entries_reads_without_a_warning(tmp_path):
    path = tmp_path / "a.png"
    flat().convert("P", palette=Image.Palette.ADAPTIVE).save(path, transparency=bytes([0, 128]))
    assert open_image(path).getpixel((0, 0)) == COLOR


def test_an_animation_gives_its_first_frame(tmp_path):
    path = tmp_path / "a.gif"
    flat(color=(255, 0, 0)).save(path, save_all=True, append_images=[flat(color=(0, 0, 255))])
    assert open_image(path).getpixel((0, 0)) == (255, 0, 0)


def test_a_color_profile_is_no_hindrance(tmp_path):
    path = tmp_path / "a.png"
    flat().save(path, icc_profile=ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    assert open_image(path).getpixel((0, 0)) == COLOR


@pytest.mark.parametrize("shape", [(9, 10), (9, 10, 3), (9, 10, 4)])
@pytest.mark.parametrize("kind", [np.uint8, np.float32, np.float64])
def test_arrays(shape, kind):
    image = open_image(np.full(shape, 1 if kind != np.uint8 else 255, kind))
    assert (image.size, image.getpixel((0, 0))) == ((10, 9), (255, 255, 255))


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (np.zeros((9, 9), np.int64), "int64"),
        (np.zeros((9, 9, 2), np.uint8), "(9, 9, 2)"),
        (np.zeros((2, 9, 9, 3), np.uint8), "(2, 9, 9, 3)"),
        (np.full((9, 9), 1.5), "1.5"),
        (np.full((9, 9), np.nan), "nan"),
        (np.zeros((9, 0, 3), np.uint8), "0 x 9"),
    ],
)
def test_arrays_that_are_no_pictures(array, said):
    assert said in failure(array)


def test_something_else_entirely():
    assert "int" in failure(5)


def test_missing_folder_and_empty(tmp_path):
    assert "no such file" in failure(tmp_path / "none.png")
    assert "folder" in failure(tmp_path)
    (tmp_path / "empty.png").touch()
    assert "0 bytes" in failure(tmp_path / "empty.png")
    assert "File name too long" in failure(tmp_path / ("a" * 5000))


def test_a_text_in_disguise(tmp_path):
    path = tmp_path / "a.png"
    path.write_text("hello, world")
    message = failure(path)
    assert str(path) in message and "not a picture" in message
    assert "hello" not in message  # it may be a private file that a link leads to


def test_no_other_program_is_asked(tmp_path):
    path = tmp_path / "a.eps"  # Pillow would hand it to Ghostscript
    path.write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 50 50\n%%EndComments\n")
    assert "not a picture" in failure(path)


def test_a_single_pixel(tmp_path):
    flat(size=(1, 1)).save(tmp_path / "a.png")
    message = failure(tmp_path / "a.png")
    assert "1 x 1" in message and "at least 8" in message
    assert "too few" not in str(open_image(flat(size=(8, 8))))


@pytest.mark.parametrize(
    ("width", "height"), [(30_000, 30_000), (12_000, 12_000), (8_000, 6_251), (65_536, 8)]
)
def test_a_huge_picture_is_refused_on_its_header(tmp_path, width, height):
    # beyond Pillow's error, between its warning and its error, and between our limit and its warning
    path = tmp_path / "a.png"
    path.write_bytes(png_header(width, height))
    assert f"{width:,} x {height:,}" in failure(path)


def test_truncated_pictures(tmp_path):
    noise = Image.fromarray(np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8))
    for ending in ("png", "jpg", "webp"):
        path = tmp_path / f"a.{ending}"
        noise.save(path)
        whole = path.read_bytes()
        for length in (13, 20, len(whole) // 2):
            path.write_bytes(whole[:length])
            assert "cannot" in failure(path), (ending, length)


@given(st.binary(max_size=200), st.integers(0, 3))
@example(b"\0\0\0\0\0\0\0,\0\0\0\0\0\x0b?\xf8", 1)  # a frame of a GIF that is larger than its screen
def test_hostile_bytes_raise_nothing_else(tmp_path_factory, rest, kind):
    start = (png_header(16, 16), b"GIF89a", b"RIFF\x40\0\0\0WEBPVP8 ", b"BM")[kind]
    path = tmp_path_factory.getbasetemp() / f"hostile-{threading.get_ident()}"
    path.write_bytes(start + rest)
    try:
        assert open_image(path).mode == "RGB"
    except ImageError as error:
        assert str(path) in str(error)


def test_resize_averages_over_what_it_leaves_out():
    board = np.zeros((64, 64, 3), np.uint8)
    board[::2, ::2] = board[1::2, 1::2] = 255
    small = resize(Image.fromarray(board), (8, 4))
    assert small.shape == (4, 8, 3) and small.dtype == np.uint8
    assert np.abs(small.astype(int) - 127.5).max() < 12  # no aliasing: gray, not black or white


def test_resize_leaves_the_right_size_alone():
    pixels = np.random.default_rng(1).integers(0, 256, (10, 12, 3), np.uint8)
    assert np.array_equal(resize(Image.fromarray(pixels), (12, 10)), pixels)


def test_normalise_by_hand():
    pixels = np.zeros((2, 1, 1, 3), np.uint8)
    pixels[0, 0, 0] = (255, 0, 51)
    found = normalise(pixels, (0.5, 0.25, 0.2), (0.5, 0.5, 2.0))
    assert found.shape == (2, 3, 1, 1) and found.dtype == np.float32
    assert found[0, :, 0, 0] == pytest.approx([1.0, -0.5, 0.0], abs=1e-6)
    with pytest.raises(ShapeError, match=r"\(4, 4\)"):
        normalise(np.zeros((4, 4), np.uint8), (0, 0, 0), (1, 1, 1))


def test_a_size_from_the_header(tmp_path):
    picture = Image.new("RGB", (30, 20))
    picture.save(tmp_path / "a.png")
    assert picture_size(tmp_path / "a.png") == (30, 20)
    turned = Image.Exif()
    turned[ExifTags.Base.Orientation] = 6
    picture.save(tmp_path / "b.jpg", exif=turned)
    assert picture_size(tmp_path / "b.jpg") == open_image(tmp_path / "b.jpg").size == (20, 30)
    whole = (tmp_path / "a.png").read_bytes()
    chunk = b"eXIf" + turned.tobytes()[6:]
    late = struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk))
    (tmp_path / "c.png").write_bytes(whole[:-12] + late + whole[-12:])  # behind the pixels, before the end
    assert picture_size(tmp_path / "c.png") == open_image(tmp_path / "c.png").size == (20, 30)
    (tmp_path / "a.png").write_bytes(whole[:60])  # the header is there, the pixels are not
    assert picture_size(tmp_path / "a.png") == (30, 20)
    (tmp_path / "d.png").write_bytes(b"GET / HTTP/1.1")
    for name in ("d.png", "e.png"):
        with pytest.raises(ImageError):
            picture_size(tmp_path / name)


def test_bytes_and_open_files(tmp_path):
    flat().save(tmp_path / "a.png")
    content = (tmp_path / "a.png").read_bytes()
    wanted = np.asarray(open_image(tmp_path / "a.png"))
    with (tmp_path / "a.png").open("rb") as stream:
        sources = (content, io.BytesIO(content), stream)
        assert all(np.array_equal(open_image(source), wanted) for source in sources)
    assert picture_size(content) == open_image(content).size


def test_what_was_read_of_an_open_file_can_be_read_again(tmp_path):
    flat().save(tmp_path / "a.png")
    content = (tmp_path / "a.png").read_bytes()
    assert kept(io.BytesIO(content)) == content
    assert kept(tmp_path / "a.png") == tmp_path / "a.png"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (b"", "empty"),
        (b"this is text", "not a picture"),
        (io.StringIO("text"), "mode 'rb'"),
        (7, "this is no picture: int"),
        ("https://example.org/a.png", "https://example.org/a.png: this is a URL"),
        ("s3://bucket/a.png", "this is a URL"),
    ],
)
def test_sources_that_are_none(source, said):
    for read in (open_image, picture_size):
        with pytest.raises(ImageError, match=re.escape(said)):
            read(source)


def test_an_endless_stream_is_not_read(monkeypatch):
    monkeypatch.setattr("whatchanged.images.MAX_BYTES", 1000)
    with pytest.raises(ImageError, match="more than 1,000 bytes"):
        open_image(io.BytesIO(bytes(2000)))


def test_a_file_may_be_named_like_an_address(tmp_path, monkeypatch):
    (tmp_path / "http:").mkdir()
    flat().save(tmp_path / "http:" / "a.png")
    monkeypatch.chdir(tmp_path)
    assert open_image("http:/a.png").size == flat().size


@pytest.mark.parametrize("kind", ["tiff", "jpg", "png", "webp"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_the_size_from_the_header_is_that_of_the_opened_picture(tmp_path, kind, orientation):
    path = tmp_path / f"a.{kind}"
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = orientation
    flat().save(path, exif=exif)
    assert picture_size(path) == open_image(path).size == ((10, 12) if orientation > 4 else (12, 10))


def test_a_pipe_is_told_from_a_file_that_is_not_there(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert "this is a pipe or a device" in failure(tmp_path / "pipe")


def test_a_huge_file_is_not_held_in_memory(tmp_path):
    """A sparse file takes no room on the disk, whatever its size."""
    path = tmp_path / "a.png"
    flat().save(path)
    os.truncate(path, 300_000_000)
    tracemalloc.start()
    assert picture_size(path) == (12, 10)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 20_000_000


@pytest.mark.parametrize("before", [*range(-4, 1), 7])
def test_an_orientation_is_found_across_the_blocks_that_are_read(tmp_path, before):
    turned = Image.Exif()
    turned[ExifTags.Base.Orientation] = 6
    flat().save(tmp_path / "a.png")
    whole, exif = (tmp_path / "a.png").read_bytes(), turned.tobytes()[6:]

    def chunk(name, body):
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    # "eXIf" begins this many bytes behind the first block of a megabyte
    padding = (1 << 20) + before - (len(whole) - 12) - 12 - 4
    late = chunk(b"teST", bytes(padding)) + chunk(b"eXIf", exif)
    path = tmp_path / "b.png"
    path.write_bytes(whole[:-12] + late + whole[-12:])
    assert path.read_bytes().index(b"eXIf") == (1 << 20) + before
    assert picture_size(path) == open_image(path).size == (10, 12)


def test_a_file_that_goes_away_while_it_is_looked_at(tmp_path, monkeypatch):
    path, real, opened = tmp_path / "a.png", os.open, []
    flat().save(path)

    def open_once(asked, *arguments, **named):
        if opened:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", str(asked))
        opened.append(asked)
        return real(asked, *arguments, **named)

    monkeypatch.setattr(os, "open", open_once)
    with pytest.raises(ImageError, match="cannot read the file: No such file or directory"):
        picture_size(path)


def test_an_orientation_in_xmp_turns_nothing(tmp_path):
    """Viewers turn by Exif alone; Pillow would by XMP, too."""
    xmp = '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:Description tiff:Orientation="6"/></x:xmpmeta>'
    about = PngImagePlugin.PngInfo()
    about.add_itxt("XML:com.adobe.xmp", xmp)
    picture = Image.new("RGB", (20, 10), (1, 2, 3))
    picture.save(tmp_path / "xmp.png", pnginfo=about)
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = 6
    picture.save(tmp_path / "exif.png", exif=exif, pnginfo=about)
    assert picture_size(tmp_path / "xmp.png") == (20, 10)
    assert picture_size(tmp_path / "exif.png") == (10, 20)
    with Image.open(tmp_path / "xmp.png") as plain, Image.open(tmp_path / "exif.png") as turned:
        assert (orientation_of(plain), orientation_of(turned)) == (1, 6)
        assert upright(plain, 1).size == (20, 10) and upright(turned, 6).size == (10, 20)
