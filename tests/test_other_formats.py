"""Files that are no pictures to read are told by what they are, with what to do."""

import io

import pytest
from PIL import Image

from whatchanged.errors import ImageError
from whatchanged.images import FORMATS, open_image

FILES = {
    "SVG": b'\xef\xbb\xbf<?xml version="1.0"?>\n<!-- logo -->\n<svg xmlns="http://www.w3.org/2000/svg"/>',
    "HEIC": b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + bytes(40),
    "PDF": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n",
    "Git LFS pointer": b"version https://git-lfs.github.com/spec/v1\noid sha256:"
    + b"a" * 64
    + b"\nsize 12\n",
}


@pytest.mark.parametrize("what", FILES)
def test_each_has_its_own_message(what, tmp_path):
    path = tmp_path / "picture.png"
    path.write_bytes(FILES[what])
    with pytest.raises(ImageError, match=rf"picture\.png: this is an? {what}"):
        open_image(path)


def test_a_pointer_is_fetched_by_git_lfs():
    with pytest.raises(ImageError, match=r"Fetch it with: git lfs pull\.$"):
        open_image(FILES["Git LFS pointer"])


def test_text_that_speaks_of_a_drawing_is_none():
    with pytest.raises(ImageError, match="this is not a picture"):
        open_image(b"a text about <svg > elements")


@pytest.mark.skipif("AVIF" not in FORMATS, reason="this Pillow reads no AVIF")
def test_an_avif_picture_is_read_and_a_broken_one_told():
    stream = io.BytesIO()
    Image.new("RGB", (40, 30), (200, 40, 60)).save(stream, "AVIF", quality=95)
    red, green, blue = open_image(stream.getvalue()).getpixel((20, 15))
    assert abs(red - 200) < 8 and abs(green - 40) < 8 and abs(blue - 60) < 8
    with pytest.raises(ImageError, match="its header is broken"):
        open_image(stream.getvalue()[:60])
