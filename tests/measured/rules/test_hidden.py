import struct
import zlib

import numpy as np
import pytest
from PIL import GifImagePlugin, Image, ImageCms
from support.drawn_page import page, with_box

from whatchanged.errors import ImageError
from whatchanged.measured import measure
from whatchanged.measured.pixels import reading


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


@pytest.mark.parametrize(
    ("one", "other"), [(np.float32(5), np.float32(7)), (np.int32(70_000), np.int32(80_000))]
)
def test_even_pictures_beyond_the_usual_range(tmp_path, one, other):
    first = save(tmp_path / "a.tiff", np.full((20, 30), one))
    again = save(tmp_path / "b.tiff", np.full((20, 30), one), dpi=(9, 9))
    assert measure(first, again).verdict == "identical"
    answer = measure(first, save(tmp_path / "c.tiff", np.full((20, 30), other)))
    assert answer.verdict == "noise" and "8 bits" in answer.sentence


@pytest.mark.parametrize("form", ["gif", "tiff", "png", "webp"])
def test_frames_beyond_the_bound_are_not_walked_through(tmp_path, monkeypatch, form):
    frames = [Image.new("RGB", (8, 8), (30 * i, 0, 0)) for i in range(6)]
    one, other = tmp_path / f"a.{form}", tmp_path / f"b.{form}"
    frames[0].save(one, save_all=True, append_images=frames[1:])
    frames[0].save(other, save_all=True, append_images=[*frames[1:5], frames[0]])
    monkeypatch.setattr(reading, "MOST_FRAMES", 6)
    assert "frame 6 of 6" in measure(one, other).sentence
    monkeypatch.setattr(reading, "MOST_FRAMES", 5)
    with pytest.raises(ImageError, match=r"a\..*: more than 5 frames are too many"):
        measure(one, other)


def test_no_step_is_taken_beyond_the_bound(tmp_path, monkeypatch):
    """Pillow counts the frames of some formats by walking through them, however many they are."""
    path, frames = tmp_path / "a.gif", [Image.new("L", (1, 1), i) for i in range(50)]
    frames[0].save(path, save_all=True, append_images=frames[1:])
    steps, walk = [], GifImagePlugin.GifImageFile._seek
    monkeypatch.setattr(
        GifImagePlugin.GifImageFile, "_seek", lambda image, *how: steps.append(how[0]) or walk(image, *how)
    )
    monkeypatch.setattr(reading, "MOST_FRAMES", 7)
    with pytest.raises(ImageError, match="more than 7 frames"):
        reading.read_picture(path)
    assert max(steps) == 7  # whether there is one more than 7
