import base64
import io
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from whatchanged.errors import OutputError
from whatchanged.page.pictures import Pictures, link


def embedded(source):
    """The media type and the bytes of a picture that lies inside a page."""
    head, _, data = source["src"].partition(";base64,")
    return head, base64.b64decode(data)


def test_links_are_relative_and_encoded():
    folder = Path("/d/out")
    assert link(Path("/d/a b#1.png"), folder) == "../a%20b%231.png"
    assert link(Path("/d/out/javascript:x.png"), folder) == "javascript%3Ax.png"
    assert link(Path('/d/out/"><b>.png'), folder) == "%22%3E%3Cb%3E.png"


def test_linked_pictures_need_not_be_there(tmp_path):
    assert Pictures(tmp_path, embed=False).source(tmp_path / "gone.png") == {
        "name": "gone.png",
        "src": "gone.png",
    }
    assert Pictures(tmp_path, embed=False).source(None) is None


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP", "GIF", "BMP"])
def test_what_browsers_show_is_embedded_as_it_is(tmp_path, form):
    path = tmp_path / "picture.tmp"
    Image.new("RGB", (20, 10), "red").save(path, form)
    media, content = embedded(Pictures(tmp_path, embed=True).source(path))
    assert (media, content) == (f"data:image/{form.lower()}", path.read_bytes())


@pytest.mark.parametrize("suffix", [".tif", ".ppm"])
@pytest.mark.parametrize("embed", [False, True])
def test_what_browsers_do_not_show_is_embedded_as_png(tmp_path, suffix, embed):
    path = tmp_path / f"picture{suffix}"
    pixels = np.arange(300, dtype=np.uint8).reshape(10, 10, 3)
    Image.fromarray(pixels).save(path)
    media, content = embedded(Pictures(tmp_path, embed).source(path))
    assert media == "data:image/png"
    assert (np.asarray(Image.open(io.BytesIO(content))) == pixels).all()


def test_a_picture_that_cannot_be_read_says_why(tmp_path):
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"no picture")
    found = Pictures(tmp_path, embed=True)
    assert "this is not a picture" in found.source(broken)["why"]
    assert "there is no such file" in found.source(tmp_path / "gone.png")["why"]


def test_pictures_inside_a_page_are_bounded(tmp_path, monkeypatch):
    path = tmp_path / "p.png"
    Image.new("RGB", (20, 10)).save(path)
    monkeypatch.setattr("whatchanged.page.pictures.MOST_BYTES", int(2.5 * path.stat().st_size))
    found = Pictures(tmp_path, embed=True)
    found.source(path), found.source(path)
    with pytest.raises(OutputError, match="show fewer"):
        found.source(path)


def test_a_file_that_is_too_large_is_not_read(tmp_path, monkeypatch):
    path = tmp_path / "p.png"
    Image.new("RGB", (20, 10)).save(path)
    os.truncate(path, 300_000_000)  # sparse
    monkeypatch.setattr("whatchanged.page.pictures.read_regular", lambda path: pytest.fail("it was read"))
    with pytest.raises(OutputError, match="show fewer"):
        Pictures(tmp_path, embed=True).source(path)
