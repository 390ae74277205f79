import struct
import zlib

import numpy as np
import pytest
from drawn_page import page, with_box
from PIL import Image, ImageCms

from whatchanged.measured import measure


def save(path, pixels, **options):
    (pixels if isinstance(pixels, Image.Image) else Image.fromarray(pixels)).save(path, **options)
    return path


def chunk(name, body):
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def deep_png(path, values):
    """A PNG of 16 bits a channel, (H, W, 3)."""
    height, width = values.shape[:2]
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in values)
    header = struct.pack(">IIBBBBB", width, height, 16, 2, 0, 0, 0)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )
    return path


@pytest.mark.parametrize(
    "options",
    [{"compress_level": 1}, {"dpi": (72, 72)}, {"optimize": True}],
)
def test_a_file_written_anew_is_identical(tmp_path, options):
    one, other = save(tmp_path / "a.png", page()), save(tmp_path / "b.png", page(), **options)
    assert measure(one, other).verdict == "identical"


@pytest.mark.parametrize("name", ["b.bmp", "b.tiff", "b.ppm", "b.webp"])
def test_another_lossless_format_is_identical(tmp_path, name):
    options = {"lossless": True} if name.endswith("webp") else {}
    assert (
        measure(save(tmp_path / "a.png", page()), save(tmp_path / name, page(), **options)).verdict
        == "identical"
    )


def test_alpha_alone_changes_what_is_seen_over_black(tmp_path):
    opaque = np.dstack([page(), np.full(page().shape[:2], 255, np.uint8)])
    holes = opaque.copy()
    holes[90:110, 20:80, 3] = 0  # over white ground that is white itself
    answer = measure(save(tmp_path / "a.png", opaque), save(tmp_path / "b.png", holes))
    assert answer.verdict == "changed"
    assert "transparency" in answer.sentence


def test_colours_below_full_transparency_are_told(tmp_path):
    one = np.dstack([page(), np.full(page().shape[:2], 255, np.uint8)])
    one[90:110, 20:80, 3] = 0
    other = one.copy()
    other[90:110, 20:80, :3] = 7
    answer = measure(save(tmp_path / "a.png", one), save(tmp_path / "b.png", other))
    assert answer.verdict == "noise"
    assert "nothing shows through" in answer.notes[0]


def test_grey_values_of_sixteen_bits(tmp_path):
    values = (page()[..., 0].astype(np.uint16) << 8) + 100
    one, other = save(tmp_path / "a.png", Image.fromarray(values)), tmp_path / "b.png"
    save(other, Image.fromarray(values + 3))
    answer = measure(one, other)
    assert answer.verdict == "noise"
    assert "8 bits" in answer.sentence


def test_colours_of_sixteen_bits(tmp_path):
    values = page().astype(np.uint16) << 8
    answer = measure(deep_png(tmp_path / "a.png", values), deep_png(tmp_path / "b.png", values + 3))
    assert answer.verdict == "noise"
    assert "more than 8 bits" in answer.sentence


def test_a_stored_turn_is_applied_and_told(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 3
    one = save(tmp_path / "a.png", page())
    other = save(tmp_path / "b.png", page()[::-1, ::-1].copy(), exif=exif)
    answer = measure(one, other)
    assert answer.verdict == "noise"
    assert "turned" in answer.notes[0]


def test_the_same_profile_of_standard_colours_is_no_change(tmp_path):
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    answer = measure(save(tmp_path / "a.png", page()), save(tmp_path / "b.png", page(), icc_profile=profile))
    assert answer.verdict != "changed"


def test_a_broken_profile_is_passed_over(tmp_path):
    answer = measure(
        save(tmp_path / "a.png", page()), save(tmp_path / "b.png", page(), icc_profile=b"nonsense")
    )
    assert answer.verdict != "changed"


def test_later_frames_are_never_passed_over(tmp_path):
    frames = [Image.fromarray(page()), Image.fromarray(with_box(page(), (150, 80, 190, 110), (255, 0, 0)))]
    plain = [frames[0], frames[0].point(lambda level: 255 - level)]
    for name, (first, second) in (("a.gif", frames), ("b.gif", plain)):
        first.save(tmp_path / name, save_all=True, append_images=[second], duration=100)
    answer = measure(tmp_path / "a.gif", tmp_path / "b.gif")
    assert answer.verdict == "changed"
    assert "frame 2 of 2" in answer.sentence
    save(tmp_path / "c.gif", frames[0])
    assert "frames instead of 1" in measure(tmp_path / "c.gif", tmp_path / "a.gif").sentence


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "CMYK", "I", "F"])
def test_every_mode_is_read(tmp_path, mode):
    image = (
        Image.fromarray(page()).convert("L").convert(mode)
        if mode in "IF"
        else Image.fromarray(page()).convert(mode)
    )
    path = save(tmp_path / "a.tiff", image)
    assert measure(path, image).verdict in ("identical", "noise")


def test_inks_that_look_the_same_but_are_stored_differently(tmp_path):
    one = Image.new("CMYK", (20, 20), (0, 0, 0, 255))
    other = Image.new("CMYK", (20, 20), (255, 255, 255, 255))
    answer = measure(save(tmp_path / "a.tiff", one), save(tmp_path / "b.tiff", other))
    assert answer.verdict == "noise"
    assert answer.notes
