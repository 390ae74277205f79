import io

import pytest
from PIL import Image
from support.compared_screens import screen
from support.trees import state

from whatchanged.compare.written import begin_anew, write_picture
from whatchanged.errors import ImageError, OutputError


def encoded(form, **options):
    stream = io.BytesIO()
    Image.fromarray(screen(1)).save(stream, form, **options)
    return stream.getvalue()


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF", "PPM"])
def test_a_picture_is_written_as_it_is(tmp_path, form):
    data = encoded(form)
    write_picture(data, tmp_path / "old" / "a" / "b.png", "b")
    assert (tmp_path / "old" / "a" / "b.png").read_bytes() == data


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"#!/bin/sh\necho hello\n",
        b"\x89PNG\r\n\x1a\n#!/bin/sh",
        encoded("PNG")[:-200],
        b"<svg/>",
        b"P1 1 1",
    ],
)
def test_what_is_no_picture_is_not_written(tmp_path, data):
    with pytest.raises(ImageError, match=r"^a\.png in the old revision: "):
        write_picture(data, tmp_path / "old" / "a.png", "a.png in the old revision")
    assert state(tmp_path) == {}


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "old").write_text("a file")
    with pytest.raises(OutputError, match=r"old/a\.png: cannot be written"):
        write_picture(encoded("PNG"), tmp_path / "old" / "a.png", "a")


def test_begun_anew_nothing_is_left_and_no_link_was_followed(tmp_path):
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim" / "a.png").write_text("mine")
    before = state(tmp_path / "victim")
    (tmp_path / "out" / "old" / "deep").mkdir(parents=True)
    (tmp_path / "out" / "old" / "deep" / "link").symlink_to("../../../victim")
    (tmp_path / "out" / "new").symlink_to("../victim")
    for name in ("old", "new", "cut"):
        begin_anew(tmp_path / "out" / name)
    assert state(tmp_path / "out") == {} and state(tmp_path / "victim") == before
